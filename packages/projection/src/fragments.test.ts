import { expect, test } from 'vitest';
import type { ActionParts } from './action.js';
import { fragmentKey } from './fragments.js';
import { ITEM_ID, sampleAction, sampleRun } from './sources.test.helper.js';

const counts = { requests: 1, tokens: 2, loops: 3, toolCalls: 4, failedToolCalls: 0 };
const attention = { code: 'question', message: 'm', command: 'c', ref: null };

function parts(over: Partial<ActionParts> = {}): ActionParts {
  return {
    action: sampleAction('look'),
    latestRun: sampleRun('r1', 'look'),
    latestCounts: counts,
    counts: { ...counts, runs: 1 },
    question: null,
    maximumAttempts: 3,
    ...over,
  };
}

test.each([
  ['status', parts({ action: sampleAction('look', { status: 'running' }) })],
  ['brief', parts({ action: sampleAction('look', { specHash: 'other' }) })],
  ['generation', parts({ action: sampleAction('look', { generation: 2 }) })],
  ['attempts', parts({ action: sampleAction('look', { attempts: 1 }) })],
  ['dependencies', parts({ action: sampleAction('look', { dependencies: ['a'] }) })],
  ['attention', parts({ action: sampleAction('look', { attention }) })],
  ['closing reason', parts({ action: sampleAction('look', { closingReason: 'gone' }) })],
  ['outcome', parts({ action: sampleAction('look', { outcomeRunId: 'r1' }) })],
  ['time', parts({ action: sampleAction('look', { updatedAt: 9 }) })],
  ['maximum of attempts', parts({ maximumAttempts: 4 })],
  ['question', parts({ question: { id: 'q', actionId: `${ITEM_ID}/look`, runId: null, text: 't', askedAt: 1 } })],
  ['latest Run', parts({ latestRun: sampleRun('r1', 'look', { status: 'completed', endedAt: 2 }) })],
  ['number of Runs', parts({ counts: { ...counts, runs: 2 } })],
  ['counts of the latest Run', parts({ latestCounts: { ...counts, toolCalls: 9 } })],
  ['counts of all Runs', parts({ counts: { ...counts, runs: 1, tokens: 9 } })],
])('a change of %s makes another key', (_name, changed) => {
  expect(fragmentKey(changed)).not.toBe(fragmentKey(parts()));
});

test('the same state read again has the same key', () => {
  expect(fragmentKey(structuredClone(parts()))).toBe(fragmentKey(parts()));
});
