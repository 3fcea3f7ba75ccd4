import { insertTurn, noteResponseId, readTurn, recordUnknown } from '@stint/journal';
import type { FrozenRequest, PastAnswer, PastAnswers } from '@stint/provider-hooks';
import { openaiPastAnswers } from '@stint/provider-hooks/openai';
import { expect, it } from 'vitest';
import { askProviders } from './ask-providers.js';
import { expectHonestBooks, serveUntilKilled, stands } from './killing.test.helper.js';
import { pricingBy } from './pricing.js';
import { type Bench, openBench, summary } from './work-bench.test.helper.js';

it('a model still at work is asked about by each sweep; whoever waits for a person then goes on unaided', async () => {
  await using bench = await openBench({ keepsAnswers: true });
  const itemId = await bench.item();
  await serveUntilKilled(bench, 'turn:streaming', 3, true);
  const sent = bench.simulator.requests().length;
  const real = openaiPastAnswers({ baseURL: bench.simulator.url, apiKey: 'made-up-key' });
  let isDone = false;
  let asked = 0;
  const ask: PastAnswers = async (request, signal): Promise<PastAnswer> => {
    asked += 1;
    return isDone ? await real(request, signal) : { state: 'running' };
  };
  bench.coordinator({ pastAnswersOf: () => ask }).start();
  const waiting = await bench.until(itemId, ({ item }) => item.status === 'needs_attention');
  expect(waiting.item.attention?.code).toBe('unknown_turn');
  await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(2);
  expect(bench.simulator.requests()).toHaveLength(sent);
  isDone = true;
  const records = await bench.until(itemId, (now) => stands(now) && now.item.status !== 'needs_attention');
  expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
  const turn = await bench.db.read((ctx) => readTurn(ctx, waiting.item.attention?.ref ?? ''));
  expect(turn).toMatchObject({ status: 'responded', resolution: { by: 'provider' } });
  await expectHonestBooks(bench, itemId);
});

it('a provider that cannot be asked leaves the turn to a person, and says so in the log', async () => {
  await using bench = await openBench({ keepsAnswers: true });
  const itemId = await bench.item();
  await serveUntilKilled(bench, 'turn:streaming', 1, true);
  const lines: string[] = [];
  bench
    .coordinator({
      pastAnswersOf: () => () => Promise.reject(new Error('the provider is down')),
      log: ({ message }) => lines.push(message),
    })
    .start();
  const records = await bench.until(itemId, ({ item }) => item.status === 'needs_attention');
  expect(records.item.attention?.code).toBe('unknown_turn');
  expect(lines).toContain('A provider could not be asked for an answer');
});

it('providers are asked at once, so that one that hangs does not keep the others waiting', async () => {
  await using bench = await openBench({ keepsAnswers: true });
  const owners = await lostTurns(bench, 3);
  let asked = 0;
  let all = (): void => undefined;
  const allAsked = new Promise<void>((resolve) => (all = resolve));
  const said: string[] = [];
  const ask: PastAnswers = async (): Promise<PastAnswer> => {
    asked += 1;
    if (asked === owners.length) all();
    await allAsked;
    return { state: 'running' };
  };
  const asking = { pastAnswersOf: () => ask, pricing: pricingBy(), running: new Map<string, number>() };
  expect(await askProviders({ db: bench.db, log: ({ message }) => said.push(message), ...asking }, owners)).toBe(0);
  expect(asked).toBe(owners.length);
  expect(said).toEqual(['Asking providers for answers that were lost']);
});

const request: FrozenRequest = {
  model: 'simulated:default',
  provider: 'simulated',
  modelId: 'default',
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  settings: {},
  hash: 'h',
  stream: true,
  turnNumber: 1,
  inputIds: [],
  entries: [],
  purpose: 'turn',
};

/** Unknown turns of as many Runs, each with an id under which its provider may keep the answer. */
async function lostTurns(bench: Bench, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `lost-${index}`);
  for (const id of ids) {
    await bench.db.write(function* (ctx) {
      yield* insertTurn(ctx, { id, owner: { kind: 'run', id }, request });
      yield* noteResponseId(ctx, id, `resp-${id}`);
      yield* recordUnknown(ctx, id, { error: { code: 'lost', message: 'lost' }, asksPerson: true });
    });
  }
  return ids;
}
