import { all, type Context, isOwnerDead, run, type Transaction } from '@stint/storage';
import { ofDeadOwners } from './dead-owners.js';
import { exhausted, unresolvedAttention, type Unresolved } from './end-run.js';
import { isCurrentRun, runFenceOf } from './fences.js';
import { findActionLocked, findItemLocked, findRunLocked } from './lock.js';
import { type ActionChange, moveAction, moveRun } from './move-action.js';
import type { Action, Run, WorkItem } from './records.js';
import { settleItem } from './settle-item.js';
import { wakeAfterRun } from './wake-after-run.js';

const selectRunning =
  "SELECT id, item_id, action_id, owner FROM work_runs WHERE status = 'running' ORDER BY started_at, id";
const freeHold = 'DELETE FROM work_holds WHERE run_id = ?';

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
