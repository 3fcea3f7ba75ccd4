import { startSimulator, type Simulator } from '@stint/simulator';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { hookModel } from './hook-model.js';
import { openaiCompatible } from './openai-compatible.js';
import { collect, promptOf, Recorder, rejection } from './recorder.test.helper.js';
import type { HookOptions } from './model.js';
import type { ProviderHooks } from './types.js';

let simulator: Simulator;
let recorder: Recorder;
beforeAll(async () => {
  simulator = await startSimulator({ scenario: () => ({ text: 'hello' }) });
});
afterAll(() => simulator.close());
beforeEach(() => {
  recorder = new Recorder();
});

/** Hooks with one replaced; the bad one may have any type, as a hook in JavaScript may. */
function withHook(name: keyof ProviderHooks, hook: unknown, extra: object = {}): ProviderHooks {
  const hooks: ProviderHooks = {
    prepare: (request) => recorder.prepare(request),
    start: (handle) => recorder.start(handle),
    finish: (handle, response) => recorder.finish(handle, response),
    fail: (handle, error, facts) => recorder.fail(handle, error, facts),
  };
  return { ...hooks, [name]: hook, ...extra };
}

function ask(hooks: ProviderHooks, options: HookOptions = {}): Promise<unknown[]> {
  const provider = openaiCompatible({ name: 'sim', baseURL: simulator.url, apiKey: 'made-up' });
  return collect(hookModel(provider.chatModel('m'), hooks, options).stream({ prompt: promptOf('hi') }));
}

const badPrepares: readonly (readonly [string, unknown, string])[] = [
  ['throws', () => Promise.reject(new Error('guard crashed')), 'denied'],
  [
    'throws before it returns a promise',
    () => {
      throw new Error('guard crashed');
    },
    'denied',
  ],
  ['hangs', () => new Promise(() => undefined), 'hook_failed'],
  ['returns undefined', async () => undefined, 'hook_failed'],
  ['returns null', async () => null, 'hook_failed'],
  ['returns a decision', async () => ({ decision: 'maybe' }), 'hook_failed'],
  ['returns an empty id', async () => ({ id: '' }), 'hook_failed'],
];

test.each(badPrepares)(
  'case E05: a prepare hook that %s lets nothing through, and is named',
  async (_name, prepare, code) => {
    const served = simulator.requests().length;
    const error = await rejection(ask(withHook('prepare', prepare), { hookTimeoutMs: 30 }));
    expect(error).toMatchObject({ name: 'ProviderError', code, hook: 'prepare' });
    expect(String((error as Error).message)).toContain('prepare');
    expect(simulator.requests().length).toBe(served);
    expect(recorder.steps).toEqual([]);
  },
);

const badStarts: readonly (readonly [string, unknown, string])[] = [
  ['throws', () => Promise.reject(new Error('no budget')), 'denied'],
  ['hangs', () => new Promise(() => undefined), 'hook_failed'],
  ['returns a refusal instead of throwing it', async () => ({ allowed: false }), 'hook_failed'],
];

test.each(badStarts)(
  'case E05: a start hook that %s lets nothing through, and its request ends unsent',
  async (_name, start, code) => {
    const served = simulator.requests().length;
    const error = await rejection(ask(withHook('start', start), { hookTimeoutMs: 30 }));
    expect(error).toMatchObject({ code, hook: 'start', facts: { sent: false, proof: 'not_sent', usage: null } });
    expect(simulator.requests().length).toBe(served);
    expect(recorder.steps).toEqual(['prepare', `fail 1 ${code}`]);
  },
);

test('what start threw is the cause of the denial', async () => {
  const reason = new Error('over budget');
  expect(await rejection(ask(withHook('start', () => Promise.reject(reason))))).toMatchObject({ cause: reason });
});

test('a finish hook that throws makes the call fail, and fail is not called beside it', async () => {
  const error = await rejection(ask(withHook('finish', () => Promise.reject(new Error('disk full')))));
  expect(error).toMatchObject({ code: 'hook_failed', hook: 'finish' });
  expect(recorder.steps).toEqual(['prepare', 'start 1']);
});

test('case E05: an observer that throws, hangs or answers null stops nothing, and its errors are reported', async () => {
  for (const prepare of [() => Promise.reject(new Error('x')), () => new Promise(() => undefined), async () => null]) {
    const told: string[] = [];
    const hooks = withHook('prepare', prepare, { role: 'observer' });
    const events = await ask(hooks, { hookTimeoutMs: 30, onObserverError: (_error, hook) => told.push(hook) });
    expect(events.at(-1)).toMatchObject({ type: 'finish', turnId: null, response: { text: 'hello' } });
    expect(recorder.steps).toEqual([]);
    expect(told.length).toBeLessThanOrEqual(1);
  }
});
