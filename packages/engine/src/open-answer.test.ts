import type { HistoryEntry } from '@stint/provider-hooks';
import { expect, test } from 'vitest';
import { continueNote, openAnswer, openText } from './open-answer.js';
import { createRunControl } from './run-control.js';
import { finish, httpError, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { ResumeState } from './types.js';

function said(kind: HistoryEntry['kind'], key: string, text: string): HistoryEntry {
  const content = [{ type: 'text' as const, text }];
  const isModel = kind === 'response' || kind === 'partial';
  return { key, kind, message: isModel ? { role: 'assistant', content } : { role: 'user', content } };
}

const prompt = said('input', 'prompt', 'go');
const note = said('note', 'note', continueNote);
const answer = (turn: string, text: string): HistoryEntry => said('response', `response:${turn}`, text);

test('the text of an answer is that of all its parts, whether or not something was said meanwhile', () => {
  const typed = said('input', 'input:i', 'hurry');
  const parts = [prompt, said('partial', 'p', 'Hel'), note, answer('a', 'lo wor'), note, typed, answer('b', 'ld')];
  expect(openText(parts)).toBe('Hello world');
  expect(openText(parts.slice(0, -1))).toBe('Hello wor');
  expect(openAnswer(parts).map(({ key }) => key)).toEqual(['p', 'response:a', 'response:b']);
});

test('what was answered before is no part of it', () => {
  expect(openText([prompt, answer('a', 'first'), said('input', 'input:i', 'more'), answer('b', 'second')])).toBe(
    'second',
  );
  expect(openText([prompt, answer('a', 'first'), said('input', 'input:i', 'more')])).toBe('');
  expect(openText([prompt, answer('a', 'first'), said('note', 'n', 'Your answer was refused'), answer('b', 'x')])).toBe(
    'x',
  );
  expect(openText([])).toBe('');
});

test('a continued answer has its whole text after a resume, and is not paid for again', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'never' }));
  const last = { turnId: 'b', finishReason: 'stop' as const };
  const resume: ResumeState = {
    entries: [prompt, answer('a', '{"a":"wor'), note, answer('b', 'ld"}')],
    turnNumber: 2,
    response: last,
  };
  expect((await finish({ model, resume })).end).toMatchObject({ reason: 'completed', text: '{"a":"world"}' });
  const { end } = await finish({ model, resume, output: { parse: (value) => value } });
  expect(end).toMatchObject({ reason: 'completed', output: { a: 'world' } });
  expect(requests).toEqual([]);
});

test('an answer that was cut goes on after a resume from where it was, within its continuations', async () => {
  const cut = { turnId: 'b', finishReason: 'length' as const };
  const entries = [prompt, answer('a', 'one '), note, answer('b', 'two ')];
  const resume: ResumeState = { entries, turnNumber: 2, response: cut };
  const more = scriptedModel(() => ({ text: 'three' }), { name: 'n' });
  expect((await finish({ model: more.model, resume })).end).toMatchObject({
    reason: 'completed',
    text: 'one two three',
  });
  const again = scriptedModel(() => ({ text: 'more ', finishReason: 'length' }), { name: 'n' });
  const { end } = await finish({ model: again.model, resume, limits: { maxContinuations: 3 } });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'output_limit' } });
  expect(again.requests).toHaveLength(2);
});

test('what an aborted run had shown is continued by the next one, and its text is whole', async () => {
  const broken = scriptedModel((index) =>
    index === 0 ? { text: 'half ', error: new Error('socket'), afterText: true } : { error: httpError(400) },
  );
  const { end } = await finish({ model: broken.model });
  expect(end).toMatchObject({ reason: 'failed', text: 'half ' });
  const whole = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  const resumed = await finish({ model: whole.model, resume: { entries: end.entries, turnNumber: 1 } });
  expect(resumed.end.text).toBe('half done');
});

test.each(['text', 'output'] as const)(
  'a run that a tool wanted to end and input kept going has the last %s',
  async (what) => {
    const control = createRunControl();
    const answers = what === 'text' ? ['first', 'second'] : ['{"a":1}', '{"a":2}'];
    const { model, requests } = scriptedModel((index) => ({
      text: answers[index] ?? 'never',
      ...(index === 0 ? { calls: [{ tool: 'submit' }] } : {}),
    }));
    const tools = registryOf({ submit: { sideEffectScope: 'run', execute: () => control.requestEndTurn() } });
    const closes = [false, true];
    const { end } = await finish({
      model,
      tools,
      control,
      ...(what === 'output' && { output: { parse: (value: unknown) => value } }),
      closePendingInput: async () => closes.shift() ?? true,
    });
    expect(end).toMatchObject({ reason: 'completed', text: answers[1] });
    if (what === 'output') expect(end.output).toEqual({ a: 2 });
    expect(requests).toHaveLength(2);
  },
);

test('an answer that is being continued is cut by no compaction', async () => {
  const { model, requests } = scriptedModel((index) =>
    index === 0 ? { text: 'x'.repeat(300), finishReason: 'length' } : { text: 'y' },
  );
  const entries = [said('note', 'long', 'z'.repeat(800))];
  const compact = async () => ({ summary: 'short', keep: 0 });
  const { end } = await finish({ model, entries, contextTokens: 450, compact });
  expect(end).toMatchObject({ reason: 'completed', text: `${'x'.repeat(300)}y` });
  expect(JSON.stringify(requests[1]?.prompt)).toContain('x'.repeat(300));
});
