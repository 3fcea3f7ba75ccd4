import { expect, test } from 'vitest';
import { Answer } from './answer.js';
import { mergeRawUsage, rawUsageObject, usageOfRaw } from './raw-usage.js';
import { usageOfResult } from './usage.js';

const dialectA = { inputTokens: 3914, outputTokens: 931, cacheReadTokens: 16_298, cacheWriteTokens: 0 };

test('case L13: a prompt count that includes cached tokens counts each of them once', () => {
  const chat = usageOfRaw({
    prompt_tokens: 20_212,
    completion_tokens: 931,
    prompt_tokens_details: { cached_tokens: 16_298 },
  });
  const responses = usageOfRaw({
    input_tokens: 20_212,
    output_tokens: 931,
    total_tokens: 21_143,
    input_tokens_details: { cached_tokens: 16_298 },
  });
  const google = usageOfRaw({ promptTokenCount: 20_212, candidatesTokenCount: 931, cachedContentTokenCount: 16_298 });
  for (const usage of [chat, responses, google]) expect(usage).toMatchObject({ ...dialectA, totalTokens: 21_143 });
});

test('case L13: a prompt count that excludes cached tokens counts each of them once', () => {
  const raw = {
    input_tokens: 25,
    cache_read_input_tokens: 16_298,
    cache_creation_input_tokens: 3889,
    output_tokens: 931,
  };
  expect(usageOfRaw(raw)).toMatchObject({
    inputTokens: 25,
    cacheReadTokens: 16_298,
    cacheWriteTokens: 3889,
    outputTokens: 931,
    totalTokens: 21_143,
  });
});

test('case L13: results of specification v3 and v2 count cached tokens once, with Anthropic and with others', () => {
  const v3 = { inputTokens: { total: 20_212, noCache: 3914, cacheRead: 16_298 }, outputTokens: { total: 931 } };
  expect(usageOfResult(v3, 'openai.chat')).toMatchObject(dialectA);
  const v2 = { inputTokens: 20_212, outputTokens: 931, totalTokens: 21_143, cachedInputTokens: 16_298 };
  expect(usageOfResult(v2, 'openai.chat')).toMatchObject(dialectA);
  const anthropicV2 = { inputTokens: 25, outputTokens: 931, totalTokens: 956, cachedInputTokens: 16_298 };
  expect(
    usageOfResult(anthropicV2, 'anthropic.messages', { anthropic: { cacheCreationInputTokens: 3889 } }),
  ).toMatchObject({
    inputTokens: 25,
    cacheReadTokens: 16_298,
    cacheWriteTokens: 3889,
    totalTokens: 21_143,
  });
});

test('case L15: usage that is reported cumulatively replaces, it is not summed', () => {
  const answer = new Answer('anthropic.messages', 'm');
  const reports = [
    { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: 'message_delta', usage: { output_tokens: 15 } },
    { type: 'message_delta', usage: { output_tokens: 40, input_tokens: null } },
  ];
  for (const rawValue of reports) answer.add({ type: 'raw', rawValue });
  expect(answer.usage).toMatchObject({ inputTokens: 9, outputTokens: 40, totalTokens: 49 });
});

test('case Y11: a later report replaces single figures and keeps those it leaves out', () => {
  expect(mergeRawUsage({ a: 1, b: 2 }, { b: 3, c: null })).toEqual({ a: 1, b: 3 });
});

test('reasoning is part of the output in every dialect', () => {
  expect(
    usageOfRaw({ prompt_tokens: 1, completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 7 } }),
  ).toMatchObject({
    outputTokens: 10,
    reasoningTokens: 7,
  });
  expect(usageOfRaw({ promptTokenCount: 1, candidatesTokenCount: 3, thoughtsTokenCount: 7 })).toMatchObject({
    outputTokens: 10,
    reasoningTokens: 7,
  });
  const googleV2 = { inputTokens: 1, outputTokens: 3, reasoningTokens: 7, totalTokens: 11 };
  expect(usageOfResult(googleV2, 'google.generative-ai')).toMatchObject({ outputTokens: 10, totalTokens: 11 });
});

test('one-hour cache writes and calls of tools the provider ran are kept where it tells them', () => {
  const raw = {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_1h_input_tokens: 10 },
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
  };
  expect(usageOfRaw(raw)).toMatchObject({
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 10,
    providerToolCalls: { web_search: 3 },
  });
  const nested = { inputTokens: { total: 31, cacheWrite: 30 }, outputTokens: { total: 1 }, raw };
  expect(usageOfResult(nested, 'anthropic.messages')).toMatchObject({
    cacheWrite1hTokens: 10,
    providerToolCalls: { web_search: 3 },
  });
});

test('answer tokens that a compatible server leaves out of its count are found by its total, once', () => {
  const xai = {
    prompt_tokens: 32,
    completion_tokens: 9,
    total_tokens: 135,
    prompt_tokens_details: { cached_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 94 },
  };
  const expected = { inputTokens: 24, cacheReadTokens: 8, outputTokens: 103, reasoningTokens: 94, totalTokens: 135 };
  expect(usageOfRaw(xai)).toMatchObject(expected);
  const gemini = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 };
  expect(usageOfRaw(gemini)).toMatchObject({ inputTokens: 32, outputTokens: 103, totalTokens: 135 });
  const adapted = { inputTokens: { total: 32, cacheRead: 8 }, outputTokens: { total: 9 }, raw: xai };
  expect(usageOfResult(adapted, 'xai.chat')).toMatchObject(expected);
  const within = {
    prompt_tokens: 32,
    completion_tokens: 103,
    total_tokens: 135,
    completion_tokens_details: { reasoning_tokens: 94 },
  };
  expect(usageOfRaw(within)).toMatchObject({ outputTokens: 103, reasoningTokens: 94, totalTokens: 135 });
});

test('case L13: a compatible server whose prompt count excludes cached tokens is told by its total', () => {
  const raw = {
    prompt_tokens: 25,
    completion_tokens: 10,
    total_tokens: 1035,
    prompt_tokens_details: { cached_tokens: 1000 },
  };
  expect(usageOfRaw(raw)).toMatchObject({
    inputTokens: 25,
    cacheReadTokens: 1000,
    outputTokens: 10,
    totalTokens: 1035,
  });
  const deepSeek = {
    prompt_tokens: 1025,
    completion_tokens: 10,
    total_tokens: 1035,
    prompt_cache_hit_tokens: 1000,
    prompt_cache_miss_tokens: 25,
  };
  expect(usageOfRaw(deepSeek)).toMatchObject({
    inputTokens: 25,
    cacheReadTokens: 1000,
    outputTokens: 10,
    totalTokens: 1035,
  });
});

test('what an adapter leaves out or does not know is taken from the usage that the provider told', () => {
  const google = {
    promptTokenCount: 100,
    toolUsePromptTokenCount: 900,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 5,
  };
  const adapted = {
    inputTokens: { total: 100, noCache: 100, cacheRead: 0 },
    outputTokens: { total: 15, reasoning: 5 },
  };
  expect(usageOfResult({ ...adapted, raw: google }, 'google.generative-ai')).toMatchObject({
    inputTokens: 1000,
    outputTokens: 15,
    reasoningTokens: 5,
  });
  const deepSeek = { prompt_tokens: 100, completion_tokens: 15, total_tokens: 115, prompt_cache_hit_tokens: 80 };
  expect(usageOfResult({ ...adapted, raw: deepSeek }, 'deepseek.chat')).toMatchObject({
    inputTokens: 20,
    cacheReadTokens: 80,
    outputTokens: 15,
    reasoningTokens: 5,
    totalTokens: 115,
  });
  const lastPiece = { output_tokens: 15, cache_creation: { ephemeral_1h_input_tokens: 3 } };
  expect(usageOfResult({ ...adapted, raw: lastPiece }, 'anthropic.messages')).toMatchObject({
    inputTokens: 100,
    outputTokens: 15,
    cacheWrite1hTokens: 3,
  });
  const untold = { inputTokens: {}, outputTokens: {}, raw: google };
  expect(usageOfResult(untold, 'google.generative-ai')).toMatchObject({ inputTokens: 1000, outputTokens: 15 });
});

test('the iterations of an answer that was compacted before are summed', () => {
  const raw = {
    input_tokens: 20,
    output_tokens: 30,
    cache_read_input_tokens: 7,
    iterations: [
      { type: 'compaction', input_tokens: 5000, output_tokens: 400 },
      { type: 'message', input_tokens: 20, output_tokens: 30 },
      { type: 'advisor', input_tokens: 1, output_tokens: 1 },
    ],
  };
  expect(usageOfRaw(raw)).toMatchObject({
    inputTokens: 5020,
    outputTokens: 430,
    cacheReadTokens: 7,
    totalTokens: 5457,
  });
});

test('the tier that served is kept where it is not the standard one, in every dialect', () => {
  const openai = { usage: { prompt_tokens: 1, completion_tokens: 1 }, service_tier: 'priority' };
  expect(usageOfRaw(rawUsageObject(openai))).toMatchObject({ serviceTier: 'priority' });
  const responses = {
    type: 'response.completed',
    response: { usage: { input_tokens: 1, total_tokens: 2 }, service_tier: 'flex' },
  };
  expect(usageOfRaw(rawUsageObject(responses))).toMatchObject({ serviceTier: 'flex' });
  const anthropic = { input_tokens: 1, output_tokens: 1, service_tier: 'batch' };
  expect(usageOfRaw(anthropic)).toMatchObject({ serviceTier: 'batch' });
  const nested = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  expect(usageOfResult({ ...nested, raw: anthropic }, 'anthropic.messages')).toMatchObject({ serviceTier: 'batch' });
  expect(usageOfResult(nested, 'openai.responses', { openai: { serviceTier: 'priority' } })).toMatchObject({
    serviceTier: 'priority',
  });
  expect(usageOfRaw({ ...anthropic, service_tier: 'standard', speed: 'fast' })).toMatchObject({ serviceTier: 'fast' });
  expect(usageOfRaw({ ...anthropic, inference_geo: 'us' })).toMatchObject({ serviceTier: 'batch.us' });
  for (const tier of ['default', 'standard', 'auto', 'global', 'not_available', 7, '', 'no word']) {
    expect(usageOfRaw({ ...anthropic, service_tier: tier })).not.toHaveProperty('serviceTier');
  }
});

test('case L25: calls of tools that the provider ran count as the answer shows them where its usage does not report them', () => {
  const search = (type: string) => ({ type: 'web_search_call', action: { type } });
  const output = [search('search'), search('open_page'), search('search'), { type: 'file_search_call' }];
  const response = { output: [...output, { type: 'function_call' }, { type: 'message' }, null] };
  const openai = { ...response, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } };
  const calls = { web_search: 2, file_search: 1 };
  expect(usageOfRaw(rawUsageObject(openai))).toMatchObject({ providerToolCalls: calls });
  expect(usageOfRaw(rawUsageObject({ response: openai }))).toMatchObject({ providerToolCalls: calls });
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 1 };
  const google = { candidates: [{ groundingMetadata: { webSearchQueries: ['a', 'b'] } }], usageMetadata };
  expect(usageOfRaw(rawUsageObject(google))).toMatchObject({ providerToolCalls: { google_search: 2 } });
  const plain = { output: [{ type: 'message' }], usage: openai.usage };
  expect(usageOfRaw(rawUsageObject(plain))).not.toHaveProperty('providerToolCalls');
});

test('case L25: of an answer of the AI SDK too, and a report goes before what is shown', () => {
  const call = (toolCallId: string, toolName: string, more: object = { providerExecuted: true }) => ({
    type: 'tool-call',
    toolCallId,
    toolName,
    input: '{}',
    ...more,
  });
  const result = (toolCallId: string, type: string) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'web_search',
    result: { action: { type } },
  });
  const calls = [call('1', 'web_search'), call('2', 'web_search'), call('3', 'file_search')];
  const content = [
    ...calls,
    result('1', 'search'),
    result('2', 'openPage'),
    call('4', 'mine', {}),
    call('5', 'mcp.x', { providerExecuted: true, dynamic: true }),
  ];
  const usageOfAnswer = (raw: object, metadata: object = {}) => {
    const answer = new Answer('openai.responses', 'm');
    const usage = { inputTokens: { total: 3 }, outputTokens: { total: 1 }, raw };
    answer.addResult({ content, finishReason: { unified: 'stop' }, usage, providerMetadata: metadata });
    return answer.usage?.providerToolCalls;
  };
  expect(usageOfAnswer({})).toEqual({ web_search: 1, file_search: 1 });
  const reported = { input_tokens: 3, output_tokens: 1, server_tool_use: { web_search_requests: 7 } };
  expect(usageOfAnswer(reported)).toEqual({ web_search: 7, file_search: 1 });
  const grounded = { google: { groundingMetadata: { webSearchQueries: ['a'] } } };
  expect(usageOfAnswer({}, grounded)).toEqual({ web_search: 1, file_search: 1, google_search: 1 });
});

test('what is not told is null, and an impossible count is taken for not told', () => {
  expect(usageOfResult({ inputTokens: { total: undefined }, outputTokens: { total: undefined } }, 'p')).toBeNull();
  expect(usageOfResult({ inputTokens: undefined, outputTokens: undefined }, 'p')).toBeNull();
  expect(usageOfResult(undefined, 'p')).toBeNull();
  expect(usageOfRaw({ prompt_tokens: -5, completion_tokens: 1 })).toBeNull();
  expect(usageOfRaw({ prompt_tokens: 1.5, completion_tokens: 1 })).toBeNull();
  expect(usageOfRaw({ hello: 1 })).toBeNull();
});

test('the usage object is found in bodies and events of every protocol', () => {
  const usage = { input_tokens: 1 };
  expect(rawUsageObject({ usage })).toBe(usage);
  expect(rawUsageObject({ type: 'response.completed', response: { usage } })).toBe(usage);
  expect(rawUsageObject({ type: 'message_start', message: { usage } })).toBe(usage);
  expect(rawUsageObject({ usageMetadata: usage })).toBe(usage);
  expect(rawUsageObject('text')).toBeUndefined();
});
