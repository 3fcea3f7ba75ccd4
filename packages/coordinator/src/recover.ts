/**
 * Recovers what dead processes left, at start and as a sweep while others live.
 *
 * 1. The order is fixed: provider turns with their ledger requests, what providers know of them, mailbox claims, process
 *    groups, operations, Runs, ledger reservations, workspace holds. A workspace is free only after what ran in it has ended.
 * 2. Each row is recovered in a transaction of its own that looks again: its owner is dead and the row is still current.
 * 3. Two processes may recover at once; the second finds nothing left to do.
 * 4. A row that cannot be recovered is logged and tried again by the next sweep; it keeps only what hangs on it (its Run
 *    and its workspace), never another row. A store that is unavailable ends the recovery.
 */
import { hostname } from 'node:os';
import {
  deadProcessGroups,
  findDeadOperations,
  findDeadTurns,
  listOperations,
  listTurns,
  type OperationRecord,
  recoverOperation,
  recoverTurn,
  resolveTurn,
  type TurnOwner,
} from '@stint/journal';
import { findOrphanedRequests, recoverRequest } from '@stint/ledger';
import { type Body, type Context, type Database, isStoreUnavailable, type Transaction } from '@stint/storage';
import { endProcesses, type ProcessRecord } from '@stint/tools';
import {
  type DeadClaim,
  type DeadHold,
  type DeadRun,
  findDeadClaims,
  findDeadHolds,
  findDeadRuns,
  getWorkItem,
  recoverClaim,
  recoverHold,
  recoverRun,
} from '@stint/work-items';
import { type Asking, askProviders } from './ask-providers.js';
import { errorFacts } from './error-facts.js';
import type { LogLine } from './options.js';
import { openUnknowns } from './unknowns.js';

export interface RecoverOptions {
  readonly db: Database;
  readonly log: (line: LogLine) => void;
  /** Providers that keep answers. @default none is asked */
  readonly asking?: Asking | undefined;
}

/** How many rows of each kind were recovered. */
export interface Recovered {
  readonly claims: number;
  readonly processGroups: number;
  readonly turns: number;
  /** Turns of those that were settled by what their provider knew. */
  readonly answered: number;
  readonly operations: number;
  readonly runs: number;
  readonly reservations: number;
  readonly holds: number;
}

/** Runs every rule once, in order. @throws StoreError when the store is unavailable */
export async function recover(options: RecoverOptions): Promise<Recovered> {
  await options.db.endDeadProcesses();
  const lost = await options.db.read(turnRule.find);
  const turns = await each(options, turnRule);
  const { db, log, asking } = options;
  const answered = asking ? await askProviders({ db, log, ...asking }, lost) : 0;
  const claims = await each(options, claimRule);
  const { processGroups, notEnded } = await endDeadGroups(options);
  const recovered: Recovered = {
    claims,
    processGroups,
    turns,
    answered,
    operations: await each(options, operationRule(notEnded)),
    runs: await each(options, runRule),
    reservations: await each(options, reservationRule),
    holds: await each(options, holdRule),
  };
  if (Object.values(recovered).some((count) => count > 0))
    options.log({ level: 'info', message: 'Recovered what dead processes left', ...recovered });
  return recovered;
}

/** How one kind of row is found and recovered. */
interface Rule<T> {
  /** Name of the row in the log. */
  readonly kind: string;
  readonly find: Body<readonly T[]>;
  idOf(found: T): string;
  /** Answers false if there was nothing to do. */
  recover(ctx: Context, found: T): Transaction<boolean>;
}

const claimRule: Rule<DeadClaim> = {
  kind: 'claim',
  find: (ctx) => findDeadClaims(ctx),
  idOf: ({ mailboxId }) => mailboxId,
  recover: recoverDeadClaim,
};

const turnRule: Rule<string> = {
  kind: 'turn',
  find: (ctx) => findDeadTurns(ctx),
  idOf: (turnId) => turnId,
  recover: recoverDeadTurn,
};

/** Operations whose processes could not be ended stay as they are, and with them their Run and its workspace. */
const operationRule = (notEnded: ReadonlySet<string>): Rule<OperationRecord> => ({
  kind: 'operation',
  *find(ctx) {
    return (yield* findDeadOperations(ctx)).filter(({ id }) => !notEnded.has(id));
  },
  idOf: ({ id }) => id,
  recover: (ctx, operation) => recoverOperation(ctx, operation),
});

const runRule: Rule<DeadRun> = {
  kind: 'run',
  find: (ctx) => findDeadRuns(ctx),
  idOf: ({ runId }) => runId,
  recover: recoverDeadRun,
};

const reservationRule: Rule<string> = {
  kind: 'reservation',
  find: (ctx) => findOrphanedRequests(ctx),
  idOf: (requestId) => requestId,
  recover: (ctx, id) => recoverRequest(ctx, id),
};

const holdRule: Rule<DeadHold> = {
  kind: 'hold',
  find: (ctx) => findDeadHolds(ctx),
  idOf: ({ runId }) => runId,
  *recover(ctx, hold) {
    return (yield* isUnsettled(ctx, { kind: 'run', id: hold.runId })) ? false : yield* recoverHold(ctx, hold);
  },
};

/** One transaction for each row found; answers how many were really recovered. */
async function each<T>({ db, log }: RecoverOptions, rule: Rule<T>): Promise<number> {
  let count = 0;
  for (const found of await db.read(rule.find)) {
    try {
      if (await db.write((ctx) => rule.recover(ctx, found))) count += 1;
    } catch (error) {
      skip(log, { kind: rule.kind, id: rule.idOf(found) }, error);
    }
  }
  return count;
}

/** @throws the error itself when it is the store that fails, not the row */
function skip(log: RecoverOptions['log'], row: { readonly kind: string; readonly id: string }, error: unknown): void {
  if (isStoreUnavailable(error)) throw error;
  log({ level: 'error', message: 'Could not recover what a dead process left', ...row, ...errorFacts(error) });
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
  if (yield* isUnsettled(ctx, owner)) return false;
  const unknowns = yield* openUnknowns(ctx, owner);
  if (!(yield* recoverRun(ctx, dead, { unresolved: unknowns }))) return false;
  const item = yield* getWorkItem(ctx, dead.itemId);
  if (item?.onUnknownRequest !== 'retry') return true;
  for (const { kind, id } of unknowns)
    if (kind === 'turn') yield* resolveTurn(ctx, id, { as: 'written_off', note: 'the item says retry' }, 'item');
  return true;
}

/** True while a turn or an operation of a dead Run could not be recovered: what became of it is not told yet. */
function* isUnsettled(ctx: Context, owner: TurnOwner): Transaction<boolean> {
  const turns = yield* listTurns(ctx, owner);
  if (turns.some(({ status }) => status === 'dispatching')) return true;
  return (yield* listOperations(ctx, owner)).some(({ status }) => status === 'running');
}

/** Ends what commands of dead processes left running on this machine, so that nothing edits behind the next Run's back. */
async function endDeadGroups({ db, log }: RecoverOptions) {
  const operations = await db.read((ctx) => deadProcessGroups(ctx, hostname()));
  const notEnded = new Set<string>();
  for (const operation of operations) {
    try {
      await endGroup(log, operation);
    } catch (error) {
      notEnded.add(operation.id);
      skip(log, { kind: 'process_group', id: operation.id }, error);
    }
  }
  return { processGroups: operations.length - notEnded.size, notEnded };
}

async function endGroup(log: RecoverOptions['log'], { id, processGroup }: OperationRecord): Promise<void> {
  const { ended, survivors } = await endProcesses(processGroup as unknown as ProcessRecord);
  if (ended.length === 0 && survivors.length === 0) return;
  const level = survivors.length > 0 ? 'warn' : 'info';
  log({ level, message: 'Ended a command of a dead process', operationId: id, ended, survivors });
}
