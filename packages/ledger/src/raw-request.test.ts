import { expect, it } from 'vitest';
import { type Estimate, type EstimateOptions, estimateRequest } from './estimate.js';
import { parsePriceBook } from './price-book.js';
import { dialectOf, estimatedRequestOf } from './raw-request.js';

const source = { address: 'made up', readOn: '2026-11-30' };
const rates = { input: 1_000_000, output: 5_000_000, cacheWrite: 1_250_000, cacheWrite1h: 2_000_000 };
const toolFeesMicros = { web_search: 10_000, google_search: 35_000, web: 4_000 };
const book = parsePriceBook({
  version: '1',
  models: {
    'p:m': { rates, toolFeesMicros, tierPercents: { priority: 200, fast: 600, 'fast.us': 660 }, source },
    'p:dear': { rates: { ...rates, output: 50_000_000 }, source },
    'p:short': { rates: { input: 1_000_000, output: 1, cacheWrite: 1_250_000 }, source },
    'p:odd': {
      rates: { input: 3_000_000, output: 9 },
      longContext: { abovePromptTokens: 1_000, rates: { input: 1_000_000, output: 10 } },
      source,
    },
  },
});

function held(body: object, options: EstimateOptions = {}): Estimate {
  const request = estimatedRequestOf({ model: 'm', max_tokens: 100, ...body }, { provider: 'p' });
  return estimateRequest(request ?? expect.fail('it names no model'), { prices: book, ...options });
}

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] });
const bytes = 'QUJD'.repeat(20_000); // 60 000 bytes
const image = { type: 'base64', media_type: 'image/png', data: bytes };
const pdf = { type: 'base64', media_type: 'application/pdf', data: bytes };
const address = (kind: string) => `data:${kind};base64,${bytes}`;

it.each([
  ['Anthropic image', user({ type: 'image', source: image }), 4_800],
  ['Anthropic image in a result', user({ type: 'tool_result', content: [{ type: 'image', source: image }] }), 4_800],
  ['Anthropic PDF', user({ type: 'document', source: pdf }), 7_500],
  [
    'Anthropic PDF in a fetched page',
    user({ type: 'web_fetch_tool_result', content: { content: { type: 'document', source: pdf } } }),
    7_500,
  ],
  [
    'Anthropic image in a document',
    user({ type: 'document', source: { type: 'content', content: [{ type: 'image', source: image }] } }),
    4_800,
  ],
  ['Anthropic file by its id', user({ type: 'document', source: { type: 'file', file_id: 'f' } }), 3_000],
  ['Anthropic image by its address', user({ type: 'image', source: { type: 'url', url: 'https://x.test' } }), 4_800],
  ['OpenAI image', user({ type: 'image_url', image_url: { url: address('image/png') } }), 4_800],
  ['OpenAI image by its address', user({ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }), 4_800],
  ['OpenAI sound', user({ type: 'input_audio', input_audio: { data: bytes, format: 'mp3' } }), 7_500],
  ['OpenAI PDF', user({ type: 'file', file: { file_data: address('application/pdf') } }), 7_500],
  ['OpenAI PDF that only its bytes tell of', user({ type: 'file', file: { file_data: `JVBERi0x${bytes}` } }), 7_500],
  ['OpenAI answer that was spoken', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 3_000],
  ['OpenAI film', user({ type: 'video_url', video_url: { url: address('video/mp4') } }), 7_500],
  [
    'OpenAI input image',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: address('image/webp') }] }] },
    4_800,
  ],
  [
    'OpenAI input file by its id',
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    3_000,
  ],
  [
    'OpenAI image in an output',
    { input: [{ type: 'function_call_output', output: [{ type: 'input_image', file_id: 'f' }] }] },
    4_800,
  ],
  [
    'OpenAI screenshot',
    {
      input: [
        { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: address('image/png') } },
      ],
    },
    4_800,
  ],
  ['OpenAI image that was made', { input: [{ type: 'image_generation_call', result: bytes }] }, 4_800],
  ['Google image', { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: bytes } }] }] }, 4_800],
  [
    'Google film by its address',
    { contents: [{ parts: [{ file_data: { mime_type: 'video/mp4', file_uri: 'u' } }] }] },
    3_000,
  ],
  [
    'Google image in a response',
    {
      contents: [
        { parts: [{ functionResponse: { parts: [{ inlineData: { mimeType: 'image/png', data: bytes } }] } }] },
      ],
    },
    4_800,
  ],
])('counts media by rule where a dialect takes them: %s', (_name, body, tokens) => {
  const { inputTokens } = held(body);
  expect(inputTokens).toBeGreaterThanOrEqual(tokens);
  expect(inputTokens).toBeLessThan(tokens + 200);
});

it('counts a file that is read as text a token a byte, and under the bound every file that is no image', () => {
  expect(held(user({ type: 'document', source: { ...pdf, media_type: 'text/plain' } })).inputTokens).toBeGreaterThan(
    80_000,
  );
  expect(held(user({ type: 'document', source: pdf }), { bound: true }).inputTokens).toBeGreaterThan(60_000);
});

it('holds as many answers of the stated length as a request asks for, by whatever name', () => {
  for (const asked of [
    { n: 3 },
    { n: 2, best_of: 3 },
    { candidateCount: 3 },
    { generationConfig: { candidateCount: 3 } },
  ])
    expect(held(asked).outputTokens, JSON.stringify(asked)).toBe(300);
  const google = { max_tokens: null, generationConfig: { maxOutputTokens: 70, candidateCount: 2 } };
  expect(held(google).outputTokens).toBe(140);
  expect(() => held({ generationConfig: { maxOutputTokens: '70' } })).toThrow(
    expect.objectContaining({ code: 'invalid_input' }),
  );
});

it('holds a predicted answer beside the answer, since what was guessed wrong is billed', () => {
  const content = 'the quick brown fox '.repeat(300);
  expect(held({ prediction: { type: 'content', content } }).outputTokens).toBeGreaterThan(100 + 2_000);
});

it.each([
  ['a block', user({ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ttl: '1h' } })],
  ['the system', { system: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
  ['a tool', { tools: [{ name: 't', input_schema: {}, cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
  ['the body', { cache_control: { type: 'ephemeral', ttl: '1h' } }],
])('holds the input at the price of an hour in the cache where %s asks for it', (_name, body) => {
  const short = JSON.parse(JSON.stringify(body).replaceAll('1h', '5m')) as object;
  const { inputTokens, costMicros } = held(body);
  expect(costMicros).toBe(inputTokens * 2 + 500);
  expect(held(short).costMicros).toBe(Math.ceil(held(short).inputTokens * 1.25) + 500);
  expect(held({ ...body, model: 'short' }).costMicros).toBeNull();
});

it('holds two passes over the prompt where the provider may shorten it first', () => {
  const asked = user({ type: 'text', text: 'word '.repeat(1_000) });
  for (const context_management of [{ edits: [{ type: 'compact_20260112' }] }, [{ type: 'compaction' }]]) {
    const twice = held({ ...asked, context_management });
    expect(twice.tokens).toBeGreaterThanOrEqual(2 * held(asked).tokens);
    expect(twice.costMicros).toBeGreaterThanOrEqual(2 * (held(asked).costMicros ?? 0));
  }
  const cleared = held({ ...asked, context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } });
  expect(cleared.outputTokens).toBe(held(asked).outputTokens);
});

it('holds for the tier that is asked for, which the speed and the place of the inference are too', () => {
  const plain = held({}).costMicros ?? 0;
  const about = (body: object) => Math.round((held(body).costMicros ?? 0) / plain);
  expect(about({ service_tier: 'priority' })).toBe(2);
  expect(about({ service_tier: 'auto', speed: 'fast' })).toBe(6);
  expect(about({ speed: 'fast', inference_geo: 'us' })).toBe(7);
  expect(held({ inference_geo: 'us' }).costMicros).toBeNull();
  expect(about({ speed: 'standard', inference_geo: 'global' })).toBe(1);
});

it('holds for the dearest of the models that may answer, and knows no price if one of them has none', () => {
  const plain = held({}).costMicros ?? 0;
  expect(held({ fallbacks: [{ model: 'dear' }] }).costMicros).toBeGreaterThan(plain * 5);
  expect(held({ models: ['m', 'dear'] }).costMicros).toBeGreaterThan(plain * 5);
  expect(held({ fallbacks: 'default' }).costMicros).toBeNull();
  expect(held({ fallbacks: [{ model: 'm', max_tokens: 900 }] }).outputTokens).toBe(900);
  expect(held({ fallbacks: [{ model: 'm', speed: 'fast' }] }).costMicros).toBeGreaterThan(plain * 5);
});

it('holds the dearer rates of a prompt that may count as long or not', () => {
  const odd = held({ model: 'odd', messages: [{ role: 'user', content: 'word '.repeat(2_000) }] });
  expect(odd.costMicros).toBe(odd.inputTokens * 3 + 1);
});

it('holds the fees and the pages of tools that the provider runs, at the most calls that are allowed', () => {
  const none = held({});
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const beyond = (body: object) => {
    const { inputTokens, costMicros } = held(body);
    const fee = (costMicros ?? 0) - (none.costMicros ?? 0) - (inputTokens - none.inputTokens) * 1.25;
    return { calls: Math.floor((inputTokens - none.inputTokens) / 8_000), fee: Math.round(fee / 1_000) * 1_000 };
  };
  expect(beyond({ tools: [search] })).toEqual({ calls: 5, fee: 50_000 });
  expect(beyond({ tools: [{ ...search, max_uses: 3 }] })).toEqual({ calls: 3, fee: 30_000 });
  expect(beyond({ tools: [{ type: 'web_search' }], max_tool_calls: 20 })).toEqual({ calls: 20, fee: 200_000 });
  expect(beyond({ web_search_options: {} })).toEqual({ calls: 5, fee: 50_000 });
  expect(beyond({ web_search_options: null, prediction: null })).toEqual({ calls: 0, fee: 0 });
  expect(beyond({ plugins: [{ id: 'web' }] })).toEqual({ calls: 5, fee: 20_000 });
  expect(beyond({ tools: [{ googleSearch: {} }, { functionDeclarations: [] }] })).toEqual({ calls: 5, fee: 175_000 });
  expect(held({ tools: [{ type: 'code_interpreter' }] }).costMicros).toBeNull();
});

it('knows requests to models by their address', () => {
  expect(dialectOf('/v1/messages')).toBe('anthropic');
  expect(dialectOf('/v1/responses')).toBe('openai');
  expect(dialectOf('/v1beta/models/gemini-x:streamGenerateContent')).toBe('google');
  for (const other of [
    '/v1/messages/batches',
    '/v1/batches',
    '/v1/embeddings',
    '/v1beta/models/gemini-x:countTokens',
    '/v1beta/models/x:batchGenerateContent',
  ])
    expect(dialectOf(other), other).toBeUndefined();
  const target = { provider: 'google', path: '/v1beta/models/gemini-x:generateContent' };
  expect(estimatedRequestOf({ contents: [] }, target)?.model).toBe('google:gemini-x');
});
