import { all, one, run, type Context, type Transaction } from '@stint/storage';
import type { HistoryEntry } from '@stint/provider-hooks';
import { JournalError } from './errors.js';
import { addToResult, appendEntries, ownersOf } from './history.js';
import { checkOperationStep } from './transitions.js';
import type { OperationProcess, OperationRecord, OperationStatus, Resolution, TurnOwner } from './types.js';

const columns = `turn_id AS "turnId", call_index AS "callIndex", owner_kind AS "ownerKind", owner_id AS "ownerId", process,
  tool_call_id AS "toolCallId", tool, input_hash AS "inputHash", status, process_group AS "processGroup",
  late_result AS "lateResult", resolution, created_at AS "createdAt", ended_at AS "endedAt"`;
const insert = `INSERT INTO journal_operations
  (turn_id, call_index, owner_kind, owner_id, process, tool_call_id, tool, input_hash, status, host, process_group, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?) ON CONFLICT (turn_id, call_index) DO NOTHING`;
const selectForUpdate = `SELECT ${columns} FROM journal_operations WHERE turn_id = ? AND call_index = ? FOR NO KEY UPDATE`;
const selectOfTurn = `SELECT ${columns} FROM journal_operations WHERE turn_id = ? ORDER BY call_index`;
const selectOfOwner = `SELECT ${columns} FROM journal_operations
  WHERE owner_kind = ? AND owner_id = ? ORDER BY turn_id, call_index`;
const selectLive = `SELECT ${columns} FROM journal_operations WHERE status = 'running' AND host = ? ORDER BY turn_id, call_index`;
const updateProcess =
  "UPDATE journal_operations SET host = ?, process_group = ? WHERE turn_id = ? AND call_index = ? AND status = 'running'";
const updateEnd = 'UPDATE journal_operations SET status = ?, ended_at = ? WHERE turn_id = ? AND call_index = ?';
const updateLateResult = 'UPDATE journal_operations SET late_result = ? WHERE turn_id = ? AND call_index = ?';
const updateResolution =
  'UPDATE journal_operations SET status = ?, resolution = ?, ended_at = ? WHERE turn_id = ? AND call_index = ?';

/** (turn, call index): the key of an operation. */
export interface OperationKey {
  readonly turnId: string;
  readonly callIndex: number;
}

export interface OperationInput extends OperationKey {
  readonly owner: TurnOwner;
  readonly toolCallId: string;
  readonly tool: string;
  /** Hash of the arguments: what a person approved or resolves is this call and no other. */
  readonly inputHash: string;
  /** The process group, if it is known before the tool starts; else see `setOperationProcess`. */
  readonly processGroup?: OperationProcess;
}

export interface OperationEnd {
  readonly effect: 'applied' | 'no_effect' | 'unknown';
  /** The call's result for the model, stored as history entry in the same transaction. */
  readonly entry?: HistoryEntry;
}

/** Writes the operation as `running`, before its tool starts. Throws `operation_exists`: it may have run already. */
export function* startOperation(ctx: Context, input: OperationInput): Transaction<void> {
  const { turnId, callIndex, owner, processGroup } = input;
  const changed = yield* run(insert, [
    turnId,
    callIndex,
    owner.kind,
    owner.id,
    ctx.owner,
    input.toolCallId,
    input.tool,
    input.inputHash,
    processGroup?.host ?? null,
    processGroup ? JSON.stringify(processGroup) : null,
    ctx.now,
  ]);
  if (changed === 0) {
    throw new JournalError(
      'operation_exists',
      `Operation ${turnId}/${callIndex} exists already; its tool may have run and is not run again.`,
    );
  }
}

/** Notes the process group before the command in it runs. False if the operation is not running. */
export function* setOperationProcess(_ctx: Context, key: OperationKey, group: OperationProcess): Transaction<boolean> {
  return (yield* run(updateProcess, [group.host, JSON.stringify(group), key.turnId, key.callIndex])) === 1;
}

/** Writes what the tool did and, as history entry, what it said. */
export function* endOperation(ctx: Context, key: OperationKey, end: OperationEnd): Transaction<void> {
  const operation = yield* lockOperation(key);
  checkOperationStep(operation, end.effect, 'process');
  yield* run(updateEnd, [end.effect, ctx.now, key.turnId, key.callIndex]);
  if (end.entry) yield* appendEntries(ctx, operation.owner, [end.entry], key.turnId);
}

/** Keeps what a tool said after its lease was lost. It changes neither status nor history. */
export function* recordLateResult(_ctx: Context, key: OperationKey, result: string): Transaction<boolean> {
  return (yield* run(updateLateResult, [result, key.turnId, key.callIndex])) === 1;
}

/** What the model is told of a person's word, as part of the call's result. */
const words = {
  applied: 'A person looked afterwards: what this call was to do is done. Do not make it again.',
  no_effect: 'A person looked afterwards: this call changed nothing. You may make it again.',
} as const;

/**
 * A person's word about an unknown operation. The stored result of its call, if there is one, says it from then on; a call
 * without result gets one from whoever resumes the run. Throws `illegal_transition` for any other operation.
 */
export function* resolveOperation(
  ctx: Context,
  key: OperationKey,
  as: 'applied' | 'no_effect',
  { by, note = null }: { readonly by: string; readonly note?: string | null },
): Transaction<void> {
  const operation = yield* lockOperation(key);
  checkOperationStep(operation, as, 'person');
  const resolution: Resolution = { by, as, at: ctx.now, note };
  yield* run(updateResolution, [as, JSON.stringify(resolution), ctx.now, key.turnId, key.callIndex]);
  yield* addToResult(operation.owner, `result:${key.turnId}:${key.callIndex}`, words[as]);
}

/** The operations of one turn, by call index. */
export function* readOperations(_ctx: Context, turnId: string): Transaction<readonly OperationRecord[]> {
  const rows = yield* all<OperationRow>(selectOfTurn, [turnId]);
  return rows.map(toOperation);
}

/** The operation of that id, `<turn id>/<call index>`; undefined if there is none. */
export function* readOperation(ctx: Context, id: string): Transaction<OperationRecord | undefined> {
  const turnId = id.slice(0, id.lastIndexOf('/'));
  return (yield* readOperations(ctx, turnId)).find((operation) => operation.id === id);
}

/** All operations of an owner, or of several, each by turn and call index. */
export function* listOperations(
  _ctx: Context,
  owners: TurnOwner | readonly TurnOwner[],
): Transaction<readonly OperationRecord[]> {
  const operations: OperationRecord[] = [];
  for (const owner of ownersOf(owners)) {
    operations.push(...(yield* all<OperationRow>(selectOfOwner, [owner.kind, owner.id])).map(toOperation));
  }
  return operations;
}

/** Running operations that have a process group on this host, of live and dead processes alike. */
export function* liveOperations(_ctx: Context, host: string): Transaction<readonly OperationRecord[]> {
  const rows = yield* all<OperationRow>(selectLive, [host]);
  return rows.map(toOperation);
}

/** Locks the operation's row. Throws `operation_not_found`. */
export function* lockOperation({ turnId, callIndex }: OperationKey): Transaction<OperationRecord> {
  const row = yield* one<OperationRow>(selectForUpdate, [turnId, callIndex]);
  if (row === undefined) throw new JournalError('operation_not_found', `There is no operation ${turnId}/${callIndex}.`);
  return toOperation(row);
}

export interface OperationRow {
  readonly turnId: string;
  readonly callIndex: number;
  readonly ownerKind: TurnOwner['kind'];
  readonly ownerId: string;
  readonly process: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly inputHash: string;
  readonly status: OperationStatus;
  readonly processGroup: string | null;
  readonly lateResult: string | null;
  readonly resolution: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** Columns that `toOperation` reads. */
export const operationColumns = columns;

export function toOperation(row: OperationRow): OperationRecord {
  const { ownerKind, ownerId, processGroup, resolution, ...rest } = row;
  return {
    ...rest,
    id: `${row.turnId}/${row.callIndex}`,
    owner: { kind: ownerKind, id: ownerId },
    processGroup: processGroup === null ? null : (JSON.parse(processGroup) as OperationProcess),
    resolution: resolution === null ? null : (JSON.parse(resolution) as Resolution),
  };
}
