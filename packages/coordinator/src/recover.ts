/**
 * Recovers what dead processes left, at start and as a sweep while others live.
 *
 * 1. The order is fixed: mailbox claims, process groups, provider turns with their ledger requests, operations, Runs,
 *    ledger reservations, workspace holds. A workspace is free only after what ran in it has ended.
 * 2. Each row is recovered in a transaction of its own that looks again: its owner is dead and the row is still current.
 * 3. Two processes may recover at once; the second finds nothing left to do.
 */
import { hostname } from 'node:os';
import {
  deadProcessGroups,
  findDeadOperations,
  findDeadTurns,
  listTurns,
  recoverOperation,
  recoverTurn,
  resolveTurn,
  type TurnOwner,
} from '@stint/journal';
import { findOrphanedRequests, recoverRequest } from '@stint/ledger';
import type { Body, Context, Database, Transaction } from '@stint/storage';
import { endProcesses, type ProcessRecord } from '@stint/tools';
import {
  type DeadClaim,
  type DeadRun,
  findDeadClaims,
  findDeadHolds,
  findDeadRuns,
  getWorkItem,
  recoverClaim,
  recoverHold,
  recoverRun,
} from '@stint/work-items';
import type { LogLine } from './options.js';
import { openUnknowns } from './unknowns.js';

export interface RecoverOptions {
  readonly db: Database;
  readonly log: (line: LogLine) => void;
}

/** How many rows of each kind were recovered. */
export interface Recovered {
  readonly claims: number;
  readonly processGroups: number;
  readonly turns: number;
  readonly operations: number;
  readonly runs: number;
  readonly reservations: number;
  readonly holds: number;
}

/** Runs every rule once, in order. @throws StoreError */
export async function recover({ db, log }: RecoverOptions): Promise<Recovered> {
  await db.endDeadProcesses();
  const recovered: Recovered = {
    claims: await each(db, (ctx) => findDeadClaims(ctx), recoverDeadClaim),
    processGroups: await endDeadGroups({ db, log }),
    turns: await each(db, (ctx) => findDeadTurns(ctx), recoverDeadTurn),
    operations: await each(
      db,
      (ctx) => findDeadOperations(ctx),
      (ctx, operation) => recoverOperation(ctx, operation),
    ),
    runs: await each(db, (ctx) => findDeadRuns(ctx), recoverDeadRun),
    reservations: await each(
      db,
      (ctx) => findOrphanedRequests(ctx),
      (ctx, id) => recoverRequest(ctx, id),
    ),
    holds: await each(
      db,
      (ctx) => findDeadHolds(ctx),
      (ctx, hold) => recoverHold(ctx, hold),
    ),
  };
  if (Object.values(recovered).some((count) => count > 0))
    log({ level: 'info', message: 'Recovered what dead processes left', ...recovered });
  return recovered;
}

/** One transaction for each row found; answers how many were really recovered. */
async function each<T>(
  db: Database,
  find: Body<readonly T[]>,
  recoverOne: (ctx: Context, found: T) => Transaction<boolean>,
): Promise<number> {
  let count = 0;
  for (const found of await db.read(find)) if (await db.write((ctx) => recoverOne(ctx, found))) count += 1;
  return count;
}

/** The turn may have left a request behind that was sent: then nobody knows what became of it. */
function* recoverDeadClaim(ctx: Context, claim: DeadClaim): Transaction<boolean> {
  return yield* recoverClaim(ctx, { ...claim, unknownTurnId: yield* unknownTurnOf(ctx, claim.coordinatorTurnId) });
}

function* unknownTurnOf(ctx: Context, coordinatorTurnId: string | null): Transaction<string | null> {
  if (coordinatorTurnId === null) return null;
  const turns = yield* listTurns(ctx, { kind: 'coordinator', id: coordinatorTurnId });
  const open = turns.find((turn) => turn.status === 'dispatching' || (turn.status === 'unknown' && turn.asksPerson));
  return open?.id ?? null;
}

/** Turn and reservation become unknown together; the account is locked before the turn. */
function* recoverDeadTurn(ctx: Context, turnId: string): Transaction<boolean> {
  yield* recoverRequest(ctx, turnId);
  return yield* recoverTurn(ctx, turnId);
}

function* recoverDeadRun(ctx: Context, dead: DeadRun): Transaction<boolean> {
  const owner: TurnOwner = { kind: 'run', id: dead.runId };
  const unknowns = yield* openUnknowns(ctx, owner);
  if (!(yield* recoverRun(ctx, dead, { unresolved: unknowns }))) return false;
  const item = yield* getWorkItem(ctx, dead.itemId);
  if (item?.onUnknownRequest !== 'retry') return true;
  for (const { kind, id } of unknowns)
    if (kind === 'turn') yield* resolveTurn(ctx, id, { as: 'written_off', note: 'the item says retry' }, 'item');
  return true;
}

/** Ends what commands of dead processes left running on this machine, so that nothing edits behind the next Run's back. */
async function endDeadGroups({ db, log }: RecoverOptions): Promise<number> {
  const operations = await db.read((ctx) => deadProcessGroups(ctx, hostname()));
  for (const { id, processGroup } of operations) {
    const { ended, survivors } = await endProcesses(processGroup as unknown as ProcessRecord);
    if (ended.length > 0 || survivors.length > 0)
      log({
        level: survivors.length > 0 ? 'warn' : 'info',
        message: 'Ended a command of a dead process',
        operationId: id,
        ended,
        survivors,
      });
  }
  return operations.length;
}
