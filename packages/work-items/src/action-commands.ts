import { type Context, run, type Transaction } from '@stint/storage';
import { applied, appliedBefore, type CommandResult, revisionsOf } from './commands.js';
import { unresolvedAttention, type Unresolved } from './end-run.js';
import { WorkItemsError } from './errors.js';
import { lockAction, lockItem } from './lock.js';
import { moveEntry, openEntries } from './mailbox.js';
import { refuseEnded } from './messages.js';
import { moveAction, relockActions } from './move-action.js';
import type { Action } from './records.js';
import { settleItem } from './settle-item.js';

const updateAttention = `UPDATE work_actions SET attention_code = ?, attention_message = ?, attention_ref = ?, updated_at = ?
  WHERE id = ? AND status = 'waiting'`;

export interface RetryActionInput {
  readonly itemId: string;
  readonly actionId: string;
  /** The generation the person saw. @default any */
  readonly expectedGeneration?: number;
}

/**
 * A person lets an Action go on: a failed one begins anew (generation + 1, attempts 0), an interrupted delivery continues
 * from its journal. Throws `action_not_retryable`, naming the command that fits, when it waits for something else.
 */
export function* retryAction(ctx: Context, input: RetryActionInput): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, input.itemId);
  refuseEnded(item, 'retry an Action');
  const action = yield* lockAction(ctx, item.id, input.actionId);
  if (input.expectedGeneration !== undefined && input.expectedGeneration !== action.generation) {
    return { applied: false, reason: 'stale', current: revisionsOf(item) };
  }
  if (action.status === 'failed') yield* restartAction(ctx, action);
  else if (action.attention?.code === 'interrupted_delivery') yield* continueWaiting(ctx, action, { attempts: 0 });
  else throw notRetryable(action);
  yield* settleItem(ctx, item.id);
  return applied;
}

function notRetryable(action: Action): WorkItemsError {
  const hint = action.attention === null ? 'there is nothing to retry' : `run: ${action.attention.command}`;
  const message = `Action ${action.id} is ${action.status}; ${hint}`;
  return new WorkItemsError('action_not_retryable', message);
}

/** failed -> blocked -> ready, with a new generation and all its attempts; its wake-up needs no answer any longer. */
export function* restartAction(ctx: Context, action: Action): Transaction<void> {
  const change = { generation: action.generation + 1, attempts: 0, openAttemptId: null, resumeFromRunId: null };
  yield* moveAction(ctx, action, { on: 'restart', by: 'person', change });
  for (const entry of yield* openEntries(ctx, action.itemId)) {
    const isOfAction = entry.kind === 'action_settled' && entry.payload['actionId'] === action.id;
    if (isOfAction && entry.status === 'pending') yield* moveEntry(entry, 'discard', 'person');
  }
  yield* relockActions(ctx, action.itemId);
}

/** waiting -> ready: the same attempt goes on from its journal. */
export function* continueWaiting(
  ctx: Context,
  action: Action,
  change: { readonly attempts?: number } = {},
): Transaction<void> {
  const anew = change.attempts === undefined ? {} : { attempts: change.attempts, openAttemptId: null };
  yield* moveAction(ctx, action, { on: 'continue', by: 'person', change: { ...anew, readyAt: ctx.now } });
}

export interface ContinueActionInput {
  readonly itemId: string;
  readonly actionId: string;
  /** What is still unknown after the resolution, read from the journal in the same transaction. */
  readonly unresolved: readonly Unresolved[];
}

/**
 * A person resolved an operation or a turn of this Action: it goes on when nothing is unknown any longer, else it asks for
 * the next one. An Action that no longer waits (cancelled, superseded) is left alone.
 */
export function* continueAction(ctx: Context, input: ContinueActionInput): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, input.itemId);
  const action = yield* lockAction(ctx, item.id, input.actionId);
  const code = action.attention?.code;
  if (action.status !== 'waiting' || (code !== 'unknown_operation' && code !== 'unknown_turn')) return appliedBefore;
  if (input.unresolved.length === 0) {
    yield* continueWaiting(ctx, action);
  } else {
    const next = unresolvedAttention(input.unresolved, action.attention?.message ?? '');
    yield* run(updateAttention, [next.code, next.message, next.ref, ctx.now, action.id]);
  }
  yield* settleItem(ctx, item.id);
  return applied;
}
