import { type JournaledState, resumeState, type TurnOwner } from '@stint/journal';
import type { Context, Transaction } from '@stint/storage';
import { getRun, type Run } from '@stint/work-items';

/** Longest chain of Runs that one Run goes on from. */
const longestChain = 64;

/** The journaled state that a Run goes on from: that of its whole chain as one history. Undefined if there is nothing. */
export function* chainState(ctx: Context, run: Run): Transaction<JournaledState | undefined> {
  return yield* resumeState(ctx, yield* chainOf(ctx, run));
}

/**
 * The Runs that this one goes on from, oldest first, itself last, as owners in the journal. Only Runs of the same
 * generation and spec count: a changed Action starts anew.
 */
export function* chainOf(ctx: Context, run: Run): Transaction<readonly TurnOwner[]> {
  const ids = [run.id];
  let before = run.resumesRunId;
  while (before !== null && ids.length < longestChain) {
    const earlier = yield* getRun(ctx, before);
    if (earlier === undefined || earlier.generation !== run.generation || earlier.specHash !== run.specHash) break;
    ids.unshift(earlier.id);
    before = earlier.resumesRunId;
  }
  return ids.map((id) => ({ kind: 'run', id }));
}
