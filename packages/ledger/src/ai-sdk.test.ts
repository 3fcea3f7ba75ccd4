import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { hookProvider } from '@stint/provider-hooks';
import { type Fault, type FaultName, startSimulator, type Simulator } from '@stint/simulator';
import { type FreshStore, freshSqlite } from '@stint/storage/testing';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cappedModel, ledgerMiddleware, refusalReasonOf } from './ai-sdk.js';
import { createLedger, type Ledger } from './ledger.js';

const answer = `It is ${Math.floor(Math.random() * 90)} degrees.`;
let simulator: Simulator;
let store: FreshStore<object>;
let ledger: Ledger;
let faults: (FaultName | Fault | null)[];

beforeEach(async () => {
  faults = [];
  simulator = await startSimulator({ scenario: () => ({ text: answer }), faults: () => faults.shift() });
  store = freshSqlite();
  ledger = createLedger(await store.open());
  await ledger.migrate();
  await ledger.createAccount({ id: 'app', limits: { maxTokens: 100_000, maxRequests: 5 } });
});

afterEach(async () => {
  await simulator.close();
  await store.remove();
});

function model(): LanguageModelV3 {
  const provider = hookProvider((fetch) =>
    createOpenAICompatible({ name: 'simulated', baseURL: simulator.url, apiKey: 'made-up', includeUsage: true, fetch }),
  );
  return provider('default');
}

const call = { prompt: 'How warm is it?', maxOutputTokens: 200, maxRetries: 0 };

async function streamToEnd(capped: LanguageModelV3): Promise<{ text: string; errors: unknown[] }> {
  const errors: unknown[] = [];
  const result = streamText({ model: capped, ...call, onError: ({ error }) => void errors.push(error) });
  let text = '';
  try {
    for await (const piece of result.textStream) text += piece;
  } catch (error) {
    errors.push(error);
  }
  return { text, errors };
}

it('holds before a request leaves and settles at what was used, generated or streamed', async () => {
  const capped = cappedModel(model(), ledger, { account: 'app' });
  const { text, usage } = await generateText({ model: capped, ...call });
  expect(text).toBe(answer);
  const first = await ledger.snapshotAccount('app');
  expect(first.usage).toMatchObject({ requests: 1, tokens: usage.totalTokens, open: 0 });
  expect(first.usage.costMicros).toBeGreaterThan(0);
  expect((await streamToEnd(capped)).text).toBe(answer);
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({
    requests: 2,
    tokens: 2 * (usage.totalTokens ?? 0),
    open: 0,
  });
});

it('sends nothing that does not fit, and says why', async () => {
  const capped = cappedModel(model(), ledger, { account: 'app' });
  const refused = await generateText({ model: capped, ...call, maxOutputTokens: 100_001 }).catch(
    (error: unknown) => error,
  );
  expect(refusalReasonOf(refused)).toMatchObject({ code: 'tokens_exhausted', account: 'app' });
  expect(simulator.requests()).toHaveLength(0);
  expect((await ledger.snapshotAccount('app')).usage.requests).toBe(0);
});

it('gives a hold back that came after nobody waited for it any longer: not sent, not charged', async () => {
  const blocker = { account: 'app', kind: 'request', model: 'm', estimate: { tokens: 99_990, costMicros: null } };
  await ledger.reserveRequest({ ...blocker, id: 'blocker' });
  const capped = cappedModel(model(), ledger, { account: 'app', waitMs: 20_000, hookTimeoutMs: 50 });
  await expect(generateText({ model: capped, ...call })).rejects.toMatchObject({ code: 'hook_failed', hook: 'start' });
  await ledger.releaseRequest('blocker', 'not_sent');
  const counted = async (): Promise<object> => {
    const { requests, tokens, open } = (await ledger.snapshotAccount('app')).usage;
    return { requests, tokens, open };
  };
  await expect.poll(counted, { timeout: 10_000 }).toEqual({ requests: 2, tokens: 0, open: 0 });
  expect(simulator.requests()).toHaveLength(0);
});

it('case L05: sends nothing when the request cannot be estimated or the store is gone', async () => {
  const broken = createLedger(await store.open(), {
    get inputRatio(): number {
      return Number.NaN;
    },
  });
  await expect(generateText({ model: cappedModel(model(), broken, { account: 'app' }), ...call })).rejects.toThrow();
  const closed = await store.open();
  await closed.close();
  const refused = await generateText({
    model: cappedModel(model(), createLedger(closed), { account: 'app' }),
    ...call,
  }).catch((error: unknown) => error);
  expect(refusalReasonOf(refused)).toMatchObject({ code: 'ledger_unavailable' });
  expect(simulator.requests()).toHaveLength(0);
});

it.each([
  ['rate_limit', 'released', 0],
  ['unauthorized', 'released', 0],
  ['server_error_before_bytes', 'unknown', 1],
  ['reset_after_read', 'unknown', 1],
] as const)('books %s as %s', async (fault, status, unknown) => {
  faults = [fault];
  await expect(generateText({ model: cappedModel(model(), ledger, { account: 'app' }), ...call })).rejects.toThrow();
  const { usage } = await ledger.snapshotAccount('app');
  expect(usage).toMatchObject({ requests: 1, open: 0, unknown });
  expect(usage.tokens === 0).toBe(status === 'released');
});

it('releases a request that found nobody to connect to', async () => {
  const capped = cappedModel(model(), ledger, { account: 'app' });
  await simulator.close();
  await expect(generateText({ model: capped, ...call })).rejects.toThrow();
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({ requests: 1, tokens: 0, open: 0 });
  simulator = await startSimulator();
});

it.each(['stream_cut', 'stream_end_without_stop'] as const)(
  'does not take a stream that broke (%s) for complete',
  async (fault) => {
    faults = [fault];
    const { errors } = await streamToEnd(cappedModel(model(), ledger, { account: 'app' }));
    expect(errors).not.toHaveLength(0);
    const { usage } = await ledger.snapshotAccount('app');
    expect(usage).toMatchObject({ requests: 1, open: 0, unknown: 1 });
    expect(usage.tokens).toBeGreaterThan(200);
  },
);

it('case L11: charges an answer without usage at its hold, as unmeasured', async () => {
  faults = ['no_usage', 'zero_usage'];
  const capped = cappedModel(model(), ledger, { account: 'app' });
  await generateText({ model: capped, ...call });
  await generateText({ model: capped, ...call });
  const { usage } = await ledger.snapshotAccount('app');
  expect(usage).toMatchObject({ requests: 2, open: 0, unknown: 0, unmeasured: 2 });
  expect(usage.tokens).toBeGreaterThan(400);
});

it('case L19: every retry of the AI SDK is a hold and a settlement of its own', async () => {
  faults = ['server_error_before_bytes', { name: 'rate_limit_retry_after', retryAfter: '0' }];
  await generateText({ model: cappedModel(model(), ledger, { account: 'app', run: 'run' }), ...call, maxRetries: 2 });
  expect(simulator.requests()).toHaveLength(3);
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({ requests: 3, open: 0, unknown: 1 });
});

it('case L15: takes the last of growing usage reports', async () => {
  faults = ['cumulative_usage'];
  await streamToEnd(cappedModel(model(), ledger, { account: 'app' }));
  const grown = (await ledger.snapshotAccount('app')).usage.tokens;
  await streamToEnd(cappedModel(model(), ledger, { account: 'app' }));
  expect((await ledger.snapshotAccount('app')).usage.tokens).toBe(2 * grown);
});

it('works as a middleware around a model that is not hooked', async () => {
  const plain = createAnthropic({ baseURL: simulator.url, apiKey: 'made-up' })('any');
  const capped = wrapLanguageModel({ model: plain, middleware: ledgerMiddleware(ledger, { account: 'app' }) });
  const { usage } = await generateText({ model: capped, ...call });
  expect((await streamToEnd(capped)).text).toBe(answer);
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({
    requests: 2,
    tokens: 2 * (usage.totalTokens ?? 0),
    open: 0,
  });
});

it.each(['v2', 'v3', 'v4'] as const)('caps a model of specification %s', async (specificationVersion) => {
  const usage =
    specificationVersion === 'v2'
      ? { inputTokens: 30, outputTokens: 12, totalTokens: 42 }
      : {
          inputTokens: { total: 30, noCache: 30, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 12, text: 12, reasoning: 0 },
        };
  const finishReason = specificationVersion === 'v2' ? 'stop' : { unified: 'stop', raw: 'stop' };
  const plain = {
    specificationVersion,
    provider: 'simulated',
    modelId: 'default',
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: 'text', text: answer }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const type of ['text-start', 'text-delta', 'text-end'])
            controller.enqueue({ type, id: '1', ...(type === 'text-delta' ? { delta: answer } : {}) });
          controller.enqueue({ type: 'finish', finishReason, usage });
          controller.close();
        },
      }),
    }),
  };
  const asked = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] } as never;
  const capped = cappedModel(plain, ledger, { account: 'app' });
  await capped.doGenerate(asked);
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({ requests: 1, tokens: 42, open: 0 });
  const parts: unknown[] = [];
  const { stream } = (await capped.doStream(asked)) as unknown as { stream: AsyncIterable<unknown> };
  for await (const part of stream) parts.push(part);
  expect(parts).toHaveLength(4);
  expect((await ledger.snapshotAccount('app')).usage).toMatchObject({ requests: 2, tokens: 84, open: 0 });
});
