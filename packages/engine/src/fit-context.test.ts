import type { HistoryEntry } from '@stint/provider-hooks';
import { expect, test } from 'vitest';
import { checkValid, finish, httpError, lines, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { Compaction, CompactRequest, EngineOptions } from './types.js';

const countTokens = (message: { content: unknown }): number => JSON.stringify(message.content).length;

function note(key: string, text: string): HistoryEntry {
  return { key, kind: 'note', message: { role: 'user', content: [{ type: 'text', text }] } };
}
const long = [note('a', 'x'.repeat(300)), note('b', 'y'.repeat(300)), note('c', 'z')];

test('a request that cannot fit is refused before sending, with the sizes named', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'x' }));
  const { end } = await finish({
    model,
    entries: long,
    contextTokens: 200,
    settings: { maxOutputTokens: 50 },
    countTokens,
  });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'context_exceeded' }, requests: 0 });
  expect(end.error?.message).toMatch(/about \d{3} tokens and 150 fit/);
  expect(requests).toEqual([]);
});

test('a compaction shortens the history to its summary and what it keeps', async () => {
  const asked: CompactRequest[] = [];
  const { model, requests } = scriptedModel(() => ({ text: 'x' }));
  const { end } = await finish({
    model,
    entries: long,
    contextTokens: 200,
    countTokens,
    compact: async (request) => {
      asked.push(request);
      return { summary: 'short', keep: 2 };
    },
  });
  expect(end.reason).toBe('completed');
  expect(asked).toHaveLength(1);
  expect(asked[0]?.inputTokens).toBeGreaterThan(600);
  expect(lines(requests[0]?.prompt ?? [])).toEqual(['user: short', 'user: z', 'user: go']);
});

test('case E03: two compactions that free nothing end the run before anything is sent', async () => {
  let compactions = 0;
  const { model, requests } = scriptedModel(() => ({ text: 'x' }));
  const compact = async (): Promise<{ summary: string; keep: number }> => {
    compactions += 1;
    return { summary: 's'.repeat(900), keep: 0 };
  };
  const { end } = await finish({ model, entries: long, contextTokens: 100, countTokens, compact });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'context_exceeded' } });
  expect(end.error?.message).toContain('2 compactions freed nothing');
  expect(compactions).toBe(2);
  expect(requests).toEqual([]);
});

test('case E03: a later overflow has attempts of its own', async () => {
  let compactions = 0;
  const big = 'x'.repeat(400);
  const { model } = scriptedModel((index) =>
    index < 3 ? { text: 'a', calls: [{ tool: 'none', input: { big } }] } : { text: 'done' },
  );
  const { end } = await finish({
    model,
    contextTokens: 700,
    countTokens,
    compact: async ({ entries }) => {
      compactions += 1;
      return { summary: 'short', keep: compactions % 2 === 1 ? entries.length : 0 };
    },
  });
  expect(end.reason).toBe('completed');
  expect(compactions).toBeGreaterThan(2);
});

test('a compaction keeps no result without its call, whatever it asks to keep', async () => {
  for (let keep = 0; keep < 9; keep += 1) {
    let compacted = false;
    const calls = [{ tool: 'a' }, { tool: 'b' }, { tool: 'c' }];
    const { model, requests } = scriptedModel((index) =>
      index < 2 ? { text: 'x'.repeat(200), calls } : { text: 'done' },
    );
    const compact = async () => {
      compacted = true;
      return { summary: 's', keep };
    };
    const { end } = await finish({ model, contextTokens: 1500, countTokens, compact });
    expect(compacted).toBe(true);
    for (const request of requests) checkValid(request.prompt);
    if (end.reason !== 'completed') expect(end.error?.code).toBe('context_exceeded');
  }
});

test('a compaction that gives up ends the run, one that throws is told by name', async () => {
  const { model } = scriptedModel(() => ({ text: 'x' }));
  const base = { model, entries: long, contextTokens: 100, countTokens };
  expect((await finish({ ...base, compact: async () => null })).end.error?.code).toBe('context_exceeded');
  const { end } = await finish({ ...base, compact: () => Promise.reject(new Error('no model')) });
  expect(end.error).toMatchObject({ code: 'hook_failed' });
  expect(end.error?.message).toContain('compact failed: no model');
});

test("a provider's word that the context is full is answered with one compaction", async () => {
  const full = Object.assign(httpError(400), { message: 'prompt is too long: maximum context length is 10' });
  const { model, requests } = scriptedModel((index) => (index === 0 ? { error: full } : { text: 'done' }));
  const { end } = await finish({ model, compact: async () => ({ summary: 'short', keep: 1 }) });
  expect(end.reason).toBe('completed');
  expect(lines(requests[1]?.prompt ?? [])).toEqual(['user: short', 'user: go']);
});

test('case E27: impossible token counts of an earlier answer do not make the history unusable', async () => {
  const { model } = scriptedModel((index) =>
    index === 0 ? { calls: [{ tool: 'x' }], outputTokens: 4_280_000 } : { text: 'done' },
  );
  expect((await finish({ model, contextTokens: 570_000 })).end.reason).toBe('completed');
  const negative = scriptedModel(() => ({ text: 'done', outputTokens: -5 }));
  expect((await finish({ model: negative.model, contextTokens: 570_000 })).end).toMatchObject({
    reason: 'completed',
    unmeasuredTurns: 1,
  });
});

test('system text and tools count for what has to fit, and are named when they leave no room', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'done' }));
  const tools = registryOf({ look: { description: 'x'.repeat(3_000), execute: () => 'seen' } });
  const fits = { model, contextTokens: 2_500 };
  expect((await finish(fits)).end.reason).toBe('completed');
  expect((await finish({ ...fits, tools })).end.reason).toBe('completed');
  expect((await finish({ ...fits, system: 'y'.repeat(5_000) })).end.reason).toBe('completed');
  const before = requests.length;
  const { end } = await finish({ ...fits, tools, system: 'y'.repeat(5_000) });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'context_exceeded' } });
  expect(end.error?.message).toMatch(/0 fit beside the system text, the tools and the answer/);
  expect(requests).toHaveLength(before);
});

/** A run whose first answer calls for something long, so that the second request has to be cut down. */
function overflowing(options: Partial<EngineOptions>) {
  const { model, requests } = scriptedModel((index) =>
    index === 0 ? { text: 'let me', calls: [{ tool: 'read' }] } : { text: 'done' },
  );
  const tools = registryOf({ read: { readOnly: true, execute: () => 'z'.repeat(1_500) } });
  return { requests, run: finish({ model, tools, contextTokens: 900, countTokens, ...options }) };
}

test('what was typed and never answered is in no summary, whatever a compaction asks to keep', async () => {
  for (const keep of [0, 1, 2]) {
    let asked = 0;
    const drainInput = async () => ((asked += 1) === 2 ? [{ id: 'typed', message: 'in French, please' }] : []);
    const compact = async () => ({ summary: 'what was before', keep });
    const { run, requests } = overflowing({ drainInput, compact });
    expect((await run).end.reason).toBe(keep < 2 ? 'completed' : 'failed');
    if (keep < 2)
      expect(lines(requests[1]?.prompt ?? [])).toEqual(['user: what was before', 'user: in French, please']);
  }
});

test('a prompt that was never answered stays in the first request', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'x' }));
  const compact = async () => ({ summary: 'short', keep: 0 });
  const { end } = await finish({ model, entries: long, contextTokens: 200, countTokens, compact });
  expect(end.reason).toBe('completed');
  expect(lines(requests[0]?.prompt ?? [])).toEqual(['user: short', 'user: go']);
});

test('a summary that says nothing is refused by name, and no number to keep is none', async () => {
  for (const summary of ['', '  \n', undefined]) {
    const { run, requests } = overflowing({ compact: async () => ({ summary, keep: 0 }) as Compaction });
    expect((await run).end.error).toMatchObject({ code: 'hook_failed' });
    expect((await run).end.error?.message).toMatch(/^compact failed: its summary is blank/);
    expect(requests).toHaveLength(1);
  }
  for (const keep of [undefined, Number.NaN, -1]) {
    const { run, requests } = overflowing({ compact: async () => ({ summary: 'short', keep }) as Compaction });
    expect((await run).end.reason).toBe('completed');
    expect(lines(requests[1]?.prompt ?? [])).toEqual(['user: short']);
  }
});
