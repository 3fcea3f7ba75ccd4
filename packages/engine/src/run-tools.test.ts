import { expect, test } from 'vitest';
import { createRunControl } from './run-control.js';
import { finish, lines, registryOf, scriptedModel, type Script } from './scripted-model.test.helper.js';
import type { EngineToolCall } from './types.js';

const done: Script = { text: 'done' };

/** One answer with these calls, then `done`. */
function calling(...tools: readonly string[]): ReturnType<typeof scriptedModel> {
  return scriptedModel((index) => (index === 0 ? { calls: tools.map((tool) => ({ tool })) } : done));
}

test('read-only calls that may run beside each other do, at most four at once; all others run alone, in order', async () => {
  let running = 0;
  let most = 0;
  const order: string[] = [];
  const tool = (name: string, facts: object) => ({
    ...facts,
    execute: async () => {
      running += 1;
      most = Math.max(most, running);
      order.push(name);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      if (facts !== parallel && running > 0) throw new Error('was not alone');
      return name;
    },
  });
  const parallel = { readOnly: true, concurrencySafe: true };
  const tools = registryOf({
    read: tool('read', parallel),
    write: tool('write', {}),
    slow: tool('slow', { readOnly: true }),
  });
  const names = ['read', 'read', 'read', 'read', 'read', 'read', 'write', 'read', 'slow', 'read'];
  const { end } = await finish({ model: calling(...names).model, tools });
  expect(most).toBe(4);
  expect(order).toEqual(names);
  expect(end.entries.filter((entry) => entry.kind === 'tool-result')).toHaveLength(names.length);
});

test('case Y20: a call that changes something is journaled before it starts and ended after it, one that reads is not', async () => {
  const steps: string[] = [];
  const tools = registryOf({
    read: { readOnly: true, execute: () => steps.push('read runs') },
    write: { execute: () => steps.push('write runs') },
    note: { sideEffectScope: 'run', execute: () => steps.push('note runs') },
  });
  const { model } = calling('read', 'write', 'note');
  await finish({
    model,
    tools,
    operationStart: async ({ tool, turnId, callIndex }) => void steps.push(`${tool} starts ${turnId}/${callIndex}`),
    operationEnd: async ({ tool }, { effect, entry }) => void steps.push(`${tool} ${effect} ${entry.key}`),
  });
  expect(steps).toEqual(['read runs', 'write starts t1/1', 'write runs', 'write applied result:t1:1', 'note runs']);
});

test('case E05: a call whose operation cannot start is not run, and the model is told why', async () => {
  let ran = 0;
  const tools = registryOf({ write: { execute: () => (ran += 1) } });
  const { model, requests } = calling('write');
  const { events } = await finish({
    model,
    tools,
    operationStart: () => Promise.reject(new Error('no lease')),
    operationEnd: () => Promise.reject(new Error('must not be called')),
  });
  expect(ran).toBe(0);
  expect(lines(requests[1]?.prompt ?? []).at(-1)).toBe('result: Not run: operationStart refused the call: no lease');
  expect(events.find((event) => event.type === 'tool-call-end')).toMatchObject({ ran: false, result: { ok: false } });
});

test('the effect of a call is applied, none or unknown by what the tool proves', async () => {
  const effects: string[] = [];
  const failWith = (errorEffect: 'none' | 'unknown') => ({ execute: () => ({ error: 'no', errorEffect }) });
  const tools = registryOf({ ok: { execute: () => 'x' }, none: failWith('none'), unknown: failWith('unknown') });
  await finish({
    model: calling('ok', 'none', 'unknown').model,
    tools,
    operationEnd: async (_call, { effect }) => void effects.push(effect),
  });
  expect(effects).toEqual(['applied', 'no_effect', 'unknown']);
});

test('case E21: an abort lets no further call run; each of the rest is recorded as not run', async () => {
  const controller = new AbortController();
  let ran = 0;
  const signals: AbortSignal[] = [];
  const tools = registryOf({
    rename: {
      execute: (_input, { signal }) => {
        signals.push(signal);
        ran += 1;
        if (ran === 3) controller.abort(new Error('stop'));
        return 'renamed';
      },
    },
  });
  const { model, requests } = calling(...Array.from({ length: 50 }, () => 'rename'));
  const stored: string[] = [];
  const { end, events } = await finish({
    model,
    tools,
    signal: controller.signal,
    appendEntries: async (entries) => void stored.push(...entries.map((entry) => entry.key)),
  });
  expect(ran).toBe(3);
  expect(signals.at(-1)?.aborted).toBe(true);
  expect(end.reason).toBe('aborted');
  expect(requests).toHaveLength(1);
  expect(events.filter((event) => event.type === 'tool-call-end' && !event.ran)).toHaveLength(47);
  expect(stored.filter((key) => key.startsWith('result:'))).toHaveLength(50);
});

test('case Y14, case Y19: a fatal time-out records its result, the rest is not run, and the run ends with a typed error', async () => {
  const ran: string[] = [];
  const tools = registryOf({
    slow: {
      timeoutMs: 20,
      execute: (_input, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    },
    next: { execute: () => ran.push('next') },
  });
  const { model, requests } = calling('slow', 'next');
  const effects: string[] = [];
  const { end, events } = await finish({
    model,
    tools,
    operationEnd: async (_call, { effect }) => void effects.push(effect),
  });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'tool_fatal', retryable: false } });
  expect(effects).toEqual(['unknown']);
  expect(ran).toEqual([]);
  expect(requests).toHaveLength(1);
  expect(events.filter((event) => event.type === 'tool-call-end').map((event) => event.ran)).toEqual([true, false]);
});

test('a result that cannot be stored ends the run before another call or request', async () => {
  const tools = registryOf({ write: { execute: () => 'x' } });
  const { model, requests } = calling('write', 'write');
  const { end, events } = await finish({ model, tools, operationEnd: () => Promise.reject(new Error('disk full')) });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed' } });
  expect(end.error?.message).toContain('disk full');
  expect(requests).toHaveLength(1);
  expect(events.filter((event) => event.type === 'tool-call-end').map((event) => event.ran)).toEqual([true, false]);
});

test('case E11: a call that the output limit cut is neither repaired nor run', async () => {
  const ran: unknown[] = [];
  const tools = registryOf({ write: { execute: (input) => ran.push(input) } });
  const { model, requests } = scriptedModel((index) =>
    index === 0
      ? {
          finishReason: 'length',
          calls: [
            { tool: 'write', input: { path: 'a' } },
            { tool: 'write', rawInput: '{"path":"/et' },
          ],
        }
      : done,
  );
  const { end } = await finish({ model, tools });
  expect(ran).toEqual([{ path: 'a' }]);
  expect(lines(requests[1]?.prompt ?? []).at(-1)).toMatch(/^result: Not run: its arguments are no whole JSON object/);
  expect(end.reason).toBe('completed');
});

test('calls of unknown tools and with wrong arguments get their result without an operation', async () => {
  const started: EngineToolCall[] = [];
  const tools = registryOf({ write: { inputSchema: { type: 'object', required: ['path'] }, execute: () => 'x' } });
  const { model, requests } = calling('write', 'nothing', 'constructor');
  await finish({ model, tools, operationStart: async (call) => void started.push(call) });
  expect(started).toEqual([]);
  const results = lines(requests[1]?.prompt ?? []).filter((line) => line.startsWith('result:'));
  expect(results).toHaveLength(3);
  expect(results[2]).toContain('No tool named "constructor"');
});

test('case Y16: what is said while tools run comes after all their results', async () => {
  const said: string[] = [];
  const tools = registryOf({ write: { execute: () => said.push('now') } });
  const { model, requests } = calling('write', 'write');
  let given = 0;
  await finish({
    model,
    tools,
    drainInput: async () =>
      said.slice(given, (given = said.length)).map((message, index) => ({ id: `i${given}-${index}`, message })),
  });
  expect(lines(requests[1]?.prompt ?? [])).toEqual([
    'user: go',
    'call: write',
    'call: write',
    'result: 1',
    'result: 2',
    'user: now',
    'user: now',
  ]);
});

test('a tool can end the run after its batch; input that arrived meanwhile keeps it going', async () => {
  for (const closes of [[true], [false, true]]) {
    const control = createRunControl();
    const tools = registryOf({
      submit: { sideEffectScope: 'run', execute: () => (control.requestEndTurn(), 'ok') },
      after: { execute: () => 'also ran' },
    });
    const { model, requests } = scriptedModel(() => ({ calls: [{ tool: 'submit' }, { tool: 'after' }] }));
    const pending = [...closes];
    const { end } = await finish({ model, tools, control, closePendingInput: async () => pending.shift() as boolean });
    expect(end.reason).toBe('ended_by_tool');
    expect(requests).toHaveLength(closes.length);
    expect(end.entries.filter((entry) => entry.kind === 'tool-result')).toHaveLength(2 * closes.length);
  }
});
