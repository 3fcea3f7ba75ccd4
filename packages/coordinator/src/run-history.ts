import { type JournaledState, resumeState, type StoredEntry, type TurnOwner } from '@stint/journal';
import type { Context, Transaction } from '@stint/storage';
import { getRun, type Run } from '@stint/work-items';
import { ownToolNames } from './action-tools.js';

/**
 * The journaled state that a Run goes on from: that of its whole chain as one history. Undefined if no message of it was
 * ever stored: then the Run begins with its prompt.
 *
 * What the Run's own tools were told lives in the process only. If that let go of the Run before the outcome was stored,
 * their results are left out, so that the loop runs those calls again and nothing is paid for a second time.
 */
export function* chainState(ctx: Context, run: Run): Transaction<JournaledState | undefined> {
  const state = yield* resumeState(ctx, yield* chainOf(ctx, run));
  if (state === undefined || state.entries.length === 0) return undefined;
  return (yield* wasCutOff(ctx, run)) ? { ...state, entries: withoutOwnResults(state) } : state;
}

function* wasCutOff(ctx: Context, { resumesRunId }: Run): Transaction<boolean> {
  const before = resumesRunId === null ? undefined : yield* getRun(ctx, resumesRunId);
  return before?.status === 'interrupted' || before?.status === 'deferred';
}

function withoutOwnResults({ entries, response }: JournaledState): readonly StoredEntry[] {
  if (response === undefined) return entries;
  const prefix = `result:${response.turnId}:`;
  return entries.filter((entry) => !(entry.key.startsWith(prefix) && isOwnResult(entry)));
}

function isOwnResult({ message }: StoredEntry): boolean {
  if (message.role !== 'tool') return false;
  return message.content.some((part) => part.type === 'tool-result' && ownToolNames.has(part.toolName));
}

/**
 * The Runs that this one goes on from, oldest first, itself last, as owners in the journal. Only Runs of the same
 * generation and spec count: a changed Action starts anew. The chain has no greatest length, since the objective stands in
 * its first Run; one that bites its own tail, as only a damaged store has, ends there.
 */
export function* chainOf(ctx: Context, run: Run): Transaction<readonly TurnOwner[]> {
  const ids = new Set([run.id]);
  let before = run.resumesRunId;
  while (before !== null && !ids.has(before)) {
    const earlier = yield* getRun(ctx, before);
    if (earlier === undefined || earlier.generation !== run.generation || earlier.specHash !== run.specHash) break;
    ids.add(earlier.id);
    before = earlier.resumesRunId;
  }
  return [...ids].toReversed().map((id) => ({ kind: 'run', id }));
}
