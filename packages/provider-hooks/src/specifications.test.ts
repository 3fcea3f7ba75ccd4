import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type FaultName, type Simulator, startSimulator } from '@stint/simulator';
import { createAnthropic as createAnthropicV2 } from 'anthropic-v2';
import { createAnthropic as createAnthropicV4 } from 'anthropic-v4';
import { createGoogleGenerativeAI as createGoogleV2 } from 'google-v2';
import { createGoogleGenerativeAI as createGoogleV4 } from 'google-v4';
import { createOpenAICompatible as createCompatibleV2 } from 'openai-compatible-v2';
import { createOpenAICompatible as createCompatibleV4 } from 'openai-compatible-v4';
import { createOpenAI as createOpenAIV2 } from 'openai-v2';
import { createOpenAI as createOpenAIV4 } from 'openai-v4';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hookModel } from './hook-model.js';
import { hookProvider } from './hook-provider.js';
import type { LanguageModelLike, ModelCall } from './model.js';
import type { CallSettings } from './types.js';
import { collect, promptOf, Recorder, rejection } from './recorder.test.helper.js';

const apiKey = 'made-up-key';
const text = `words ${Math.random()}`;
let fault: FaultName | null = null;
let simulator: Simulator;
let gemini: Server;
let recorder: Recorder;
/** Ids that the Gemini server was sent. */
let geminiIds: unknown[] = [];

const geminiAnswer = {
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
};

beforeAll(async () => {
  simulator = await startSimulator({ scenario: () => ({ text }), faults: () => fault });
  gemini = createServer((request, response) => {
    geminiIds.push(request.headers['x-client-request-id']);
    if (fault === 'rate_limit') return void response.writeHead(429, { 'content-type': 'application/json' }).end('{}');
    if (fault === 'reset_after_read') return void request.socket.resetAndDestroy();
    if (fault === 'redirect') return void response.writeHead(307, { location: '/elsewhere' }).end();
    const body = JSON.stringify(geminiAnswer);
    const isStream = request.url?.includes('alt=sse') === true;
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (fault !== 'stream_cut') return void response.end(isStream ? `data: ${body}\n\n` : body);
    response.write(isStream ? 'data: {"candidates":[{"content":{"parts":[{"text":"half"}]}}]}\n\n' : body.slice(0, 9));
    return void setImmediate(() => request.socket.destroy());
  });
  gemini.listen(0, '127.0.0.1');
  await once(gemini, 'listening');
});
afterAll(async () => {
  gemini.closeAllConnections();
  gemini.close();
  await simulator.close();
});
beforeEach(() => {
  recorder = new Recorder();
  geminiIds = [];
  fault = null;
});

const geminiUrl = (): string => `http://127.0.0.1:${(gemini.address() as AddressInfo).port}/v1beta`;
type Fetch = typeof globalThis.fetch;

/** Every provider, by the specification of its models. */
const makers: Readonly<Record<string, (fetch: Fetch) => LanguageModelLike>> = {
  'v2 openai chat': (fetch) => createOpenAIV2({ baseURL: simulator.url, apiKey, fetch }).chat('m'),
  'v2 openai responses': (fetch) => createOpenAIV2({ baseURL: simulator.url, apiKey, fetch }).responses('m'),
  'v2 anthropic': (fetch) => createAnthropicV2({ baseURL: simulator.url, apiKey, fetch })('m'),
  'v2 openai-compatible': (fetch) =>
    createCompatibleV2({ name: 'sim', baseURL: simulator.url, includeUsage: true, fetch }).chatModel('m'),
  'v2 google': (fetch) => createGoogleV2({ baseURL: geminiUrl(), apiKey, fetch })('m'),
  'v3 openai chat': (fetch) => createOpenAI({ baseURL: simulator.url, apiKey, fetch }).chat('m'),
  'v3 openai responses': (fetch) => createOpenAI({ baseURL: simulator.url, apiKey, fetch }).responses('m'),
  'v3 anthropic': (fetch) => createAnthropic({ baseURL: simulator.url, apiKey, fetch })('m'),
  'v3 openai-compatible': (fetch) =>
    createOpenAICompatible({ name: 'sim', baseURL: simulator.url, includeUsage: true, fetch }).chatModel('m'),
  'v3 google': (fetch) => createGoogleGenerativeAI({ baseURL: geminiUrl(), apiKey, fetch })('m'),
  'v4 openai chat': (fetch) => createOpenAIV4({ baseURL: simulator.url, apiKey, fetch }).chat('m'),
  'v4 openai responses': (fetch) => createOpenAIV4({ baseURL: simulator.url, apiKey, fetch }).responses('m'),
  'v4 anthropic': (fetch) => createAnthropicV4({ baseURL: simulator.url, apiKey, fetch })('m'),
  'v4 openai-compatible': (fetch) =>
    createCompatibleV4({ name: 'sim', baseURL: simulator.url, includeUsage: true, fetch }).chatModel('m'),
  'v4 google': (fetch) => createGoogleV4({ baseURL: geminiUrl(), apiKey, fetch })('m'),
};

describe.each(Object.keys(makers))('%s', (name) => {
  const isGoogle = name.endsWith('google');
  const model = () =>
    hookModel(
      hookProvider((fetch) => ({ make: () => (makers[name] as (fetch: Fetch) => LanguageModelLike)(fetch) })).make(),
      recorder,
    );
  const ask = (call: Partial<ModelCall> = {}) => collect(model().stream({ prompt: promptOf('hi'), ...call }));
  const sentIds = (): unknown[] => (isGoogle ? geminiIds : [simulator.requests().at(-1)?.turnId]);

  test.each([true, false])('is hooked at its fetch, and its answer has one form (stream: %s)', async (stream) => {
    const hooked = model();
    expect([hooked.boundary, hooked.specificationVersion]).toEqual(['fetch', name.slice(0, 2)]);
    await collect(hooked.stream({ prompt: promptOf('hi'), stream }));
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'finish 1']);
    expect(sentIds()).toEqual([recorder.id(1)]);
    const served = simulator.requests().at(-1);
    const [input, output] = isGoogle ? [5, 2] : [served?.inputTokens, served?.outputTokens];
    expect(recorder.responses[0]).toMatchObject({ text, finishReason: 'stop' });
    expect(recorder.responses[0]?.usage).toMatchObject({
      inputTokens: input,
      outputTokens: output,
      totalTokens: (input ?? 0) + (output ?? 0),
    });
  });

  test('tells by the transport what was sent, what was refused and what nobody knows', async () => {
    const seen: unknown[] = [];
    for (const each of ['rate_limit', 'reset_after_read', 'stream_cut', 'redirect'] as const) {
      fault = each;
      expect(await rejection(ask())).toMatchObject({ name: 'ProviderError' });
      const { facts } = recorder.failures.at(-1) ?? {};
      seen.push([each, facts?.sent, facts?.status, facts?.proof]);
    }
    expect(seen).toEqual([
      ['rate_limit', true, 429, 'refused'],
      ['reset_after_read', true, null, null],
      ['stream_cut', true, 200, null],
      ['redirect', true, null, null],
    ]);
    expect(recorder.responses).toEqual([]);
    expect(recorder.failures).toHaveLength(4);
  });

  test('sends nothing once start denies it', async () => {
    const before = simulator.requests().length;
    recorder.start = () => Promise.reject(new Error('no budget'));
    expect(await rejection(ask())).toMatchObject({ code: 'denied', facts: { sent: false, proof: 'not_sent' } });
    expect([simulator.requests().length, geminiIds.length]).toEqual([before, 0]);
  });
});

/** The effort as each provider's protocol says it. */
const effortOf: Readonly<Record<string, (body: Record<string, Record<string, unknown>>) => unknown>> = {
  'openai chat': (body) => body['reasoning_effort'],
  'openai responses': (body) => body['reasoning']?.['effort'],
  anthropic: (body) => body['output_config']?.['effort'],
  'openai-compatible': (body) => body['reasoning_effort'],
  google: (body) => (body['generationConfig']?.['thinkingConfig'] as Record<string, unknown>)?.['thinkingLevel'],
};

describe.each(Object.keys(makers))('the effort of %s', (name) => {
  const sent = async (settings: CallSettings): Promise<unknown> => {
    let body = '{}';
    const listen: Fetch = async (_input, init) => {
      body = init?.body as string;
      throw new TypeError('nothing leaves this test');
    };
    const make = (fetch: Fetch) => ({ model: () => thinking(name, fetch) });
    const model = hookModel(hookProvider(make, { fetch: listen }).model(), recorder);
    await rejection(collect(model.stream({ prompt: promptOf('hi'), settings })));
    return effortOf[name.slice(3)]?.(JSON.parse(body) as Record<string, Record<string, unknown>>);
  };

  test('is said in the words of its provider, and is part of the frozen request', async () => {
    expect(await sent({ effort: 'high' })).toBe('high');
    expect(await sent({ effort: 'low' })).toBe('low');
    expect(await sent({})).toBeUndefined();
    expect(recorder.requests[0]?.settings.effort).toBe('high');
    expect(new Set(recorder.requests.map((request) => request.hash)).size).toBe(3);
  });
});

/** A model that thinks: providers leave the effort out for those that do not. */
function thinking(name: string, fetch: Fetch): LanguageModelLike {
  const of: Readonly<Record<string, (fetch: Fetch) => LanguageModelLike>> = {
    'v2 openai chat': (own) => createOpenAIV2({ apiKey, fetch: own }).chat('gpt-5'),
    'v2 openai responses': (own) => createOpenAIV2({ apiKey, fetch: own }).responses('gpt-5'),
    'v2 anthropic': (own) => createAnthropicV2({ apiKey, fetch: own })('claude-opus-4-5'),
    'v3 openai chat': (own) => createOpenAI({ apiKey, fetch: own }).chat('gpt-5'),
    'v3 openai responses': (own) => createOpenAI({ apiKey, fetch: own }).responses('gpt-5'),
    'v3 anthropic': (own) => createAnthropic({ apiKey, fetch: own })('claude-opus-4-5'),
    'v4 openai chat': (own) => createOpenAIV4({ apiKey, fetch: own }).chat('gpt-5'),
    'v4 openai responses': (own) => createOpenAIV4({ apiKey, fetch: own }).responses('gpt-5'),
    'v4 anthropic': (own) => createAnthropicV4({ apiKey, fetch: own })('claude-opus-4-6'),
    'v4 google': (own) => createGoogleV4({ apiKey, fetch: own })('gemini-3-pro-preview'),
  };
  return (of[name] ?? (makers[name] as (fetch: Fetch) => LanguageModelLike))(fetch);
}
