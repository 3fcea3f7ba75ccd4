import { responseEntry, type ContentPart, type HistoryEntry } from '@stint/provider-hooks';
import { expect, test } from 'vitest';
import { repairHistory } from './repair-history.js';
import { resultEntry } from './tool-calls.js';
import { checkValid, finish, lines, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { ResumeState } from './types.js';

const prompt: HistoryEntry = {
  key: 'prompt',
  kind: 'input',
  message: { role: 'user', content: [{ type: 'text', text: 'go' }] },
};

function answer(turnId: string, tools: readonly string[], text = ''): HistoryEntry {
  const content: ContentPart[] = tools.map((toolName, index) => ({
    type: 'tool-call',
    toolCallId: `${turnId}-${index}`,
    toolName,
    input: '{}',
  }));
  return responseEntry(turnId, { content: text === '' ? content : [{ type: 'text', text }, ...content] });
}

function result(turnId: string, callIndex: number, output = 'ok'): HistoryEntry {
  const call = { callIndex, toolCallId: `${turnId}-${callIndex}`, tool: 't', input: {}, isCut: false };
  return resultEntry(turnId, call, { ok: true, output });
}

/** A journal that ends with this answer, and what of it is settled. */
function journaled(
  tools: readonly string[],
  rest: Partial<ResumeState> & { readonly results?: readonly HistoryEntry[] } = {},
): ResumeState {
  const { results = [], ...state } = rest;
  const response = { turnId: 'a', finishReason: 'tool-calls' as const };
  return { entries: [prompt, answer('a', tools), ...results], turnNumber: 1, response, ...state };
}

test('a journaled answer is used without paying: its calls run, then the loop goes on', async () => {
  const ran: string[] = [];
  const tools = registryOf({
    read: { readOnly: true, execute: () => ran.push('read') },
    write: { execute: () => ran.push('write') },
  });
  const { model, requests } = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  const { end, types } = await finish({ model, tools, resume: journaled(['read', 'write']) });
  expect(ran).toEqual(['read', 'write']);
  expect(requests).toHaveLength(1);
  expect(types[0]).toBe('tool-call-start');
  expect(end).toMatchObject({ reason: 'completed', turnNumber: 2 });
});

test('finished calls are not repeated, and one that was in flight is of unknown outcome', async () => {
  const ran: string[] = [];
  const tools = registryOf({ write: { execute: () => ran.push('write') } });
  const resume = journaled(['write', 'write', 'write', 'write', 'write'], {
    results: [result('a', 0, 'first')],
    operations: [
      { callIndex: 0, status: 'applied' },
      { callIndex: 1, status: 'unknown' },
      { callIndex: 2, status: 'applied' },
      { callIndex: 3, status: 'no_effect' },
    ],
  });
  const { model, requests } = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  await finish({ model, tools, resume });
  expect(ran).toEqual(['write']);
  expect(lines(requests[0]?.prompt ?? []).filter((line) => line.startsWith('result:'))).toEqual([
    'result: first',
    'result: Interrupted; the outcome is unknown. Check what the call did before you repeat it.',
    'result: Interrupted, but it was done; its output is lost.',
    'result: Interrupted before it changed anything. You may make the call again.',
    'result: 1',
  ]);
});

test('a journaled final answer ends the run without a request', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'again' }));
  const resume: ResumeState = {
    entries: [prompt, answer('a', [], 'all done')],
    turnNumber: 1,
    response: { turnId: 'a', finishReason: 'stop' },
  };
  const { end } = await finish({ model, resume });
  expect(end).toMatchObject({ reason: 'completed', text: 'all done', requests: 0 });
  expect(requests).toEqual([]);
});

test('results that a failed request carried are not run again', async () => {
  let ran = 0;
  const tools = registryOf({ write: { execute: () => (ran += 1) } });
  const { model, requests } = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  const { end } = await finish({
    model,
    tools,
    resume: journaled(['write'], { results: [result('a', 0, 'once')], turnNumber: 2 }),
  });
  expect(ran).toBe(0);
  expect(lines(requests[0]?.prompt ?? []).at(-1)).toBe('result: once');
  expect(end.turnNumber).toBe(3);
});

test('a call that was cut is not run after a resume either', async () => {
  let ran = 0;
  const tools = registryOf({ write: { execute: () => (ran += 1) } });
  const cut = responseEntry('a', {
    content: [{ type: 'tool-call', toolCallId: 'a-0', toolName: 'write', input: '{"pa' }],
  });
  const { model } = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  const resume: ResumeState = {
    entries: [prompt, cut],
    turnNumber: 1,
    response: { turnId: 'a', finishReason: 'length' },
  };
  expect((await finish({ model, tools, resume })).end.reason).toBe('completed');
  expect(ran).toBe(0);
});

test('case E01: each call without a result gets one of unknown outcome, right after its answer; twice is like once', () => {
  const broken = [
    prompt,
    answer('a', ['t', 't']),
    result('a', 1),
    answer('b', ['t']),
    { ...prompt, key: 'later' },
    result('b', 0),
    result('none', 0),
  ];
  const repaired = repairHistory(broken);
  expect(repaired.map((entry) => entry.key)).toEqual([
    'prompt',
    'response:a',
    'result:a:0',
    'result:a:1',
    'response:b',
    'result:b:0',
    'later',
  ]);
  expect(JSON.stringify(repaired[2])).toContain('outcome is unknown');
  checkValid(repaired.map((entry) => entry.message));
  expect(repairHistory(repaired)).toEqual(repaired);
});

test('case E01: a broken history is valid in the next request', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  await finish({ model, entries: [prompt, answer('a', ['t', 't']), result('a', 1)], prompt: 'hello again' });
  checkValid(requests[0]?.prompt ?? []);
  expect(lines(requests[0]?.prompt ?? []).at(-1)).toBe('user: hello again');
});

test('results of one answer are one message, in order of the calls', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'done' }), { name: 'n' });
  const entries = [prompt, answer('a', ['t', 't']), result('a', 1, 'two'), result('a', 0, 'one')];
  await finish({ model, entries, prompt: 'next' });
  expect(requests[0]?.prompt.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'user']);
  expect(lines(requests[0]?.prompt ?? []).slice(3, 5)).toEqual(['result: one', 'result: two']);
});

test('a request never ends with words of the model', async () => {
  const partial: HistoryEntry = {
    key: 'partial:x',
    kind: 'partial',
    message: { role: 'assistant', content: [{ type: 'text', text: 'half' }] },
  };
  const { model, requests } = scriptedModel(() => ({ text: ' done' }), { name: 'n' });
  await finish({ model, resume: { entries: [prompt, partial], turnNumber: 1 } });
  expect(requests[0]?.prompt.at(-1)?.role).toBe('user');
});

test('a signature of reasoning goes back to the provider with its answer', () => {
  const entry = responseEntry('a', {
    content: [{ type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 's3' } } }],
  });
  expect(entry.message.content).toEqual([
    { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's3' } } },
  ]);
});
