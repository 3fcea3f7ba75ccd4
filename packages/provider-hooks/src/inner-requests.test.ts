import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSimulator } from '@stint/simulator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hookModel } from './hook-model.js';
import { hookProvider } from './hook-provider.js';
import { createHookedFetch } from './hooked-fetch.js';
import type { HookOptions, LanguageModelLike } from './model.js';
import { openai } from './openai.js';
import { openaiCompatible } from './openai-compatible.js';
import { collect, type FakeModel, fakeModel, partsOf, promptOf, Recorder, rejection } from './recorder.test.helper.js';
import { recheckCall } from './recheck-call.js';
import type { ProviderHooks, TurnHandle } from './types.js';

let recorder: Recorder;
let seen: unknown[];
const servers: Server[] = [];

beforeEach(() => {
  recorder = new Recorder();
  seen = [];
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    seen.push(request.headers['x-client-request-id']);
    listener(request, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** 401 first, then whatever `second` does. */
const signInAgain =
  (second: RequestListener): RequestListener =>
  (request, response) => {
    if (seen.length > 1) return second(request, response);
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
  };

/** A provider that signs in again on 401, whatever becomes of that. */
function twice(fetch: typeof globalThis.fetch, url: string, swallow = false): FakeModel {
  const model = fakeModel('v3', () => partsOf([]));
  model.doGenerate = async () => {
    const first = await fetch(url);
    if (first.status === 401) {
      const second = fetch(url);
      await (swallow ? second.catch(() => undefined) : second);
    }
    return {
      content: [{ type: 'text', text: 'ok' }],
      finishReason: { unified: 'stop' },
      usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
    };
  };
  return model;
}

function marked(url: string, swallow = false): LanguageModelLike {
  return hookProvider((fetch) => ({ model: () => twice(fetch, url, swallow) })).model();
}

function ask(
  model: LanguageModelLike,
  hooks: ProviderHooks = recorder,
  options: HookOptions = {},
  signal?: AbortSignal,
) {
  return collect(
    hookModel(model, hooks, options).stream({ prompt: promptOf('hi'), stream: false, ...(signal ? { signal } : {}) }),
  );
}

/** The recorder's hooks with some replaced, its own told first. */
function withHooks(extra: Partial<ProviderHooks>): ProviderHooks {
  return {
    prepare: (request) => recorder.prepare(request),
    start: (handle) => recorder.start(handle),
    finish: (handle, response) => recorder.finish(handle, response),
    fail: (handle, error, facts) => recorder.fail(handle, error, facts),
    ...extra,
  };
}

describe('the second request inside one call', () => {
  test('is ended by an abort like the first one', async () => {
    const controller = new AbortController();
    const url = await serve(signInAgain(() => controller.abort(new Error('enough'))));
    const error = await rejection(ask(marked(url), recorder, {}, controller.signal));
    expect(error).toMatchObject({ code: 'aborted', facts: { sent: true, proof: null }, turnId: recorder.id(2) });
    expect(recorder.steps.slice(-2)).toEqual(['start 2', 'fail 2 aborted']);
  });

  test('case E17: has limits of its own', async () => {
    const url = await serve(signInAgain(() => undefined));
    expect(await rejection(ask(marked(url), recorder, { wholeLimitMs: 200 }))).toMatchObject({ code: 'idle_timeout' });
    expect(recorder.steps.at(-1)).toBe('fail 2 idle_timeout');
  });

  test('does not leave after an abort that came with the first one', async () => {
    const controller = new AbortController();
    const url = await serve(signInAgain(() => undefined));
    const hooks = withHooks({
      fail: async (handle, error, facts) => {
        await recorder.fail(handle, error, facts);
        controller.abort();
      },
    });
    expect(await rejection(ask(marked(url), hooks, {}, controller.signal))).toMatchObject({ code: 'aborted' });
    expect(seen).toEqual([recorder.id(1)]);
    expect(recorder.steps.filter((step) => step.startsWith('start'))).toEqual(['start 1']);
    expect(recorder.steps.filter((step) => step.startsWith('fail 1'))).toHaveLength(1);
  });

  test.each(['prepare', 'start'] as const)('does not leave when its %s denies it, and ends the call', async (hook) => {
    const url = await serve(signInAgain(() => undefined));
    let calls = 0;
    const deny = <T>(own: () => Promise<T>): Promise<T> =>
      (calls += 1) === 2 ? Promise.reject(new Error('no lease')) : own();
    const hooks = withHooks({
      prepare: (request) => (hook === 'prepare' ? deny(() => recorder.prepare(request)) : recorder.prepare(request)),
      start: (handle) => (hook === 'start' ? deny(() => recorder.start(handle)) : recorder.start(handle)),
    });
    for (const swallow of [false, true]) {
      recorder = new Recorder();
      seen = [];
      calls = 0;
      expect(await rejection(ask(marked(url, swallow), hooks))).toMatchObject({ code: 'denied', hook });
      expect(seen).toEqual([recorder.id(1)]);
      expect(recorder.steps.filter((step) => step.startsWith('fail 1'))).toHaveLength(1);
      expect(recorder.responses).toEqual([]);
    }
  });
});

describe('a model whose boundary is the invocation', () => {
  const answers: RequestListener = (_request, response) => void response.writeHead(200).end('{}');
  const refusing = (allowed: number) => (): Promise<void> =>
    (allowed -= 1) < 0 ? Promise.reject(new Error('the lease is lost')) : Promise.resolve();

  test('is sent by its first fetch without being paid for again, and a further one is a request of its own', async () => {
    const url = await serve(signInAgain(answers));
    await ask(twice(createHookedFetch(), url));
    expect(seen).toEqual([recorder.id(1), recorder.id(2)]);
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 unauthorized', 'prepare', 'start 2', 'finish 2']);
  });

  test('asks again at its first fetch: what was stopped in between does not leave', async () => {
    const url = await serve(answers);
    const error = await rejection(ask(twice(createHookedFetch(), url), withHooks({ recheck: refusing(0) })));
    expect(error).toMatchObject({ code: 'denied', hook: 'recheck' });
    expect(seen).toEqual([]);
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 denied']);
  });

  test("asks again at a provider's own callbacks, and pays nothing for it", async () => {
    const steps = (count: number): LanguageModelLike => {
      const model = fakeModel('v3', () => partsOf([]));
      model.doGenerate = async () => {
        for (let step = 0; step < count; step += 1) {
          await recheckCall();
          seen.push(step);
        }
        return { content: [{ type: 'text', text: 'ok' }], finishReason: { unified: 'stop' }, usage: {} };
      };
      return model;
    };
    await ask(steps(3), withHooks({ recheck: refusing(3) }));
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'finish 1']);
    seen = [];
    expect(await rejection(ask(steps(3), withHooks({ recheck: refusing(1) })))).toMatchObject({ hook: 'recheck' });
    expect(seen).toEqual([0]);
    expect(recorder.steps.slice(-3)).toEqual(['prepare', 'start 2', 'fail 2 denied']);
    await expect(recheckCall()).resolves.toBeUndefined();
  });
});

describe('the end of a request that cannot be stored', () => {
  const failing = (times: number, error: Error) => (): Promise<void> =>
    (times -= 1) >= 0 ? Promise.reject(error) : Promise.resolve();
  const busy = Object.assign(new Error('store busy'), { retryable: true });

  test('is stored again while the hook says that this may help', async () => {
    const model = fakeModel('v3', () => partsOf(['ok']));
    const again = failing(2, busy);
    let finishes = 0;
    await collect(
      hookModel(model, withHooks({ finish: () => ((finishes += 1), again()) })).stream({ prompt: promptOf('hi') }),
    );
    expect(finishes).toBe(3);
    let failures = 0;
    const failAgain = failing(1, busy);
    const hooks = withHooks({ fail: () => ((failures += 1), failAgain()) });
    const broken = fakeModel('v3', () => [{ type: 'text-start', id: '1' }]);
    expect(await rejection(collect(hookModel(broken, hooks).stream({ prompt: promptOf('hi') })))).toMatchObject({
      code: 'connection',
    });
    expect(failures).toBe(2);
  });

  test('ends the call by name, a bounded number of tries later, and at once for any other error', async () => {
    const model = fakeModel('v3', () => partsOf(['ok']));
    for (const [error, tries] of [
      [busy, 3],
      [new Error('bug'), 1],
    ] as const) {
      let finishes = 0;
      const hooks = withHooks({ finish: () => ((finishes += 1), Promise.reject(error)) });
      const call = hookModel(model, hooks, { hookTimeoutMs: 900 }).stream({ prompt: promptOf('hi') });
      const thrown = (await rejection(collect(call))) as Error;
      expect(thrown).toMatchObject({ code: 'hook_failed', hook: 'finish', cause: error });
      expect(thrown.message).toContain('not stored');
      expect(finishes).toBe(tries);
    }
  });
});

test('the id under which the provider keeps an answer is told once, before anything of the answer', async () => {
  await using simulator = await startSimulator({ scenario: () => ({ text: 'hello there' }) });
  const order: string[] = [];
  const hooks = withHooks({
    identified: async (_handle: TurnHandle, responseId: string) => void order.push(responseId),
  });
  for (const model of [
    openai({ baseURL: simulator.url, apiKey: 'made-up' })('m'),
    openaiCompatible({ name: 'sim', baseURL: simulator.url, apiKey: 'made-up' }).chatModel('m'),
  ]) {
    order.length = 0;
    for await (const event of hookModel(model, hooks).stream({ prompt: promptOf('hi') })) order.push(event.type);
    expect(order[0]).toMatch(/^sim_/);
    expect(order.slice(1)).toEqual(['text-delta', 'finish']);
  }
});

test('a note of that id that cannot be taken stops nothing, and is reported', async () => {
  await using simulator = await startSimulator({ scenario: () => ({ text: 'hello' }) });
  const told: string[] = [];
  const hooks = withHooks({ identified: () => Promise.reject(new Error('store busy')) });
  const model = openai({ baseURL: simulator.url, apiKey: 'made-up' })('m');
  const options: HookOptions = { onObserverError: (_error, hook) => told.push(hook) };
  await collect(hookModel(model, hooks, options).stream({ prompt: promptOf('hi') }));
  expect(told).toEqual(['identified']);
  expect(recorder.steps.at(-1)).toBe('finish 1');
});
