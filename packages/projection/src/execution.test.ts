import { executionControlSchema } from '@stint/contracts';
import { expect, test } from 'vitest';
import { addRun, noCounts } from './action.js';
import { toExecutionControl, toExecutionStatistics } from './execution.js';
import { sampleAccount, sampleTotals } from './sources.test.helper.js';

test('spent, held and unknown add up to what is charged', () => {
  const control = toExecutionControl(sampleAccount());
  expect(control.charged).toEqual({ requests: 10, tokens: 5_000, costMicros: 900 });
  expect(control.spent).toEqual({ requests: 8, tokens: 3_500, costMicros: 600 });
  expect(control.held).toEqual({ requests: 1, tokens: 1_000, costMicros: 200 });
  expect(control.unknown).toEqual({ requests: 1, tokens: 500, costMicros: 100 });
  expect(executionControlSchema.parse(control)).toEqual(control);
});

test('a cost nobody knows is null and counted, never 0', () => {
  const usage = sampleTotals({ costMicros: 0, heldCostMicros: 0, unknownCostMicros: 0, unpriced: 10 });
  const control = toExecutionControl(sampleAccount({ usage }));
  expect(control.charged.costMicros).toBeNull();
  expect(control.unmeasuredRequests).toBe(10);
  const untouched = toExecutionControl(sampleAccount({ usage: sampleTotals({ requests: 0, costMicros: 0, open: 0 }) }));
  expect(untouched.charged.costMicros).toBe(0);
});

test('a stop says which limit, how much was asked, and what to do', () => {
  const stopReason = {
    code: 'tokens_exhausted',
    account: 'team:blue',
    at: 7,
    limit: 6_000,
    estimate: { tokens: 1_200, costMicros: null },
  };
  const { stopReason: shown } = toExecutionControl(sampleAccount({ status: 'stopped', stopReason }));
  expect(shown).toMatchObject({ code: 'tokens_exhausted', limit: 'maxTokens', account: 'team:blue', at: 7 });
  expect(shown?.message).toMatch(/6000 tokens.*1200.*resume/);
});

test("an ancestor's stop is shown as the item's", () => {
  const stopReason = { code: 'paused', account: 'team:blue', at: 7 };
  const blockedBy = { account: 'team:blue', status: 'stopped', stopReason };
  expect(toExecutionControl(sampleAccount({ blockedBy }))).toMatchObject({
    status: 'stopped',
    stopReason: { code: 'paused' },
  });
});

test('subjects past the bound are counted, and the last attempt is told', () => {
  const subjects = Array.from({ length: 70 }, (_, index) => ({ subject: `a${index}`, attempts: 3, maximum: 3 }));
  const control = toExecutionControl(sampleAccount({ subjects }));
  expect(control.attempts).toHaveLength(64);
  expect(control.omittedAttemptCount).toBe(6);
  expect(control.attempts[0]).toEqual({ subject: 'a0', used: 3, maximum: 3, exhausted: true });
});

test("an item's requests and tokens are the ledger's, its loops and calls the sum of its Runs", () => {
  const counts = { requests: 2, tokens: 100, loops: 2, toolCalls: 5, failedToolCalls: 1 };
  const once = addRun(noCounts, counts);
  const actionCounts = new Map([
    ['a', once],
    ['b', addRun(once, undefined)],
  ]);
  const statistics = toExecutionStatistics(sampleAccount(), actionCounts);
  expect(statistics).toMatchObject({ runs: 3, loops: 4, toolCalls: 10, failedToolCalls: 2 });
  expect(statistics.total.tokens).toBe(5_000);
  expect(statistics.byKind).toEqual([{ kind: 'action', requests: 10, tokens: 5_000, costMicros: 900 }]);
});
