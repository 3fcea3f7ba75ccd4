import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from './server.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ scenario: () => ({ text: 'hi' }) });
});
afterAll(() => simulator.close());

async function post(path: string, body: object): Promise<string> {
  const response = await fetch(simulator.url + path, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) });
  const told = (await response.json()) as { error?: { message: string } };
  return `${response.status} ${told.error?.message ?? ''}`.trim();
}

const user = { role: 'user', content: 'go' };
const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
const calls = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'seen' });

test('chat: every call has its result right after it, every result its call', async () => {
  const ask = (...messages: object[]): Promise<string> => post('/chat/completions', { messages });
  expect(await ask(user, calls, result('b'), result('a'), user)).toBe('200');
  expect(await ask(user, calls, result('a'))).toMatch(/^400 .*no result was found for call b/);
  expect(await ask(user, calls, result('a'), user, result('b'))).toMatch(/^400 .*call b/);
  expect(await ask(user, result('a'))).toMatch(/^400 .*there is no call a/);
  expect(await ask(user, calls, result('a'), result('b'), result('b'))).toMatch(/^400 .*there is no call b/);
});

test('chat: a call has a name that a tool can have', async () => {
  const named = (name: string): object => ({
    ...calls,
    tool_calls: [{ ...call('a'), function: { name, arguments: '{}' } }],
  });
  const ask = (name: string): Promise<string> =>
    post('/chat/completions', { messages: [user, named(name), result('a')] });
  expect(await ask('no_such-tool')).toBe('200');
  for (const name of ['a.b', '', 'x'.repeat(65)]) expect(await ask(name)).toMatch(/^400 .*does not match the pattern/);
});

test('responses: a result may come later, and must come', async () => {
  const made = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' };
  const seen = { type: 'function_call_output', call_id: 'a', output: 'seen' };
  expect(await post('/responses', { input: [user, made, user, seen] })).toBe('200');
  expect(await post('/responses', { input: [user, made, user] })).toMatch(/^400 .*no result/);
  expect(await post('/responses', { input: [user, seen] })).toMatch(/^400 .*no call a/);
});

test('messages: nobody says nothing, but for a last word of the assistant', async () => {
  const ask = (...messages: object[]): Promise<string> => post('/messages', { messages });
  const said = (role: string, content: unknown): object => ({ role, content });
  expect(await ask(user, said('assistant', 'yes'), user)).toBe('200');
  expect(await ask(user, said('assistant', []))).toBe('200');
  expect(await ask(user, said('assistant', []), user)).toMatch(/^400 messages\.1: all messages must have non-empty/);
  expect(await ask(said('user', ''))).toMatch(/^400 messages\.0/);
  expect(await ask(said('user', [{ type: 'text', text: ' \n' }]))).toMatch(/^400 messages\.0: text content blocks/);
  const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
  const seen = { type: 'tool_result', tool_use_id: 'a', content: '' };
  expect(await ask(user, said('assistant', [use]), said('user', [seen]))).toBe('200');
  expect(await ask(user, said('assistant', [use]), user)).toMatch(/^400 .*no result was found for call a/);
  for (const input of ['text', [1], null])
    expect(await ask(user, said('assistant', [{ ...use, input }]), said('user', [seen]))).toMatch(
      /^400 messages\.1\.content\.0\.tool_use\.input/,
    );
  const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
  expect(await ask(user, said('assistant', [thought, { type: 'text', text: 'yes' }]), user)).toBe('200');
  expect(await ask(user, said('assistant', [thought]), user)).toMatch(/^400 .*cannot be `thinking`/);
});

test('responses: something follows each reasoning, also one that is sent as a reference', async () => {
  const ask = (...input: object[]): Promise<string> => post('/responses', { input });
  const words = { role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] };
  for (const thought of [
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'item_reference', id: 'rs_1' },
  ]) {
    expect(await ask(user, thought, words, user)).toBe('200');
    expect(await ask(user, thought, user)).toMatch(/^400 Item 'rs_1' .*without its required following item/);
  }
});

test('half a character is refused, wherever it stands, and a whole one is not', async () => {
  const ask = (content: string): Promise<string> =>
    post('/chat/completions', { messages: [{ role: 'user', content }] });
  expect(await ask('a smile \u{1F600}')).toBe('200');
  for (const half of ['\uD83D', '\uDE00', 'x\uDE00\uD83Dx']) expect(await ask(half)).toMatch(/^400 .*lone surrogate/);
});

test('a refused history is in the log with its reason, and the scenario was not asked', async () => {
  await post('/chat/completions', { messages: [user, calls] });
  expect(simulator.requests().at(-1)).toMatchObject({ status: 400, complete: false, outputTokens: 0 });
  expect(simulator.requests().at(-1)?.error).toContain('no result was found');
});
