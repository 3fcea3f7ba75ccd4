import { all, isOwnerDead, run, type Context, type Transaction } from '@stint/storage';
import { ownersOf } from './history.js';
import { lockOperation, operationColumns, toOperation, type OperationKey, type OperationRow } from './operations.js';
import { lockTurn, readTurn } from './turn-rows.js';
import { recordUnknown } from './turns.js';
import type { OperationRecord, TurnOwner, TurnRecord } from './types.js';

const selectTurnProcesses = "SELECT DISTINCT process FROM journal_turns WHERE status = 'dispatching'";
const selectOperationProcesses = "SELECT DISTINCT process FROM journal_operations WHERE status = 'running'";
const selectOpenTurns = "SELECT id FROM journal_turns WHERE status = 'dispatching' AND process = ? ORDER BY id";
const selectOpenOperations = `SELECT ${operationColumns} FROM journal_operations
  WHERE status = 'running' AND process = ? ORDER BY turn_id, call_index`;
const selectUnknownTurns =
  "SELECT id FROM journal_turns WHERE owner_kind = ? AND owner_id = ? AND status = 'unknown' AND asks_person = 1 ORDER BY created_at, id";
const selectUnsettled = `SELECT ${operationColumns} FROM journal_operations
  WHERE owner_kind = ? AND owner_id = ? AND status = 'unknown' ORDER BY turn_id, call_index`;
const updateUnknown =
  "UPDATE journal_operations SET status = 'unknown', ended_at = ? WHERE turn_id = ? AND call_index = ?";

const ownerDied = {
  code: 'process_ended',
  message: 'The process that sent this request ended before its answer was stored.',
};

/** Ids of turns that a dead process left `dispatching`. */
export function* findDeadTurns(ctx: Context): Transaction<readonly string[]> {
  const ids: string[] = [];
  for (const process of yield* deadAmong(ctx, selectTurnProcesses)) {
    ids.push(...(yield* all<{ id: string }>(selectOpenTurns, [process])).map((row) => row.id));
  }
  return ids;
}

/** Operations that a dead process left `running`; those with a process group are ended first, then recovered. */
export function* findDeadOperations(ctx: Context): Transaction<readonly OperationRecord[]> {
  const operations: OperationRecord[] = [];
  for (const process of yield* deadAmong(ctx, selectOperationProcesses)) {
    operations.push(...(yield* all<OperationRow>(selectOpenOperations, [process])).map(toOperation));
  }
  return operations;
}

/**
 * Makes an abandoned turn `unknown` and its inputs pending again. False, and no change, if it is not `dispatching` any
 * more or its process lives. Recover the ledger request in the same transaction.
 */
export function* recoverTurn(ctx: Context, id: string): Transaction<boolean> {
  const turn = yield* lockTurn(id);
  if (turn.status !== 'dispatching' || !(yield* isOwnerDead(ctx, turn.process))) return false;
  return yield* recordUnknown(ctx, id, { error: ownerDied, asksPerson: true });
}

/** Makes an abandoned operation `unknown`. False, and no change, if it is not `running` any more or its process lives. */
export function* recoverOperation(ctx: Context, key: OperationKey): Transaction<boolean> {
  const operation = yield* lockOperation(key);
  if (operation.status !== 'running' || !(yield* isOwnerDead(ctx, operation.process))) return false;
  yield* run(updateUnknown, [ctx.now, key.turnId, key.callIndex]);
  return true;
}

/** All abandoned turns, in one transaction; for callers without a ledger. Answers how many. */
export function* recoverTurns(ctx: Context): Transaction<number> {
  let count = 0;
  for (const id of yield* findDeadTurns(ctx)) if (yield* recoverTurn(ctx, id)) count += 1;
  return count;
}

/** All abandoned operations, in one transaction. Answers how many. */
export function* recoverOperations(ctx: Context): Transaction<number> {
  let count = 0;
  for (const operation of yield* findDeadOperations(ctx)) if (yield* recoverOperation(ctx, operation)) count += 1;
  return count;
}

/** What of an owner a person may have to decide about. */
export interface Unresolved {
  readonly turns: readonly TurnRecord[];
  readonly operations: readonly OperationRecord[];
}

/** Unknown turns that ask a person, and unknown operations, of an owner or of several. */
export function* unresolved(ctx: Context, owners: TurnOwner | readonly TurnOwner[]): Transaction<Unresolved> {
  const turns: TurnRecord[] = [];
  const operations: OperationRecord[] = [];
  for (const { kind, id: owner } of ownersOf(owners)) {
    for (const { id } of yield* all<{ id: string }>(selectUnknownTurns, [kind, owner])) {
      const turn = yield* readTurn(ctx, id);
      if (turn !== undefined) turns.push(turn);
    }
    operations.push(...(yield* all<OperationRow>(selectUnsettled, [kind, owner])).map(toOperation));
  }
  return { turns, operations };
}

/** Process groups on this host that a dead process left running; to be ended before its operations are recovered. */
export function* deadProcessGroups(ctx: Context, host: string): Transaction<readonly OperationRecord[]> {
  return (yield* findDeadOperations(ctx)).filter((operation) => operation.processGroup?.host === host);
}

function* deadAmong(ctx: Context, select: string): Transaction<readonly string[]> {
  const dead: string[] = [];
  for (const { process } of yield* all<{ process: string }>(select)) {
    if (yield* isOwnerDead(ctx, process)) dead.push(process);
  }
  return dead;
}
