import type { RunEnd } from '@stint/engine';
import type { TurnOwner } from '@stint/journal';
import { closeAccount } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';
import {
  checkRunFence,
  type ClaimedAction,
  endRun,
  type EndRunResult,
  listRuns,
  type RunFence,
} from '@stint/work-items';
import { accountOf } from './account.js';
import type { Outcome } from './outcome.js';
import { runEndingOf, storeFailed, temporaryRefusal, unstartedEnding } from './run-ending.js';
import { settleDangling } from './settle-dangling.js';
import { cutOperations } from './unknowns.js';

/** How a Run's loop ended, and what it handed over. */
export interface LoopEnd {
  readonly end: RunEnd;
  readonly outcome: Outcome | null;
  /** Stores the ends of operations that could not be stored when they ended. */
  readonly settleOperations: (ctx: Context) => Transaction<void>;
}

/**
 * Ends Run and Action in this transaction, settles what could not be settled before, and closes the account of an item
 * that its gate completed. Null: there was nothing to end, the claim was lost.
 */
export function* finishRun(
  ctx: Context,
  claimed: ClaimedAction,
  { end, outcome, settleOperations }: LoopEnd,
): Transaction<EndRunResult | null> {
  const { fence, action } = claimed;
  if (!(yield* checkRunFence(ctx, fence))) return null;
  yield* settleDangling(ctx, ownerOf(fence));
  yield* settleOperations(ctx);
  const refusalsInARow = yield* countRefusals(ctx, action.id);
  const unknownOperations = yield* cutOperations(ctx, ownerOf(fence));
  const ending = runEndingOf({ end, outcome, refusalsInARow, unknownOperations, now: ctx.now });
  if (ending === null) return null;
  const result = yield* endRun(ctx, fence, ending);
  if (result.ended && result.completedItem) yield* closeAccount(ctx, accountOf(fence.itemId));
  return result;
}

/** Ends a Run whose loop could not begin. */
export function* endUnstarted(ctx: Context, fence: RunFence, error: unknown): Transaction<EndRunResult> {
  return yield* endRun(ctx, fence, unstartedEnding(error));
}

/** Puts a Run back that this process could not end when it should have: it goes on where it was, in the same attempt. */
export function* putRunBack(ctx: Context, fence: RunFence): Transaction<EndRunResult | null> {
  if (!(yield* checkRunFence(ctx, fence))) return null;
  yield* settleDangling(ctx, ownerOf(fence));
  return yield* endRun(ctx, fence, storeFailed(ctx.now));
}

function ownerOf({ runId }: RunFence): TurnOwner {
  return { kind: 'run', id: runId };
}

/** How many of the newest ended Runs of an Action were deferred by a temporary refusal, without another end between. */
function* countRefusals(ctx: Context, actionId: string): Transaction<number> {
  const ended = (yield* listRuns(ctx, actionId)).filter((run) => run.status !== 'running').toReversed();
  const other = ended.findIndex((run) => run.status !== 'deferred' || run.reason?.code !== temporaryRefusal);
  return other === -1 ? ended.length : other;
}
