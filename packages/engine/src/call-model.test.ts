import { type Budget, ProviderError, type ProviderHooks } from '@stint/provider-hooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { outputOf } from './output-of.js';
import { retryDelayMs } from './retry-delay.js';
import { finish, httpError, lines, registryOf, scriptedModel, type Script } from './scripted-model.test.helper.js';
import { runEngine } from './run-engine.js';
import type { EngineOptions } from './types.js';

const cut = Object.assign(new Error('terminated'), { name: 'AI_APICallError', statusCode: 200 });

/** Fails so often, then answers. */
function failing(times: number, error: unknown, script: Script = {}): ReturnType<typeof scriptedModel> {
  return scriptedModel((index) => (index < times ? { ...script, error } : { text: 'done' }));
}

/** A run whose waits are written down instead of waited. */
async function withWaits(
  options: EngineOptions,
): Promise<{ readonly waits: number[] } & Awaited<ReturnType<typeof finish>>> {
  const waits: number[] = [];
  const ports = { sleep: async (ms: number) => void waits.push(ms), random: () => 0.5, now: () => 1_000_000 };
  return { ...(await finish({ retry: { baseDelayMs: 1000 }, ...options, ports })), waits };
}

test('case E13: without Retry-After the waits double, with jitter, and the tries are bounded', async () => {
  const { model, requests } = failing(99, httpError(503));
  const { waits, end } = await withWaits({ model });
  expect(waits).toEqual([1125, 2250, 4500]);
  expect(requests).toHaveLength(4);
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'overloaded', retryable: true }, requests: 4 });
});

test.each([
  ['5', 5000],
  ['0.5', 500],
])('case E13: Retry-After %s is waited for at least, plus jitter', async (value, askedMs) => {
  const { waits, end } = await withWaits({ model: failing(1, httpError(429, { 'retry-after': value })).model });
  expect(waits[0]).toBeGreaterThan(askedMs);
  expect(waits[0]).toBeLessThan(askedMs * 1.5);
  expect(end.reason).toBe('completed');
});

test('case E13: Retry-After as a date is waited for', async () => {
  const date = new Date(Date.now() + 5000).toUTCString();
  const { waits } = await withWaits({ model: failing(1, httpError(429, { 'retry-after': date })).model });
  expect(waits[0]).toBeGreaterThan(3500);
});

test('case E13: a garbled Retry-After falls back to the own waits', async () => {
  const { waits } = await withWaits({ model: failing(1, httpError(429, { 'retry-after': 'soon' })).model });
  expect(waits).toEqual([1125]);
});

test('case E13: a longer wait than a minute ends the run as deferred, with the time to go on', async () => {
  const { model, requests, steps } = failing(1, httpError(429, { 'retry-after': '3600' }));
  const { end, waits } = await withWaits({ model });
  expect(end).toMatchObject({
    reason: 'deferred',
    notBefore: 1_000_000 + 3_600_000,
    error: { code: 'deferred', retryable: true },
  });
  expect(waits).toEqual([]);
  expect(requests).toHaveLength(1);
  expect(steps.at(-1)).toBe('fail t1 rate_limited');
});

test('the wait is at least what is asked for, whatever the jitter', () => {
  const facts = {
    sent: true,
    status: 429,
    refusedByProvider: true,
    proof: 'refused',
    usage: null,
    retryAfterMs: 700,
    partialText: '',
  } as const;
  const error = new ProviderError('rate_limited', 'x', { retryable: true, facts });
  const retry = { maxTries: 4, baseDelayMs: 1000, maxDelayMs: 30_000, deferAfterMs: 60_000 };
  for (const random of [0, 0.5, 0.999]) expect(retryDelayMs(error, 1, retry, () => random)).toBeGreaterThanOrEqual(700);
});

test.each([400, 401, 403, 404, 413, 422])('status %s is not tried again', async (status) => {
  const { model, requests } = failing(99, httpError(status));
  expect((await finish({ model })).end.reason).toBe('failed');
  expect(requests).toHaveLength(1);
});

test('case L19: each try is a request of its own that names the one before', async () => {
  const { model, steps } = failing(2, httpError(500));
  const { end, events } = await finish({ model });
  expect(steps).toEqual([
    'prepare',
    'start t1',
    'fail t1 server_error',
    'prepare',
    'start t2',
    'fail t2 server_error',
    'prepare',
    'start t3',
    'finish t3',
  ]);
  expect(end.requests).toBe(3);
  expect(events.filter((event) => event.type === 'turn-start').map((event) => event.attempt)).toEqual([1, 2, 3]);
});

test('case E17: what was shown of a broken answer is kept and continued, not asked for again', async () => {
  const { model, requests } = scriptedModel((index) =>
    index === 0 ? { text: 'one two ', error: cut, afterText: true } : { text: 'three' },
  );
  const { end, events } = await finish({ model });
  const prompt = lines(requests[1]?.prompt ?? []);
  expect(prompt.slice(0, 2)).toEqual(['user: go', 'assistant: one two ']);
  expect(prompt[2]).toMatch(/^user: Your answer was interrupted/);
  expect(end.text).toBe('one two three');
  expect(events.filter((event) => event.type === 'text-delta').map((event) => event.delta)).toEqual([
    'one two ',
    'three',
  ]);
  expect(end.entries.map((entry) => entry.kind)).toEqual(['input', 'partial', 'note', 'response']);
});

test('half a JSON document is asked for anew', async () => {
  const { model, requests } = scriptedModel((index) =>
    index === 0 ? { text: '{"a":', error: cut, afterText: true } : { text: '{"a":1}' },
  );
  const { end } = await finish({ model, output: { parse: (value) => value } });
  expect(lines(requests[1]?.prompt ?? [])).toEqual(['user: go']);
  expect(end.output).toEqual({ a: 1 });
});

test('a finished call is not repeated when the request after it fails', async () => {
  let ran = 0;
  const tools = registryOf({ write: { execute: () => (ran += 1) } });
  const { model } = scriptedModel((index) => {
    if (index === 0) return { calls: [{ tool: 'write' }] };
    return index < 3 ? { error: httpError(500) } : { text: 'done' };
  });
  await finish({ model, tools });
  expect(ran).toBe(1);
});

describe('a fallback model', () => {
  test('is asked when the tries of the first are used up, with requests of its own', async () => {
    const first = failing(99, httpError(529));
    const second = scriptedModel(() => ({ text: 'from b' }), { name: 'b' });
    const { end, events } = await finish({
      model: first.model,
      fallbackModels: [second.model],
      retry: { maxTries: 2, baseDelayMs: 1 },
    });
    expect(end).toMatchObject({ reason: 'completed', text: 'from b' });
    expect([first.requests.length, second.requests.length]).toEqual([2, 1]);
    expect(second.steps).toEqual(['prepare', 'start b1', 'finish b1']);
    expect(events.filter((event) => event.type === 'usage').at(-1)).toMatchObject({ model: 'b' });
  });

  test('is asked instead of a long wait', async () => {
    const first = failing(99, httpError(429, { 'retry-after': '3600' }));
    const second = scriptedModel(() => ({ text: 'from b' }), { name: 'b' });
    const { end } = await finish({ model: first.model, fallbackModels: [second.model] });
    expect(end.text).toBe('from b');
  });

  test('is not asked when the request itself is refused', async () => {
    const second = scriptedModel(() => ({ text: 'from b' }));
    const { end } = await finish({ model: failing(99, httpError(400)).model, fallbackModels: [second.model] });
    expect(end.reason).toBe('failed');
    expect(second.requests).toEqual([]);
  });
});

test('case Y11: usage is summed over answers, failed requests count as requests, and those without usage are told', async () => {
  const { model } = scriptedModel((index) => {
    if (index === 0) return { error: httpError(500) };
    return index === 1 ? { calls: [{ tool: 'x' }], outputTokens: 10 } : { text: 'done', outputTokens: null };
  });
  const { end } = await finish({ model });
  expect(end).toMatchObject({
    requests: 3,
    usage: { inputTokens: 3, outputTokens: 10, totalTokens: 13 },
    unmeasuredTurns: 2,
  });
});

test('case Y04: a request is fixed before turn-start; what a consumer changes then is for the next one', async () => {
  const settings = { maxOutputTokens: 10 };
  const { model, requests } = scriptedModel((index) => (index === 0 ? { calls: [{ tool: 'x' }] } : { text: 'done' }));
  for await (const event of runEngine({ model, prompt: 'go', settings })) {
    if (event.type === 'turn-start') settings.maxOutputTokens += 1;
  }
  expect(requests.map((request) => request.settings['maxOutputTokens'])).toEqual([10, 11]);
});

test('case Y02: a consumer that leaves at the turn-start of a retry has sent and stored nothing more', async () => {
  const { model, requests, steps } = scriptedModel((index) =>
    index === 0 ? { text: 'half', error: cut, afterText: true } : { text: 'x' },
  );
  const stored: string[] = [];
  const events = runEngine({
    model,
    prompt: 'go',
    retry: { baseDelayMs: 1 },
    appendEntries: async (entries) => void stored.push(...entries.map((entry) => entry.kind)),
  });
  for await (const event of events) if (event.type === 'turn-start' && event.attempt === 2) break;
  expect(requests).toHaveLength(1);
  expect(steps.filter((step) => step.startsWith('start'))).toEqual(['start t1']);
  // What was shown is kept; nothing of the request that never left claims to have been sent.
  expect(stored).toEqual(['input', 'partial', 'note']);
});

test('a denial by a hook ends the run as denied, with what the hook threw', async () => {
  const reason = new Error('over budget');
  const { model } = scriptedModel(() => ({ text: 'x' }));
  const denied = Object.create(model, {
    stream: {
      value: () => ({
        next: () => Promise.reject(new ProviderError('denied', 'no', { hook: 'start', cause: reason })),
      }),
    },
  }) as typeof model;
  const { end, types } = await finish({ model: denied });
  expect(end).toMatchObject({ reason: 'denied', error: { code: 'denied', hook: 'start', cause: reason }, requests: 0 });
  expect(types).toEqual(['turn-start', 'run-end']);
});

test('an answer cut by the output limit is continued three times, then the run fails with what there is', async () => {
  const { model, requests } = scriptedModel((index) => ({
    text: `${index} `,
    finishReason: index < 3 ? 'length' : 'stop',
  }));
  expect((await finish({ model })).end).toMatchObject({ reason: 'completed', text: '0 1 2 3 ' });
  expect(requests).toHaveLength(4);
  const endless = scriptedModel((index) => ({ text: `${index} `, finishReason: 'length' }));
  expect((await finish({ model: endless.model })).end).toMatchObject({
    reason: 'failed',
    error: { code: 'output_limit' },
    text: '0 1 2 3 ',
  });
  expect(endless.requests).toHaveLength(4);
});

test('answers that end at the output limit after a whole call are steps forward, and need no continuation', async () => {
  let ran = 0;
  const tools = registryOf({ write: { execute: () => (ran += 1) } });
  const { model, requests } = scriptedModel((index) =>
    index < 6
      ? {
          calls: [
            { tool: 'write', input: { index } },
            { tool: 'write', rawInput: '{"cut' },
          ],
          finishReason: 'length',
        }
      : { text: 'done' },
  );
  const { end } = await finish({ model, tools });
  expect(end).toMatchObject({ reason: 'completed', text: 'done' });
  expect([ran, requests.length]).toEqual([6, 7]);
  const endless = scriptedModel(() => ({ calls: [{ tool: 'write', rawInput: '{"cut' }], finishReason: 'length' }));
  expect((await finish({ model: endless.model, tools })).end).toMatchObject({ error: { code: 'output_limit' } });
  expect(endless.requests).toHaveLength(4);
});

test('the number of turns is bounded', async () => {
  const { model, requests } = scriptedModel((index) => ({ calls: [{ tool: `tool-${index}`, input: { index } }] }));
  const { end } = await finish({ model, limits: { maxTurns: 3 } });
  expect(end).toMatchObject({ reason: 'paused', error: { code: 'turns_exhausted' }, turnNumber: 3 });
  expect(requests).toHaveLength(3);
});

test('budget text reaches the model in each request and stays out of the history', async () => {
  let left = 10;
  const { model, requests } = scriptedModel((index) => (index === 0 ? { calls: [{ tool: 'x' }] } : { text: 'done' }));
  const { end } = await finish({ model, budgetText: () => `left: ${(left -= 1)}` });
  expect(requests.map((request) => lines(request.prompt).at(-1))).toEqual(['user: left: 9', 'user: left: 8']);
  expect(JSON.stringify(end.entries)).not.toContain('left:');
});

test('a final answer of another shape is corrected once', async () => {
  const output = {
    name: 'answer',
    schema: { type: 'object' },
    parse: (value: unknown) => {
      if (typeof (value as { n?: unknown }).n !== 'number') throw new Error('n must be a number');
      return value;
    },
  };
  const answers = ['nonsense', '{"n":1}'];
  const good = scriptedModel((index) => ({ text: answers[index] as string }));
  const { end } = await finish({ model: good.model, output });
  expect(end).toMatchObject({ reason: 'completed', output: { n: 1 }, text: '{"n":1}' });
  expect(good.requests[0]?.settings['responseFormat']).toEqual({
    type: 'json',
    name: 'answer',
    schema: { type: 'object' },
  });
  const bad = scriptedModel(() => ({ text: '{"n":"x"}' }));
  expect((await finish({ model: bad.model, output })).end).toMatchObject({
    reason: 'failed',
    error: { code: 'output_invalid' },
  });
  expect(lines(bad.requests[1]?.prompt ?? []).at(-1)).toContain('n must be a number');
});

test('a shape may be a zod schema or a JSON Schema; what does not fit is named by its field', async () => {
  const shapes = [
    z.object({ n: z.number().transform((n) => n * 2) }),
    { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  ] as const;
  for (const [index, shape] of shapes.entries()) {
    const answers = ['{"n":"x"}', '{"n":4}'];
    const { model, requests } = scriptedModel((at) => ({ text: answers[at] as string }));
    const { end } = await finish({ model, output: outputOf(shape, 'reply') });
    expect(end).toMatchObject({ reason: 'completed', output: { n: index === 0 ? 8 : 4 } });
    expect(requests[0]?.settings['responseFormat']).toMatchObject({
      name: 'reply',
      schema: { properties: { n: { type: 'number' } }, required: ['n'] },
    });
    expect(lines(requests[1]?.prompt ?? []).at(-1)).toMatch(/refused: .*\bn\b/);
  }
});

test('how the budget stands is asked before each request, and told to hooks, to compact and to the budget text', async () => {
  const seen: unknown[] = [];
  const left = (tokens: number): Budget => ({
    spentTokens: 100 - tokens,
    remainingTokens: tokens,
    spentCostMicros: null,
    remainingCostMicros: null,
    remainingRequests: null,
  });
  let tokens = 100;
  const hooks: ProviderHooks = {
    prepare: async ({ budget }) => {
      seen.push(['hook', budget?.remainingTokens, Object.isFrozen(budget)]);
      return { id: `b${seen.length}` };
    },
    start: async () => undefined,
    finish: async () => undefined,
    fail: async () => undefined,
  };
  const { model, requests } = scriptedModel((index) => (index === 0 ? { calls: [{ tool: 'x' }] } : { text: 'done' }), {
    hooks: hooks as ProviderHooks<never>,
  });
  const { end, events } = await finish({
    model,
    budget: async () => left((tokens -= 10)),
    budgetText: (budget) => `left: ${budget?.remainingTokens}`,
    contextTokens: 60,
    compact: async ({ budget }) => {
      seen.push(['compact', budget?.remainingTokens]);
      return { summary: 'short', keep: 0 };
    },
    costOf: ({ usage }) => (usage?.totalTokens ?? 0) * 3,
  });
  expect(seen).toEqual([
    ['hook', 90, true],
    ['compact', 80],
    ['hook', 80, true],
  ]);
  expect(requests.map((request) => lines(request.prompt).at(-1))).toEqual(['user: left: 90', 'user: left: 80']);
  expect(events.flatMap((event) => (event.type === 'usage' ? [event.costMicros] : []))).toEqual([15, 15]);
  expect(end).toMatchObject({ reason: 'completed', costMicros: 30 });
});

test('without prices no cost is told, and a budget that cannot be had ends the run before a request', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'done' }));
  expect((await finish({ model })).end.costMicros).toBeNull();
  expect((await finish({ model, costOf: () => null })).end.costMicros).toBeNull();
  const before = requests.length;
  const { end } = await finish({ model, budget: () => Promise.reject(new Error('no ledger')) });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed', message: 'budget failed: no ledger' } });
  expect(requests).toHaveLength(before);
});

test('options that cannot be are refused by name at once', () => {
  const { model } = scriptedModel(() => ({}));
  expect(() => runEngine({ model, limits: { maxRepeats: 0 } })).toThrow(/limits\.maxRepeats is 0/);
  expect(() => runEngine({ model, retry: { maxTries: 1.5 } })).toThrow(/retry\.maxTries is 1\.5/);
});

test('case E19: an answer that could not be stored is counted, and what it said is kept', async () => {
  const stored: string[] = [];
  const hooks = {
    prepare: async () => ({ id: 'only' }),
    start: async () => undefined,
    finish: () => Promise.reject(new Error('disk full')),
    fail: async () => undefined,
  };
  const { model } = scriptedModel(() => ({ text: 'paid for' }), { hooks: hooks as never });
  const appendEntries = async (entries: readonly { readonly key: string }[]) =>
    void stored.push(...entries.map(({ key }) => key));
  const { end } = await finish({ model, appendEntries });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed' }, requests: 1, text: 'paid for' });
  expect(end.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
  expect(stored).toEqual(['prompt', 'partial:only']);
});
