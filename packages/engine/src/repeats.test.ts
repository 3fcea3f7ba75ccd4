import { expect, test } from 'vitest';
import { RepeatWatch } from './repeats.js';
import { finish, lines, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { EngineOptions } from './types.js';

const failing = registryOf({ fetch: { readOnly: true, execute: () => ({ error: 'not reachable' }) } });

test('case E09: a failing call with a changing time is recognised, and no request follows the pause', async () => {
  const { model, requests } = scriptedModel((index) => ({
    calls: [{ tool: 'fetch', input: { at: 1_700_000_000_000 + index * 1000 } }],
  }));
  const { end } = await finish({ model, tools: failing });
  expect(end).toMatchObject({ reason: 'paused', error: { code: 'repeating', retryable: true } });
  expect(end.error?.message).toContain('10 calls');
  expect(requests).toHaveLength(10);
});

test('case E09: so is a succeeding one with a changing date or id, and the same result', async () => {
  const tools = registryOf({ poll: { readOnly: true, execute: () => 'pending' } });
  for (const value of [(index: number) => new Date(index * 1e12).toISOString(), () => crypto.randomUUID()]) {
    const { model, requests } = scriptedModel((index) => ({
      calls: [{ tool: 'poll', input: { value: value(index) } }],
    }));
    expect((await finish({ model, tools })).end.reason).toBe('paused');
    expect(requests).toHaveLength(10);
  }
});

test('case E09: an alternation is recognised', async () => {
  const tools = registryOf({ a: { execute: () => 'x' }, b: { execute: () => 'y' } });
  const { model, requests } = scriptedModel((index) => ({ calls: [{ tool: index % 2 === 0 ? 'a' : 'b' }] }));
  expect((await finish({ model, tools })).end.reason).toBe('paused');
  expect(requests).toHaveLength(10);
});

test('case E09: so is a round of several calls, once it was gone through three times', () => {
  const gone = (cycle: number, calls: number): number | null => {
    const watch = new RepeatWatch(10);
    for (let index = 0; index < calls; index += 1)
      watch.add(`tool-${index % cycle}`, { at: index % cycle }, { ok: true, output: 'same' });
    return watch.loopLength;
  };
  for (const cycle of [1, 2, 3]) expect([gone(cycle, 9), gone(cycle, 10)], String(cycle)).toEqual([null, 10]);
  for (const cycle of [4, 5, 6])
    expect([gone(cycle, 3 * cycle - 1), gone(cycle, 3 * cycle)], String(cycle)).toEqual([null, 3 * cycle]);
  expect(gone(7, 100)).toBeNull();
});

test('the third identical call is answered with a reminder, whatever the order of its arguments', async () => {
  const tools = registryOf({ look: { readOnly: true, execute: () => 'same' } });
  const inputs = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: 1, b: 2 },
  ];
  const { model, requests } = scriptedModel((index) => {
    const input = inputs[index];
    return input ? { calls: [{ tool: 'look', input }] } : { text: 'done' };
  });
  const { end } = await finish({ model, tools });
  expect(end.reason).toBe('completed');
  expect(lines(requests[2]?.prompt ?? []).some((line) => line.includes('three times'))).toBe(false);
  expect(lines(requests[3]?.prompt ?? []).at(-1)).toMatch(
    /^user: You have called look with the same arguments three times/,
  );
});

test('bulk work over numbered things is no loop while it succeeds', () => {
  const watch = new RepeatWatch(10);
  for (let index = 0; index < 50; index += 1)
    watch.add('delete', { id: index, path: `file${index}.txt` }, { ok: true, output: 'ok' });
  expect(watch.loopLength).toBeNull();
  expect(watch.takeReminders()).toEqual([]);
});

test('reading on through a file, and editing between runs of one test, are no loops', () => {
  const watch = new RepeatWatch(10);
  for (let page = 0; page < 20; page += 1)
    watch.add('read', { offset: page * 100 }, { ok: true, output: `page ${page}` });
  expect(watch.loopLength).toBeNull();
  for (let round = 0; round < 4; round += 1) {
    watch.add('edit', { text: 'abcd'[round] }, { ok: true, output: 'edited' });
    watch.add('test', {}, { ok: true, output: `${round} failed` });
  }
  expect(watch.loopLength).toBeNull();
});

test('case E25: after the pause a message starts it again, with a fresh loop state', async () => {
  const { model } = scriptedModel(() => ({ calls: [{ tool: 'fetch' }] }));
  const paused = await finish({ model, tools: failing, limits: { maxRepeats: 4 } });
  expect(paused.end.reason).toBe('paused');
  const next = scriptedModel((index) => (index < 2 ? { calls: [{ tool: 'fetch' }] } : { text: 'another way' }), {
    name: 'second',
  });
  const options: EngineOptions = {
    model: next.model,
    tools: failing,
    entries: paused.end.entries,
    prompt: 'try b',
    limits: { maxRepeats: 4 },
  };
  const { end } = await finish(options);
  expect(end).toMatchObject({ reason: 'completed', text: 'another way' });
  expect(lines(next.requests[0]?.prompt ?? []).at(-1)).toBe('user: try b');
});

test('case E23: a loop that is stopped is a typed failure with its cost, never an empty success', async () => {
  const { model } = scriptedModel(() => ({ calls: [{ tool: 'fetch' }], outputTokens: 7 }));
  const { end } = await finish({ model, tools: failing, limits: { maxRepeats: 3 } });
  expect(end).toMatchObject({
    reason: 'paused',
    text: '',
    error: { code: 'repeating' },
    usage: { outputTokens: 21 },
    requests: 3,
  });
});
