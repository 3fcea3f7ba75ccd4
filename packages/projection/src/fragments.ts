import type { ActionSummary } from '@stint/contracts';
import type { ActionParts } from './action.js';

/** What was made of one Action, and the bytes its JSON has. */
export interface ActionFragment {
  /** Of the state it was made from. */
  readonly key: string;
  readonly summary: ActionSummary;
  readonly bytes: number;
  readonly maskedCount: number;
}

/** Where fragments are kept between two details of one item, by Action id. A `Map` does; forget it with the item. */
export interface FragmentStore {
  get(actionId: string): ActionFragment | undefined;
  set(actionId: string, fragment: ActionFragment): unknown;
}

/**
 * A short text that differs whenever the Action's summary would. Long texts are covered by what identifies them: the brief by its hash, the outcome by its Run, the question by its id.
 */
export function fragmentKey({ action, runs, runCounts, question, maximumAttempts }: ActionParts): string {
  const counts = runs.map(({ id }) => runCounts.get(id));
  const latest = runs.at(-1);
  return JSON.stringify([
    [action.status, action.generation, action.specHash, action.attempts, maximumAttempts, action.outcomeRunId],
    [action.updatedAt, action.dependencies, action.attention, action.closingReason, question?.id],
    [runs.length, latest?.id, latest?.status, latest?.endedAt, latest?.reason],
    counts.map((count) => count && [count.requests, count.tokens, count.loops, count.toolCalls, count.failedToolCalls]),
  ]);
}
