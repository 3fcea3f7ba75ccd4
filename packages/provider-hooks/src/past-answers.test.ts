import { type Simulator, startSimulator } from '@stint/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isProviderError } from './errors.js';
import { hookModel } from './hook-model.js';
import { openai, openaiPastAnswers } from './openai.js';
import type { PastAnswer } from './past-answer.js';
import { collect, promptOf, Recorder, rejection } from './recorder.test.helper.js';
import type { ProviderHooks } from './types.js';

const apiKey = 'made-up-key';
const word = `word ${Math.random()}`;
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    scenario: ({ messages }) => ({
      text: `${word} ${messages.length}`,
      reasoning: 'let me think',
      toolCalls: [{ name: 'look', input: { at: word } }],
      ...(JSON.stringify(messages).includes('hold') ? { pauseUntil: [{ afterPieces: 2, gate: 'held' }] } : {}),
    }),
  });
});
afterAll(() => simulator.close());

/** One request that may fail; answers the id that its provider told, and what the hooks saw. */
async function request(text: string, headers = {}): Promise<{ responseId: string; recorder: Recorder }> {
  const recorder = new Recorder();
  let responseId = '';
  const hooks: ProviderHooks = {
    prepare: (frozen) => recorder.prepare(frozen),
    start: (handle) => recorder.start(handle),
    finish: (handle, response) => recorder.finish(handle, response),
    fail: (handle, error, facts) => recorder.fail(handle, error, facts),
    identified: async (_handle, id) => {
      responseId = id;
    },
  };
  const model = hookModel(openai({ baseURL: simulator.url, apiKey, headers })('m'), hooks);
  await collect(model.stream({ prompt: promptOf(text) })).catch(() => undefined);
  return { responseId, recorder };
}

function past(responseId: string, settings = {}): Promise<PastAnswer> {
  return openaiPastAnswers({ baseURL: simulator.url, apiKey, ...settings })({ responseId, modelId: 'm' });
}

test('an answer that was lost on its way is the same as one that came in time, and costs no request', async () => {
  const whole = await request('hi');
  const cut = await request('hi', { 'x-simulator-fault': 'stream_cut' });
  const before = simulator.requests().length;
  const answer = await past(cut.responseId);
  expect(cut.recorder.responses).toEqual([]);
  const { content, text, finishReason, usage, model } = whole.recorder.responses[0] ?? {};
  expect(answer).toMatchObject({ state: 'answered', response: { text, finishReason, usage, model } });
  const parts = (answer as { response: { content: readonly object[] } }).response.content;
  expect(parts.map((part) => (part as { type: string }).type)).toEqual(content?.map((part) => part.type));
  expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-call', toolName: 'look' }));
  expect(simulator.requests()).toHaveLength(before);
});

test('one that is not there yet is running, one that failed has failed, and one that is not kept is unknown', async () => {
  const failed = await request('again', { 'x-simulator-fault': 'server_error_after_bytes' });
  expect(await past(failed.responseId)).toEqual({ state: 'failed', usage: null });
  expect(await past('resp_of_nobody')).toEqual({ state: 'not_kept' });
  const held = request('hold');
  await simulator.gateReached('held');
  const { id } = JSON.parse(/data: (.*)/.exec(await firstEvent())?.[1] ?? '{}').response as { readonly id: string };
  expect(await past(id)).toEqual({ state: 'running' });
  simulator.openGate('held');
  const { responseId, recorder } = await held;
  expect(responseId).toBe(id);
  expect(recorder.steps.at(-1)).toBe('finish 1');
});

/** The first event of the same request, asked for by hand: the id is the conversation's. */
async function firstEvent(): Promise<string> {
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'hold' }] }];
  const leaving = new AbortController();
  const response = await fetch(`${simulator.url}/responses`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, input }),
    signal: leaving.signal,
  });
  const first = await response.body?.getReader().read();
  return new TextDecoder().decode(first?.value);
}

test('a provider that cannot be asked now says so by an error that may be tried again', async () => {
  const gone = await startSimulator({ scenario: () => ({}) });
  await gone.close();
  expect(await rejection(past('resp_x', { baseURL: gone.url }))).toMatchObject({ code: 'not_sent', retryable: true });
  const broken = { fetch: async () => new Response('{}', { status: 500 }) };
  expect(await rejection(past('resp_x', broken))).toMatchObject({ code: 'server_error', retryable: true });
});

test('words that tell nothing about an answer prove nothing: it stays unknown', async () => {
  for (const body of ['{"id":"x"}', '[]', 'null', '"failed"', '{"status":"archived"}', '{"status":null}', '<html>']) {
    const fetch = async (): Promise<Response> => new Response(body, { status: 200 });
    expect(isProviderError(await rejection(past('resp_x', { fetch }))), body).toBe(true);
  }
  for (const status of ['failed', 'cancelled']) {
    const fetch = async (): Promise<Response> => Response.json({ id: 'x', status, usage: null });
    expect(await past('resp_x', { fetch })).toEqual({ state: 'failed', usage: null });
  }
});
