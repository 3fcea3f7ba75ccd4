import { all, type Context, isOwnerDead, one, run, type Transaction } from '@stint/storage';
import { askForHelp, clearTrouble } from './coordinator-turns.js';
import { lockThinkingTurn, moveTurn } from './coordinator-turn-moves.js';
import { exhausted, unresolvedAttention, type Unresolved } from './end-run.js';
import { isCurrentRun, runFenceOf } from './fences.js';
import { isEnded } from './items.js';
import { findActionLocked, findItemLocked, findRunLocked, lockItem } from './lock.js';
import { findEntryLocked, moveEntry, wakeCoordinator } from './mailbox.js';
import { type ActionChange, moveAction, moveRun } from './move-action.js';
import type { Action, MailboxKind, Run, WorkItem } from './records.js';
import { type StoredRow, toCoordinatorTurn } from './rows.js';
import { settleItem } from './settle-item.js';
import { wakeAfterRun } from './wake-after-run.js';

const selectClaimed =
  "SELECT id, item_id, owner, claim_epoch FROM work_mailbox WHERE status = 'claimed' ORDER BY created_at, id";
const selectRunning =
  "SELECT id, item_id, action_id, owner FROM work_runs WHERE status = 'running' ORDER BY started_at, id";
/** Holds of Runs that have ended: their owner should have let go. */
const selectLeftHolds = `SELECT h.workspace_key, h.run_id, h.owner FROM work_holds h
  WHERE NOT EXISTS (SELECT 1 FROM work_runs r WHERE r.id = h.run_id AND r.status = 'running')`;
const freeHold = 'DELETE FROM work_holds WHERE run_id = ?';
const freeEndedHold = `DELETE FROM work_holds WHERE run_id = ?
  AND NOT EXISTS (SELECT 1 FROM work_runs r WHERE r.id = ? AND r.status = 'running')`;
const selectTurn = 'SELECT * FROM work_coordinator_turns WHERE id = ?';
const selectThinkingOfEntry =
  "SELECT id FROM work_coordinator_turns WHERE mailbox_id = ? AND claim_epoch = ? AND status = 'thinking'";
const countInterruptions =
  "SELECT COUNT(*) AS count FROM work_coordinator_turns WHERE mailbox_id = ? AND error_code = 'interrupted'";
const selectEntryKind = 'SELECT kind, payload FROM work_mailbox WHERE id = ?';

/** Keeps the rows whose owner is dead. Each owner is looked up once. */
function* ofDeadOwners<R extends { readonly owner: string }>(
  ctx: Context,
  rows: readonly R[],
): Transaction<readonly R[]> {
  const dead = new Map<string, boolean>();
  for (const { owner } of rows) if (!dead.has(owner)) dead.set(owner, yield* isOwnerDead(ctx, owner));
  return rows.filter((row) => dead.get(row.owner) === true);
}

/** A mailbox entry claimed by a process that is gone. */
export interface DeadClaim {
  readonly itemId: string;
  readonly mailboxId: string;
  readonly claimEpoch: number;
  readonly owner: string;
  /** The turn it had begun; null: it died before. The journal's turns have this as their owner. */
  readonly coordinatorTurnId: string | null;
}

/** Claims of dead owners, oldest first. Recover each in a transaction of its own. */
export function* findDeadClaims(ctx: Context): Transaction<readonly DeadClaim[]> {
  const rows = yield* all<{ id: string; item_id: string; owner: string; claim_epoch: number }>(selectClaimed);
  const found: DeadClaim[] = [];
  for (const row of yield* ofDeadOwners(ctx, rows)) {
    const claimEpoch = Number(row.claim_epoch);
    const turn = yield* one<{ id: string }>(selectThinkingOfEntry, [row.id, claimEpoch]);
    const { owner } = row;
    found.push({ itemId: row.item_id, mailboxId: row.id, claimEpoch, owner, coordinatorTurnId: turn?.id ?? null });
  }
  return found;
}

/**
 * Fails the thinking turn of a dead claim and gives its entry back. If the turn's request may have been paid without an
 * answer (`unknownTurnId`, from the journal, in this transaction) and the item says `ask`, the entry is done and a person
 * resolves the turn. Answers false, changing nothing, when the owner lives or the claim is no longer this one.
 */
export function* recoverClaim(
  ctx: Context,
  claim: DeadClaim & { readonly unknownTurnId?: string | null },
): Transaction<boolean> {
  const item = yield* findItemLocked(ctx, claim.itemId);
  const entry = yield* findEntryLocked(ctx, claim.mailboxId);
  if (item === undefined || entry === undefined) return false;
  if (entry.status !== 'claimed' || entry.claimEpoch !== claim.claimEpoch || entry.owner !== claim.owner) return false;
  if (!(yield* isOwnerDead(ctx, claim.owner))) return false;
  const turn = yield* lockThinkingTurn(ctx, item.id);
  if (turn !== undefined && turn.mailboxId === entry.id) {
    const error = { code: 'interrupted', message: 'The process that asked the Coordinator is gone.' };
    yield* moveTurn(ctx, turn, { on: 'fail', by: 'recovery', error });
  }
  const trouble = yield* troubleOf(item, claim);
  if (trouble === null) {
    yield* moveEntry(entry, 'release', 'recovery');
  } else {
    yield* moveEntry(entry, 'finish', 'recovery');
    yield* askForHelp(ctx, item.id, trouble);
  }
  yield* settleItem(ctx, item.id);
  return true;
}

/** Processes that may die over one entry before a person is asked: a trigger that kills whoever takes it up ends. */
const longestInterruptions = 5;

function* troubleOf(
  item: WorkItem,
  claim: DeadClaim & { readonly unknownTurnId?: string | null },
): Transaction<{ readonly code: string; readonly message: string; readonly ref?: string } | null> {
  const ref = claim.unknownTurnId ?? null;
  if (ref !== null && item.onUnknownRequest === 'ask')
    return { code: 'unknown_turn', message: unknownTurnMessage, ref };
  const row = yield* one<{ count: number }>(countInterruptions, [claim.mailboxId]);
  if (Number(row?.count ?? 0) < longestInterruptions) return null;
  const message = `${longestInterruptions} processes died while the Coordinator answered the same trigger.`;
  return { code: 'coordinator_failed', message };
}

const unknownTurnMessage =
  'A request of the Coordinator was sent and its answer is not known; it is charged. Send it again, or resolve it by the provider’s bill.';

/**
 * A person resolved the Coordinator's unknown provider turn: the trigger it was to answer is put into the mailbox again.
 *
 * @param input.coordinatorTurnId the journal turn's owner
 * @param input.turnId the provider turn
 */
export function* resolveCoordinatorTurn(
  ctx: Context,
  input: { readonly itemId: string; readonly coordinatorTurnId: string; readonly turnId: string },
): Transaction<boolean> {
  const item = yield* lockItem(ctx, input.itemId);
  if (isEnded(item)) return false;
  const turnRow = yield* one<StoredRow>(selectTurn, [input.coordinatorTurnId]);
  if (turnRow === undefined) return false;
  const turn = toCoordinatorTurn(turnRow);
  const trigger = yield* one<{ kind: string; payload: string }>(selectEntryKind, [turn.mailboxId]);
  const payload = {
    turnId: input.turnId,
    trigger: trigger?.kind as MailboxKind,
    payload: JSON.parse(trigger?.payload ?? '{}'),
  };
  yield* clearTrouble(ctx, item.id);
  const sourceKey = `recovery:${input.turnId}`;
  const isNew = yield* wakeCoordinator(ctx, { itemId: item.id, kind: 'recovery', sourceKey, payload });
  yield* settleItem(ctx, item.id);
  return isNew;
}

/** A Run whose process is gone. */
export interface DeadRun {
  readonly itemId: string;
  readonly actionId: string;
  readonly runId: string;
  readonly owner: string;
}

/** Running Runs of dead owners, oldest first. Recover each in a transaction of its own. */
export function* findDeadRuns(ctx: Context): Transaction<readonly DeadRun[]> {
  const rows = yield* all<{ id: string; item_id: string; action_id: string; owner: string }>(selectRunning);
  return (yield* ofDeadOwners(ctx, rows)).map((row) => ({
    itemId: row.item_id,
    actionId: row.action_id,
    runId: row.id,
    owner: row.owner,
  }));
}

export interface RecoverRunFacts {
  /** Operations and turns of the Run whose effect nobody knows, from the journal, in this transaction. */
  readonly unresolved: readonly Unresolved[];
  /** The effective maximum where a ledger extended it. @default the item's */
  readonly maxAttempts?: number;
}

/**
 * Ends the Run of a dead owner as interrupted. Its Action goes on from the journal if attempts are left; unknown effects,
 * and a delivery to a pull request or a merge, wait for a person. Answers false, changing nothing, when the owner lives or the Run is not current.
 */
export function* recoverRun(ctx: Context, dead: DeadRun, facts: RecoverRunFacts): Transaction<boolean> {
  const item = yield* findItemLocked(ctx, dead.itemId);
  const action = yield* findActionLocked(ctx, dead.actionId);
  const interrupted = yield* findRunLocked(ctx, dead.runId);
  if (item === undefined || action === undefined || interrupted === undefined) return false;
  if (interrupted.owner !== dead.owner || !isCurrentRun(runFenceOf(interrupted), action, interrupted)) return false;
  if (!(yield* isOwnerDead(ctx, dead.owner))) return false;
  const reason = { code: 'interrupted', message: 'The process that ran it is gone.' };
  yield* run(freeHold, [interrupted.id]);
  yield* moveRun(ctx, interrupted, { on: 'interrupt', by: 'recovery', reason });
  yield* moveInterrupted(ctx, { item, action, interrupted }, facts);
  yield* wakeAfterRun(ctx, dead);
  yield* settleItem(ctx, item.id);
  return true;
}

interface InterruptedRun {
  readonly item: WorkItem;
  readonly action: Action;
  readonly interrupted: Run;
}

function* moveInterrupted(ctx: Context, records: InterruptedRun, facts: RecoverRunFacts): Transaction<void> {
  const { item, action, interrupted } = records;
  const resumed: ActionChange = { currentRunId: null, resumeFromRunId: interrupted.id };
  const asking = facts.unresolved.filter((unknown) => unknown.kind === 'operation' || item.onUnknownRequest === 'ask');
  if (asking.length > 0) {
    const attention = unresolvedAttention(asking, unresolvedMessage(asking));
    yield* moveAction(ctx, action, { on: 'hold_for_person', by: 'recovery', change: { ...resumed, attention } });
  } else if (action.kind === 'deliver' && deliversOutside(item)) {
    const attention = { code: 'interrupted_delivery' as const, message: deliveryMessage, ref: null };
    yield* moveAction(ctx, action, { on: 'hold_for_person', by: 'recovery', change: { ...resumed, attention } });
  } else if (interrupted.attempt >= (facts.maxAttempts ?? item.maxAttempts)) {
    const attention = exhausted(interrupted.attempt, {
      code: 'interrupted',
      message: 'The process that ran it is gone.',
    });
    const change = { currentRunId: null, resumeFromRunId: null, openAttemptId: null, attention };
    yield* moveAction(ctx, action, { on: 'exhaust', by: 'recovery', change });
  } else {
    const change = { ...resumed, openAttemptId: null, readyAt: ctx.now };
    yield* moveAction(ctx, action, { on: 'interrupt', by: 'recovery', change });
  }
}

/** A pull request or a merge is an effect that no operation of ours stands for; files and answers are not. */
function deliversOutside(item: WorkItem): boolean {
  return item.deliveryTarget === 'pull_request' || item.deliveryTarget === 'merge';
}

const deliveryMessage = 'The process died while this Action delivered; look at what was delivered, then let it go on.';

function unresolvedMessage(unresolved: readonly Unresolved[]): string {
  const names = unresolved.map(({ kind, id }) => `${kind} ${id}`).join(', ');
  return `The process died and nobody knows what became of ${names}. Look, then say so: --applied or --no-effect for an operation, --retry for a turn.`;
}

/** A workspace hold whose Run has ended and whose owner is gone. */
export interface DeadHold {
  readonly workspaceKey: string;
  readonly runId: string;
  readonly owner: string;
}

/** Holds that nobody will let go of. Before they are freed, end the process groups of their owners. */
export function* findDeadHolds(ctx: Context): Transaction<readonly DeadHold[]> {
  const rows = yield* all<{ workspace_key: string; run_id: string; owner: string }>(selectLeftHolds);
  return (yield* ofDeadOwners(ctx, rows)).map((row) => ({
    workspaceKey: row.workspace_key,
    runId: row.run_id,
    owner: row.owner,
  }));
}

/** Frees a hold of a dead owner; false when the owner lives or the hold is gone. */
export function* recoverHold(ctx: Context, hold: DeadHold): Transaction<boolean> {
  if (!(yield* isOwnerDead(ctx, hold.owner))) return false;
  return (yield* run(freeEndedHold, [hold.runId, hold.runId])) > 0;
}

/** The owner of a Run that was cancelled or superseded says that its tools have stopped: the workspace is free. */
export function* releaseWorkspace(_ctx: Context, runId: string): Transaction<boolean> {
  return (yield* run(freeEndedHold, [runId, runId])) > 0;
}
