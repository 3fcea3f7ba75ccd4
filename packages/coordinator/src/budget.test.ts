import { readFileSync } from 'node:fs';
import { type LimitAdditions, type Limits, readRequest, recordFailure } from '@stint/ledger';
import type { ServedRequest } from '@stint/simulator';
import { all } from '@stint/storage';
import { readEvents, withBudgetStop } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { accountOf } from './account.js';
import { budgetStopOf } from './budget-stop.js';
import { shownStopIn, withStandingStop } from './shown-stop.js';
import { type Bench, openBench, summary } from './work-bench.test.helper.js';

const total = (served: readonly ServedRequest[]): number =>
  served.reduce((sum, request) => sum + request.inputTokens + request.outputTokens, 0);

/** Serves until nothing can be claimed any more. */
async function serveUntilIdle(bench: Bench): Promise<void> {
  const coordinator = bench.coordinator();
  coordinator.start();
  await coordinator.idle();
  await coordinator.stop();
}

async function shownStatus(bench: Bench, itemId: string) {
  const stop = await bench.db.read((ctx) => budgetStopOf(ctx, itemId));
  return withBudgetStop((await bench.records(itemId)).item, stop);
}

async function extend(bench: Bench, itemId: string, additions: LimitAdditions): Promise<void> {
  const { revision } = await bench.snapshot(itemId);
  expect(await bench.commands.extendBudget({ itemId, revision, additions })).toMatchObject({ changed: true });
  const { revision: extended } = await bench.snapshot(itemId);
  expect(await bench.commands.resumeBudget({ itemId, revision: extended })).toMatchObject({ resumed: true });
}

/** The most that was ever held and spent at once in a plan with two Actions at a time, from the ledger's own lines. */
async function peakOf(limits: Limits): Promise<number> {
  await using bench = await openBench({ model: 'parallel' });
  const itemId = await bench.item({ limits: { ...limits, protected: null } });
  await serveUntilIdle(bench);
  const lines = await bench.db.read(() => all<{ delta: string }>(selectDeltas, [`item:${itemId}`]));
  let [held, peak] = [0, 0];
  for (const { delta } of lines) {
    held += (JSON.parse(delta) as readonly number[])[1] ?? 0;
    peak = Math.max(peak, held);
  }
  expect((await bench.snapshot(itemId)).held.tokens).toBe(0);
  return peak;
}

const selectDeltas = 'SELECT delta FROM ledger_entries WHERE account = ? AND delta IS NOT NULL ORDER BY seq';

describe('a pause that hid failures', () => {
  it('is told as the failures’ stop after resume, with what lifts it, and then the item goes on', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    await bench.commands.pause({ itemId });
    for (let failure = 0; failure < 3; failure += 1)
      await bench.db.write((ctx) => recordFailure(ctx, accountOf(itemId), `coordinator:${itemId}`));
    expect(await bench.snapshot(itemId)).toMatchObject({ stopReason: { code: 'paused' } });
    const shown = async () => shownStopIn((await bench.records(itemId)).item, await bench.snapshot(itemId));
    expect(await shown()).toBeNull();

    await bench.commands.resume({ itemId });
    expect(await shown()).toMatchObject({ code: 'failures_exhausted', account: accountOf(itemId) });
    const { item } = await bench.records(itemId);
    expect(withStandingStop(item, await bench.snapshot(itemId)).stopReason).toMatchObject({ limit: 3 });
    const events = await bench.db.read((ctx) => readEvents(ctx, { itemId, since: 0 }));
    const refused = events.find((event) => event.type === 'budget.resume_refused');
    expect(refused?.text).toContain('failed 3 times in a row');

    await extend(bench, itemId, { maxConsecutiveFailures: 3 });
    expect(await shown()).toBeNull();
    await serveUntilIdle(bench);
    expect((await bench.records(itemId)).item.status).toBe('done');
  });

  it('hides no stop of an account above the item, whatever its code', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    const stopReason = { code: 'paused', account: 'team', at: 1, aborts: true };
    const blockedBy = { account: 'team', status: 'stopped', stopReason } as const;
    const snapshot = { ...(await bench.snapshot(itemId)), blockedBy };
    for (const paused of [false, true])
      expect(shownStopIn({ paused, cancelledAt: null }, snapshot)).toMatchObject({ account: 'team', code: 'paused' });
  });
});

describe('a budget', () => {
  it.each([1, 2, 4, 6])(
    'of %i requests lets exactly that many leave, and more money finishes the item without paying twice',
    async (limit) => {
      await using bench = await openBench();
      const itemId = await bench.item({ limits: { maxRequests: limit, protected: null } });
      await serveUntilIdle(bench);
      expect(bench.simulator.requests()).toHaveLength(limit);
      expect(await shownStatus(bench, itemId)).toMatchObject({
        status: 'needs_attention',
        attention: { code: 'budget' },
      });
      const paid = bench.simulator.requests().map((request) => request.turnId);

      await extend(bench, itemId, { maxRequests: 50 });
      await serveUntilIdle(bench);
      const records = await bench.records(itemId);
      expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
      expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
      const served = bench.simulator.requests();
      expect(new Set(served.map((request) => request.turnId)).size).toBe(served.length);
      expect(served.slice(0, limit).map((request) => request.turnId)).toEqual(paid);
      const { usage } = await bench.snapshot(itemId);
      expect([usage.requests, usage.tokens]).toEqual([served.length, total(served)]);
      const events = await bench.db.read((ctx) => readEvents(ctx, { itemId, since: 0 }));
      expect(events.map((event) => event.type)).toEqual(expect.arrayContaining(['budget.extended', 'budget.resumed']));
    },
  );

  it('in tokens never lets held plus spent pass it, also with two Actions at once', async () => {
    const unlimited = await peakOf({ maxTokens: null });
    const maxTokens = Math.floor(unlimited * (0.5 + 0.4 * Math.random()));
    expect(await peakOf({ maxTokens }), `limit ${maxTokens}, unlimited ${unlimited}`).toBeLessThanOrEqual(maxTokens);
  });

  it('runs two Actions at once where the plan allows it', async () => {
    await using bench = await openBench({ model: 'parallel' });
    const itemId = await bench.item();
    let most = 0;
    const coordinator = bench.coordinator({
      onProgress: () => (most = Math.max(most, coordinator.status().activeRuns)),
    });
    coordinator.start();
    const { item } = await bench.until(itemId, (records) => records.item.status === 'done');
    expect({ status: item.status, most }).toEqual({ status: 'done', most: 2 });
  });

  it('books an answer above its hold in full and stops there', async () => {
    await using bench = await openBench();
    const itemId = await bench.item({ limits: { maxTokens: 100, protected: null } });
    const hold = { tokens: 10 + Math.floor(Math.random() * 20), costMicros: null };
    const coordinator = bench.coordinator({
      pricing: { estimate: () => hold, cost: () => null },
    });
    coordinator.start();
    await coordinator.idle();
    const served = bench.simulator.requests();
    const { usage, status } = await bench.snapshot(itemId);
    expect({ served: served.length, status, tokens: usage.tokens }).toEqual({
      served: 1,
      status: 'stopped',
      tokens: total(served),
    });
    expect(usage.tokens).toBeGreaterThan(100);
    const [turn] = await bench.turns(itemId);
    const request = await bench.db.read(() => readRequest(turn?.id ?? ''));
    expect(request).toMatchObject({ overshoot: true, status: 'reported' });
    expect(await shownStatus(bench, itemId)).toMatchObject({ attention: { code: 'budget' } });
  });
});
