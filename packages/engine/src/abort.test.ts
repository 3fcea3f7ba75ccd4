import { getEventListeners } from 'node:events';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { hookModel, type HookedModel, type HookOptions, type ModelCall } from '@stint/provider-hooks';
import { startSimulator, type Simulator } from '@stint/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runEngine } from './run-engine.js';
import { finish, httpError, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { EngineEvent, EngineOptions, RunEnd } from './types.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    scenario: ({ messages }) => {
      if (!messages.some((message) => message.role === 'tool'))
        return { text: 'first ', toolCalls: [{ name: 'look', input: {} }] };
      return { text: 'x'.repeat(400), pauseUntil: [{ afterPieces: 3, gate: 'never' }] };
    },
  });
});
afterAll(() => simulator.close());

const look = registryOf({ look: { readOnly: true, execute: () => 'seen' } });

function simulated(fails: string[] = [], options: HookOptions = {}): HookedModel {
  let count = 0;
  const hooks = {
    prepare: async () => ({ id: `${Math.random()}-${(count += 1)}` }),
    start: async () => undefined,
    finish: async () => void fails.push('finish'),
    fail: async (_handle: unknown, error: { code: string }, facts: { partialText: string }) =>
      void fails.push(`${error.code} ${facts.partialText.length}`),
  };
  return hookModel(
    openaiCompatible({ name: 'sim', baseURL: simulator.url, apiKey: 'made-up' }).chatModel('m'),
    hooks,
    options,
  );
}

/** Aborts on the first event that fits; answers the whole run. */
async function abortAt(
  options: EngineOptions,
  at: (event: EngineEvent) => boolean,
): Promise<{ end: RunEnd; after: string[] }> {
  const controller = new AbortController();
  const after: string[] = [];
  let end: RunEnd | null = null;
  for await (const event of runEngine({ prompt: 'go', ...options, signal: controller.signal })) {
    if (controller.signal.aborted) after.push(event.type);
    else if (at(event)) controller.abort(new Error('stop'));
    if (event.type === 'run-end') end = event;
  }
  return { end: end as RunEnd, after };
}

test('case E19: an abort in the second turn keeps its partial text and the usage of the first, with one terminal event', async () => {
  const steps: string[] = [];
  const stored: string[] = [];
  const options = {
    model: simulated(steps),
    tools: look,
    appendEntries: async (entries: readonly { kind: string }[]) =>
      void stored.push(...entries.map((entry) => entry.kind)),
  };
  const { end, after } = await abortAt(options, (event) => event.type === 'text-delta' && event.delta.startsWith('x'));
  expect(end).toMatchObject({ reason: 'aborted', error: { code: 'aborted', cause: { message: 'stop' } } });
  expect(end.usage.outputTokens).toBeGreaterThan(0);
  expect(end.text).toMatch(/^x+$/);
  expect(after).toEqual(['run-end']);
  expect(steps).toHaveLength(2);
  expect(steps[1]).toMatch(/^aborted [1-9]/);
  expect(stored).toEqual(['tool-result', 'partial']);
});

test('case Y08: what the watchdog ends is a failure of the request, not an abort', async () => {
  const steps: string[] = [];
  const patient = simulated(steps, { idleLimitMs: 20_000 });
  const hasty = simulated(steps, { idleLimitMs: 300 });
  // Only the turn that hangs has the short limit.
  const model = Object.create(patient, {
    stream: { value: (call: ModelCall) => (call.facts?.turnNumber === 2 ? hasty : patient).stream(call) },
  }) as HookedModel;
  const { end } = await finish({ model, tools: look, retry: { maxTries: 1 } });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'idle_timeout', retryable: true } });
  expect(steps[1]).toMatch(/^idle_timeout/);
});

test('case E07: aborting one run during a tool call, a stream or a retry wait leaves the other alone', async () => {
  const unhandled: unknown[] = [];
  const listener = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', listener);
  const hanging = registryOf({
    look: {
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
        ),
    },
  });
  const waiting = scriptedModel(() => ({ error: httpError(503) }));
  const other = finish({
    model: scriptedModel((index) => (index < 20 ? { calls: [{ tool: 'look', input: { index } }] } : { text: 'done' }))
      .model,
    tools: look,
  });
  const ends = await Promise.all([
    abortAt({ model: simulated(), tools: hanging }, (event) => event.type === 'tool-call-start'),
    abortAt({ model: simulated(), tools: look }, (event) => event.type === 'text-delta' && event.delta.startsWith('x')),
    abortAt({ model: waiting.model, retry: { baseDelayMs: 60_000 } }, (event) => event.type === 'retry'),
  ]);
  for (const { end } of ends) expect(end.reason).toBe('aborted');
  expect((await other).end.reason).toBe('completed');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', listener);
  expect(unhandled).toEqual([]);
});

test('an abort before the run begins sends nothing', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'x' }));
  const { end } = await finish({ model, signal: AbortSignal.abort(new Error('early')) });
  expect(end.reason).toBe('aborted');
  expect(requests).toEqual([]);
});

test('case Y10: whatever throws after turn-start, there is exactly one terminal event', async () => {
  const thrown = (error: unknown): HookedModel =>
    Object.create(scriptedModel(() => ({})).model, {
      stream: {
        value: () => {
          throw error as Error;
        },
      },
    }) as HookedModel;
  for (const error of [new TypeError('bug'), null, 'text']) {
    const { end } = await finish({ model: thrown(error) });
    expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed' } });
  }
});

test('case E29: 2 000 turns on one signal leave its listeners constant, without a warning', async () => {
  const controller = new AbortController();
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', onWarning);
  let most = 0;
  const { model } = scriptedModel((index) =>
    index % 20 < 19 ? { calls: [{ tool: 'look', input: { index } }] } : { text: 'done' },
  );
  for (let run = 0; run < 100; run += 1) {
    for await (const event of runEngine({ model, prompt: 'go', tools: look, signal: controller.signal })) {
      if (event.type === 'tool-call-end') most = Math.max(most, getEventListeners(controller.signal, 'abort').length);
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(most).toBe(1);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  expect(warnings).toEqual([]);
});

test('a consumer that leaves aborts the run, and its work has ended when the iteration has', async () => {
  let ended = false;
  const tools = registryOf({
    look: {
      execute: (_input, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => setTimeout(() => resolve((ended = true)), 10), { once: true }),
        ),
    },
  });
  const { model } = scriptedModel(() => ({ calls: [{ tool: 'look' }] }));
  const events = runEngine({ model, prompt: 'go', tools });
  for await (const event of events) {
    if (event.type === 'tool-call-start') setImmediate(() => void events.return?.());
    if (event.type === 'tool-call-end') throw new Error('nothing is handed over after the end');
  }
  await events.return?.();
  expect(ended).toBe(true);
});
