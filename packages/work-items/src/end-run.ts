import { type Context, one, run, type Transaction } from '@stint/storage';
import { invalidField } from './errors.js';
import { type FencedRun, lockFencedRun } from './fences.js';
import { openQuestion } from './questions.js';
import { workItemLimits } from './limits.js';
import { moveAction, moveRun, relockActions } from './move-action.js';
import { checkOutcome, type Outcome } from './outcome.js';
import type { ActionStatus, AttentionCode, ItemStatus, RunFence } from './records.js';
import { wakeAfterRun } from './wake-after-run.js';
import { settleItem } from './settle-item.js';
import { boundedText } from './text.js';

const countOpenInputs =
  "SELECT COUNT(*) AS count FROM work_inputs WHERE action_id = ? AND status IN ('pending', 'bound')";
const freeHold = 'DELETE FROM work_holds WHERE run_id = ?';

export interface RunReason {
  readonly code: string;
  /** For people and for other Actions' prompts: without secrets, bounded. */
  readonly message: string;
}

/** An operation or a provider turn whose effect nobody knows. */
export interface Unresolved {
  readonly kind: 'operation' | 'turn';
  readonly id: string;
}

/** How a Run ends. */
export type RunEnding =
  | { readonly status: 'completed'; readonly outcome: Outcome }
  /** A person is asked; the same attempt goes on with the answer. */
  | { readonly status: 'waiting'; readonly question: string }
  /** Another attempt, if there is one left; else the Action has failed. */
  | {
      readonly status: 'retryable';
      readonly reason: RunReason;
      /** @default 1 s * 2^(attempt - 1), at most 300 s */
      readonly notBefore?: number;
      /** The effective maximum where a ledger extended it. @default the item's */
      readonly maxAttempts?: number;
    }
  /** Goes on from its journal later; the attempt is not spent. */
  | { readonly status: 'deferred'; readonly reason: RunReason; readonly notBefore?: number }
  | { readonly status: 'failed'; readonly reason: RunReason; readonly outcome?: Outcome }
  /** A person resolves what is unknown, then the same attempt goes on. */
  | { readonly status: 'outcome_unknown'; readonly reason: RunReason; readonly unresolved: readonly Unresolved[] };

export type EndRunResult =
  | {
      readonly ended: true;
      readonly actionStatus: ActionStatus;
      readonly itemStatus: ItemStatus;
      /** The Run was the gate and completed the item. */
      readonly completedItem: boolean;
    }
  /** The fence moved: the Run had been ended by someone else. */
  | { readonly ended: false; readonly reason: 'stale' }
  /** A person's input arrived that no turn has carried: take it up, then end. */
  | { readonly ended: false; readonly reason: 'input_pending' };

/**
 * Ends a Run and moves its Action, in one transaction: frees the workspace, unlocks dependents, wakes the Coordinator
 * where a decision is needed, completes the item when the gate passed, derives the item's status, writes the events.
 * Throws `invalid_field` for an outcome, question or reason out of bounds.
 */
export function* endRun(ctx: Context, fence: RunFence, ending: RunEnding): Transaction<EndRunResult> {
  checkEnding(ending);
  const fenced = yield* lockFencedRun(ctx, fence);
  if (fenced === null) return { ended: false, reason: 'stale' };
  if (ending.status === 'completed' || ending.status === 'waiting') {
    const open = yield* one<{ count: number }>(countOpenInputs, [fence.actionId]);
    if (Number(open?.count ?? 0) > 0) return { ended: false, reason: 'input_pending' };
  }
  yield* run(freeHold, [fence.runId]);
  const actionStatus = yield* applyEnding(ctx, fenced, ending);
  if (actionStatus === 'completed') yield* relockActions(ctx, fence.itemId);
  const completedItem = yield* wakeAfterRun(ctx, fence);
  const itemStatus = yield* settleItem(ctx, fence.itemId);
  return { ended: true, actionStatus, itemStatus, completedItem };
}

function checkEnding(ending: RunEnding): void {
  if (ending.status === 'completed') checkOutcome(ending.outcome);
  else if (ending.status === 'waiting') boundedText('question', ending.question, workItemLimits.questionBytes);
  else if (ending.reason.code === '') throw invalidField('reason.code', 'is empty; give a stable code');
  if (ending.status === 'outcome_unknown' && ending.unresolved.length === 0) {
    throw invalidField('unresolved', 'is empty; name what a person has to resolve');
  }
}

function* applyEnding(ctx: Context, fenced: FencedRun, ending: RunEnding): Transaction<ActionStatus> {
  switch (ending.status) {
    case 'completed':
      return yield* endCompleted(ctx, fenced, ending.outcome);
    case 'waiting':
      return yield* endWaiting(ctx, fenced, ending.question);
    case 'retryable':
      return yield* endRetryable(ctx, fenced, ending);
    case 'deferred':
      return yield* endDeferred(ctx, fenced, ending);
    case 'failed':
      return yield* endFailed(ctx, fenced, ending);
    case 'outcome_unknown':
      return yield* endUnknown(ctx, fenced, ending);
  }
}

function* endCompleted(ctx: Context, { action, run: ended }: FencedRun, outcome: Outcome): Transaction<ActionStatus> {
  yield* moveRun(ctx, ended, { on: 'complete', by: 'runner', outcome });
  const change = {
    currentRunId: null,
    resumeFromRunId: null,
    openAttemptId: null,
    outcome,
    outcomeRunId: ended.id,
  };
  return (yield* moveAction(ctx, action, { on: 'complete', by: 'runner', change })).status;
}

function* endWaiting(ctx: Context, { action, run: ended }: FencedRun, question: string): Transaction<ActionStatus> {
  yield* moveRun(ctx, ended, { on: 'ask', by: 'runner', reason: { code: 'question', message: question } });
  const { itemId } = ended;
  const questionId = yield* openQuestion(ctx, { itemId, actionId: action.id, runId: ended.id, text: question });
  const change = {
    currentRunId: null,
    resumeFromRunId: ended.id,
    attention: { code: 'question' as const, message: question, ref: questionId },
  };
  return (yield* moveAction(ctx, action, { on: 'ask', by: 'runner', change })).status;
}

function* endRetryable(
  ctx: Context,
  { item, action, run: ended }: FencedRun,
  ending: Extract<RunEnding, { status: 'retryable' }>,
): Transaction<ActionStatus> {
  yield* moveRun(ctx, ended, { on: 'retry_later', by: 'runner', reason: ending.reason });
  const fresh = { currentRunId: null, resumeFromRunId: null, openAttemptId: null };
  if (ended.attempt >= (ending.maxAttempts ?? item.maxAttempts)) {
    const attention = exhausted(ended.attempt, ending.reason);
    return (yield* moveAction(ctx, action, { on: 'exhaust', by: 'runner', change: { ...fresh, attention } })).status;
  }
  const notBefore = ending.notBefore ?? ctx.now + attemptBackoffMs(ended.attempt);
  const change = { ...fresh, notBefore, readyAt: ctx.now };
  return (yield* moveAction(ctx, action, { on: 'retry_later', by: 'runner', change })).status;
}

/** Wait before the next attempt: 1 s, 2 s, 4 s, ... at most 300 s. */
export function attemptBackoffMs(attempt: number): number {
  return Math.min(1_000 * 2 ** Math.min(attempt - 1, 9), 300_000);
}

/** What a person is told of an Action without attempts left. */
export function exhausted(attempt: number, reason: RunReason) {
  const message = `Attempt ${attempt} was the last one. ${reason.message}`;
  return { code: 'exhausted' as const, message, ref: null };
}

function* endDeferred(
  ctx: Context,
  { action, run: ended }: FencedRun,
  ending: Extract<RunEnding, { status: 'deferred' }>,
): Transaction<ActionStatus> {
  yield* moveRun(ctx, ended, { on: 'defer', by: 'runner', reason: ending.reason });
  const change = {
    currentRunId: null,
    resumeFromRunId: ended.id,
    notBefore: ending.notBefore ?? null,
    readyAt: ctx.now,
  };
  return (yield* moveAction(ctx, action, { on: 'defer', by: 'runner', change })).status;
}

function* endFailed(
  ctx: Context,
  { action, run: ended }: FencedRun,
  ending: Extract<RunEnding, { status: 'failed' }>,
): Transaction<ActionStatus> {
  yield* moveRun(ctx, ended, {
    on: 'fail',
    by: 'runner',
    reason: ending.reason,
    outcome: ending.outcome ?? null,
  });
  const change = {
    currentRunId: null,
    resumeFromRunId: null,
    openAttemptId: null,
    attention: { code: failureCode(ending.reason.code), message: ending.reason.message, ref: null },
  };
  return (yield* moveAction(ctx, action, { on: 'fail', by: 'runner', change })).status;
}

function failureCode(code: string): AttentionCode {
  return code === 'resource_limit' || code === 'exhausted' || code === 'provider' ? code : 'failed_action';
}

function* endUnknown(
  ctx: Context,
  { action, run: ended }: FencedRun,
  ending: Extract<RunEnding, { status: 'outcome_unknown' }>,
): Transaction<ActionStatus> {
  yield* moveRun(ctx, ended, { on: 'lose_outcome', by: 'runner', reason: ending.reason });
  const change = {
    currentRunId: null,
    resumeFromRunId: ended.id,
    attention: unresolvedAttention(ending.unresolved, ending.reason.message),
  };
  return (yield* moveAction(ctx, action, { on: 'lose_outcome', by: 'runner', change })).status;
}

/** What a person is asked to resolve: the first operation, else the first turn. */
export function unresolvedAttention(unresolved: readonly Unresolved[], message: string) {
  const first = unresolved.find((one) => one.kind === 'operation') ?? unresolved[0];
  const code: AttentionCode = first?.kind === 'turn' ? 'unknown_turn' : 'unknown_operation';
  return { code, message, ref: first?.id ?? null };
}
