import type { Context, Database, Transaction } from '@stint/storage';
import {
  type CoordinatorFence,
  getCoordinatorTurn,
  getRun,
  getWorkItem,
  type RunFence,
  workChannel,
} from '@stint/work-items';
import { CoordinatorError } from './errors.js';

/** A watch over claimed work that another process or a person's command may end at any time. */
export interface ClaimWatch {
  /** Aborts with a CoordinatorError: `lease_lost` when the claim is gone, `paused` when a person paused the item. */
  readonly signal: AbortSignal;
  close(): void;
}

export interface WatchOptions {
  readonly db: Database;
  /** Longest time between two looks, ms. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Watches a Run after every commit that touches work items and at least every `pollMs`. The watch only makes the work
 * end soon; what keeps a late write out is the fence in each transaction.
 */
export function watchRun(options: WatchOptions, fence: RunFence): ClaimWatch {
  return watch(options, fence, function* (ctx) {
    const run = yield* getRun(ctx, fence.runId);
    return run?.status === 'running' && run.owner === fence.owner && run.leaseEpoch === fence.leaseEpoch;
  });
}

/** Watches a Coordinator turn in the same way. */
export function watchTurn(options: WatchOptions, fence: CoordinatorFence): ClaimWatch {
  return watch(options, fence, function* (ctx) {
    return (yield* getCoordinatorTurn(ctx, fence.turnId))?.status === 'thinking';
  });
}

function watch(
  { db, pollMs, onError }: WatchOptions,
  fence: { readonly itemId: string; readonly owner: string },
  isCurrent: (ctx: Context) => Transaction<boolean>,
): ClaimWatch {
  const controller = new AbortController();
  const look = async (): Promise<void> => {
    const reason =
      db.owner === fence.owner ? await db.read((ctx) => endReason(ctx, fence.itemId, isCurrent)) : claimLost();
    if (reason !== null && !controller.signal.aborted) controller.abort(reason);
  };
  // One look at a time; what changes meanwhile is seen by the one that follows.
  const state = { looking: false, again: false };
  const lookSafely = (): void => {
    state.again = state.looking;
    if (state.looking) return;
    state.looking = true;
    void look()
      .catch(onError)
      .finally(() => {
        state.looking = false;
        if (state.again) lookSafely();
      });
  };
  const unlisten = db.listen(workChannel, lookSafely);
  const timer = setInterval(lookSafely, pollMs);
  return {
    signal: controller.signal,
    close() {
      unlisten();
      clearInterval(timer);
    },
  };
}

function* endReason(
  ctx: Context,
  itemId: string,
  isCurrent: (ctx: Context) => Transaction<boolean>,
): Transaction<CoordinatorError | null> {
  if (!(yield* isCurrent(ctx))) return claimLost();
  const item = yield* getWorkItem(ctx, itemId);
  return item?.paused === true ? new CoordinatorError('paused', `Work item ${itemId} was paused by a person.`) : null;
}

/** What ends work that was taken away, and refuses what it still wants to write. */
export function claimLost(): CoordinatorError {
  return new CoordinatorError('lease_lost', 'This claim is no longer the current one; what it does no longer counts.');
}
