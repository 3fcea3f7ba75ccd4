import { readRequest } from '@stint/ledger';
import { defaultScenario, type Scenario, systemText } from '@stint/simulator';
import { describe, expect, it } from 'vitest';
import { createCommands } from './commands.js';
import { serveOn, serveUntilKilled } from './killing.test.helper.js';
import { type Pricing, pricingBy } from './pricing.js';
import { openBench } from './work-bench.test.helper.js';

describe('a command given twice', () => {
  it('creates one item with one account', async () => {
    await using bench = await openBench();
    const contract = { goal: 'Say hello', deliveryTarget: 'response', clientMessageId: 'c1' } as const;
    const first = await bench.commands.create({ contract, start: false });
    const second = await bench.commands.create({ contract, start: true });
    expect(second).toEqual({ itemId: first.itemId, created: false });
    expect((await bench.records(first.itemId)).item.status).toBe('draft');
    expect(await bench.snapshot(first.itemId)).toMatchObject({ status: 'open', usage: { requests: 0 } });
  });

  it('cancels once, and the stop stands', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    expect(await bench.commands.cancel({ itemId })).toEqual({ applied: true, duplicate: false });
    const { revision } = await bench.snapshot(itemId);
    expect(await bench.commands.cancel({ itemId })).toEqual({ applied: true, duplicate: true });
    expect(await bench.snapshot(itemId)).toMatchObject({
      revision,
      status: 'stopped',
      stopReason: { code: 'cancelled' },
    });
  });
});

describe('a command made on an older state', () => {
  it('is answered with the present one, and moves neither plan nor money', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    const { item } = await bench.records(itemId);
    const result = await bench.commands.cancel({ itemId, expectedRevision: item.revision + 1 });
    expect(result).toMatchObject({ applied: false, reason: 'stale', current: { revision: item.revision } });
    expect(await bench.snapshot(itemId)).toMatchObject({ status: 'open' });
    const { revision } = await bench.snapshot(itemId);
    const old = { itemId, revision: revision + 1, additions: { maxTokens: 5 } };
    expect(await bench.commands.extendBudget(old)).toMatchObject({ changed: false, reason: 'revision_conflict' });
  });
});

describe('a person’s word about a request whose outcome nobody knows', () => {
  it.each([
    ['the bill names its usage', { kind: 'usage', inputTokens: 70, outputTokens: 30 }, 'reported', 100],
    ['the bill does not have it', { kind: 'not_billed' }, 'released', 0],
    ['it is to be sent again', { kind: 'retry' }, 'unknown', null],
  ] as const)('is booked as it says when %s, and the item goes on', async (_, finding, status, charged) => {
    await using bench = await openBench();
    const itemId = await bench.item({ withoutWorkDir: true });
    await serveUntilKilled(bench, 'turn:streaming', 1);
    const { item } = await serveOn(bench, itemId);
    const turnId = item.attention?.ref ?? '';
    expect(await bench.commands.resolveTurn({ turnId, finding })).toBe(itemId);
    const request = await bench.db.read(() => readRequest(turnId));
    expect(request).toMatchObject({ status, ...(charged !== null && { chargedTokens: charged }) });
    expect((await serveOn(bench, itemId)).item.status).toBe('done');
    await expect(bench.commands.resolveTurn({ turnId, finding: { kind: 'retry' } })).rejects.toMatchObject({
      code: 'illegal_transition',
    });
    const bill = { kind: 'usage', inputTokens: 20, outputTokens: 5 } as const;
    expect(await bench.commands.resolveTurn({ turnId, finding: bill })).toBe(itemId);
    expect(await bench.db.read(() => readRequest(turnId))).toMatchObject({ status: 'reported', chargedTokens: 25 });
  });

  it('moves the money with the tokens', async () => {
    await using bench = await openBench();
    const itemId = await bench.item({ withoutWorkDir: true });
    await serveUntilKilled(bench, 'turn:streaming', 1);
    const turnId = (await serveOn(bench, itemId)).item.attention?.ref ?? '';
    const rate = 1 + Math.floor(Math.random() * 9);
    const pricing: Pricing = { ...pricingBy(), cost: () => (_request, usage) => usage.totalTokens * rate };
    const finding = { kind: 'usage', inputTokens: 70, outputTokens: 30 } as const;
    await createCommands(bench.db, { pricing }).resolveTurn({ turnId, finding });
    const request = await bench.db.read(() => readRequest(turnId));
    expect(request).toMatchObject({ chargedTokens: 100, chargedCostMicros: 100 * rate });
    expect(await bench.snapshot(itemId)).toMatchObject({ cost: { costMicros: 100 * rate } });
  });

  it('about one that does not exist is refused by name', async () => {
    await using bench = await openBench();
    const turn = bench.commands.resolveTurn({ turnId: 'nothing', finding: { kind: 'retry' } });
    await expect(turn).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('nothing') as string,
    });
    const operation = bench.commands.resolveOperation({ operationId: 'nothing/0', effect: 'applied' });
    await expect(operation).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a retry', () => {
  it('lets a failed Action begin anew with all its attempts', async () => {
    let fails = true;
    const scenario: Scenario = (request) =>
      fails && !systemText(request).startsWith('You are the Coordinator')
        ? { text: 'Nothing to say.' }
        : defaultScenario(request);
    await using bench = await openBench({ scenario });
    const itemId = await bench.item({ withoutWorkDir: true, maxAttempts: 1 });
    const failed = await serveOn(bench, itemId);
    const [action] = failed.actions;
    expect(action).toMatchObject({ status: 'failed', attempts: 1 });
    fails = false;
    await bench.commands.retry({ itemId, actionId: action?.id ?? '' });
    const coordinator = bench.coordinator();
    coordinator.start();
    const done = await bench.until(itemId, ({ item }) => item.status === 'done');
    expect(done.actions[0]).toMatchObject({ status: 'completed', generation: (action?.generation ?? 0) + 1 });
  });
});
