import { expect, test } from 'vitest';
import { finish, lines, registryOf, scriptedModel, type Finished } from './scripted-model.test.helper.js';
import type { EngineOptions } from './types.js';

const never = (): Promise<never> => new Promise(() => undefined);

/** Options that bring the run to each function that a caller may give. */
const functions: Readonly<Record<string, (fn: () => Promise<never>) => Partial<EngineOptions>>> = {
  drainInput: (fn) => ({ drainInput: fn }),
  drainBackground: (fn) => ({ drainBackground: fn }),
  closePendingInput: (fn) => ({ closePendingInput: fn }),
  operationStart: (fn) => ({ operationStart: fn }),
  operationEnd: (fn) => ({ operationEnd: fn }),
  appendEntries: (fn) => ({ appendEntries: fn, limits: { hookTimeoutMs: 50, maxTurns: 1 } }),
  budget: (fn) => ({ budget: fn }),
  budgetText: (fn) => ({ budgetText: fn }),
  compact: (fn) => ({ compact: fn, contextTokens: 400 }),
  'output.parse': (fn) => ({ output: { parse: fn } }),
  'tools.prepare': (fn) => ({ tools: { definitions: () => [], prepare: fn } }),
};
const names = Object.keys(functions);

/** A run with a call that changes something, an answer too long for `contextTokens`, and a JSON document as its end. */
function runWith(options: Partial<EngineOptions>): Promise<Finished> {
  const { model } = scriptedModel((index) => (index === 0 ? { calls: [{ tool: 'write' }] } : { text: '{}' }));
  const tools = registryOf({ write: { execute: () => 'x'.repeat(2_000) } });
  const limits = { hookTimeoutMs: 50, compactTimeoutMs: 50 };
  return finish({ model, tools, limits, ...options });
}

test.each(names)(
  'case E05: %s that hangs is given up after its limit, and the end of the run names it',
  async (name) => {
    const { end } = await runWith(functions[name]?.(never) ?? {});
    const late = { code: 'hook_failed', message: `${name} failed: it did not answer within 50 ms.` };
    if (name === 'appendEntries')
      expect(end.reason).toBe('paused'); // the first reason stands
    else expect(end.error).toMatchObject(late);
  },
);

/** What stores something is left its limit after an abort, or a few seconds; all others are left at once. */
const storing = new Set(['operationStart', 'operationEnd', 'appendEntries']);

test.each(names)(
  'case E05, case E07: %s that hangs hears the abort',
  async (name) => {
    const controller = new AbortController();
    const hang = (): Promise<never> => {
      setImmediate(() => controller.abort(new Error('stop')));
      return never();
    };
    const hookTimeoutMs = storing.has(name) ? 200 : 600_000;
    const limits = { hookTimeoutMs, compactTimeoutMs: 600_000, maxTurns: name === 'appendEntries' ? 1 : 5 };
    const { end } = await runWith({ ...functions[name]?.(hang), limits, signal: controller.signal });
    // The run was over when it came to store the rest: then the reason that it had stands.
    if (name === 'appendEntries') expect(end.reason).toBe('paused');
    else expect(end).toMatchObject({ reason: 'aborted', error: { code: 'aborted', cause: { message: 'stop' } } });
  },
  4_000,
); // shorter than what a function that stores is left

test('case E05: a call whose operation does not begin in time is not run, and a late begin is ended as without effect', async () => {
  let ran = 0;
  let begin = (): void => undefined;
  const ends: string[] = [];
  const ended = new Promise<void>((resolve) => {
    const operationEnd = async (_call: unknown, outcome: { effect: string; entry: { key: string } }): Promise<void> => {
      ends.push(`${outcome.effect} ${outcome.entry.key}`);
      resolve();
    };
    const { model, requests } = scriptedModel(() => ({ calls: [{ tool: 'write' }, { tool: 'write' }] }));
    void finish({
      model,
      tools: registryOf({ write: { execute: () => (ran += 1) } }),
      limits: { hookTimeoutMs: 30 },
      operationStart: () => new Promise<void>((resolveStart) => (begin = resolveStart)),
      operationEnd,
    }).then(({ end, events }) => {
      expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed' } });
      expect(requests).toHaveLength(1);
      expect(events.flatMap((event) => (event.type === 'tool-call-end' ? [event.ran] : []))).toEqual([false, false]);
      expect(lines(end.entries.map((entry) => entry.message)).at(-1)).toMatch(/^result: Not run/);
      expect(ends).toEqual([]);
      begin();
    });
  });
  await ended;
  expect(ran).toBe(0);
  expect(ends).toEqual(['no_effect result:t1:0']);
});

test('a compaction that is given up hears of it, so that it asks no model any longer', async () => {
  let reason: unknown;
  const compact = (_request: unknown, signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => (reason = signal.reason), { once: true });
    return never();
  };
  await runWith({ compact, contextTokens: 400 });
  expect(reason).toMatchObject({ code: 'hook_failed' });
});

test('functions that answer at once, without a promise, are taken as they are', async () => {
  const { end } = await runWith({
    drainInput: (() => []) as never,
    closePendingInput: (() => true) as never,
    budgetText: () => 'plenty',
    operationStart: (() => undefined) as never,
  });
  expect(end.reason).toBe('completed');
});
