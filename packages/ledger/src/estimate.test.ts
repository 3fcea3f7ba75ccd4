import { deepFreeze } from '@stint/provider-hooks';
import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type EstimatedRequest, estimateRequest } from './estimate.js';
import { createEstimator } from './estimator.js';
import { parsePriceBook, priceOf } from './price-book.js';
import { defaultPriceBook } from './price-data.js';
import { costOfUsage } from './cost.js';
import { used } from './conformance-kit.js';
import { textTokens } from './text-tokens.js';

it('counts words at 3 bytes a token and dense text at 1.4', () => {
  const words = 'the quick brown fox jumps over the lazy dog ';
  expect(textTokens(words)).toBe(Math.ceil(words.length / 3));
  for (const dense of [
    '1234567890',
    '{}[]();:,.',
    '0123456789abcdef0123456789abcdef',
    'dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcw==',
  ]) {
    expect(textTokens(dense)).toBe(Math.ceil(dense.length / 1.4));
  }
  expect(textTokens('日本語')).toBe(Math.ceil(9 / 1.4));
  expect(textTokens('👩‍🚀')).toBe(Math.ceil(Buffer.byteLength('👩‍🚀') / 1.4));
  expect(textTokens('anything at all', { bound: true })).toBe(15);
});

it('never counts more than the bound of a token a byte, nor less than a fourth of it', () => {
  for (let round = 0; round < 200; round += 1) {
    const text = String.fromCodePoint(...Array.from({ length: 40 }, () => 1 + Math.floor(Math.random() * 0xd700)));
    const bound = textTokens(text, { bound: true });
    expect(textTokens(text), JSON.stringify(text)).toBeLessThanOrEqual(bound);
    expect(textTokens(text), JSON.stringify(text)).toBeGreaterThanOrEqual(bound / 4);
  }
});

const userSays = (text: string): EstimatedRequest['prompt'] => [{ role: 'user', content: [{ type: 'text', text }] }];

it('adds what the answer may have: the request says, else the price book, else 16384', () => {
  const request = { prompt: userSays('hi') };
  const output = (more: Partial<EstimatedRequest>) =>
    estimateRequest({ model: 'nobody:nothing', ...request, ...more }, { prices: defaultPriceBook }).outputTokens;
  expect(output({ settings: { maxOutputTokens: 77 } })).toBe(77);
  expect(output({ model: 'anthropic:claude-haiku-4-5' })).toBe(64_000);
  expect(output({})).toBe(16_384);
});

it('counts images and files by rule, tools and tool results by their text', () => {
  const data = 'A'.repeat(4_000_000);
  const file = (mediaType: string): EstimatedRequest['prompt'] => [
    { role: 'user', content: [{ type: 'file', mediaType, data }] },
  ];
  const input = (prompt: EstimatedRequest['prompt'], more: Partial<EstimatedRequest> = {}) =>
    estimateRequest({ model: 'simulated:default', prompt, ...more }).inputTokens;
  expect(input(file('image/png'))).toBeLessThan(5_000);
  expect(input(file('application/pdf'))).toBeGreaterThan(300_000);
  const tool = {
    type: 'function',
    name: 'look',
    description: 'x '.repeat(3_000),
    inputSchema: { type: 'object' },
  } as const;
  expect(input(userSays('hi'), { tools: [tool] })).toBeGreaterThan(2_000);
});

it('counts a frozen message once, and one that may change each time', () => {
  const message = { role: 'system' as const, content: 'x'.repeat(3_000) };
  const count = () => estimateRequest({ model: 'simulated:default', prompt: [message] }).inputTokens;
  const before = count();
  message.content = 'x'.repeat(6_000);
  expect(count()).toBeGreaterThan(before * 1.9);
  const frozen = Object.freeze({ role: 'system' as const, content: 'y'.repeat(1_000_000) });
  const time = () => {
    const start = performance.now();
    estimateRequest({ model: 'simulated:default', prompt: [frozen] });
    return performance.now() - start;
  };
  const first = time();
  expect(Math.min(time(), time(), time())).toBeLessThan(first);
});

it('learns a ratio that only raises', () => {
  const estimator = createEstimator({ prices: defaultPriceBook });
  const request = { model: 'simulated:default', prompt: userSays('word '.repeat(600)) };
  const first = estimator.estimate(request);
  estimator.observe(request.model, first, { ...used(5), inputTokens: first.inputTokens * 2 });
  const raised = estimator.estimate(request);
  expect(raised.inputTokens).toBe(first.inputTokens * 2);
  estimator.observe(request.model, raised, { ...used(5), inputTokens: 10 });
  expect(estimator.estimate(request).inputTokens).toBe(raised.inputTokens);
});

it('refuses an estimate that is no count', () => {
  const request = { model: 'simulated:default', prompt: userSays('hi'), settings: { maxOutputTokens: Number.NaN } };
  expect(() => estimateRequest(request)).toThrow(expect.objectContaining({ code: 'invalid_estimate' }));
});

it('prices by tier, rounds up once, and answers null for a rate that it does not know', () => {
  const haiku = 'anthropic:claude-haiku-5-5';
  const usage = { ...used(1_000), inputTokens: 100_000 };
  expect(costOfUsage(defaultPriceBook, haiku, usage)).toBe(10_500);
  expect(costOfUsage(defaultPriceBook, haiku, { ...usage, inputTokens: 100_001 })).toBe(Math.ceil(50_000.5 + 2_500));
  expect(costOfUsage(defaultPriceBook, 'simulated:any', { ...used(0), inputTokens: 1 })).toBe(1);
  expect(costOfUsage(defaultPriceBook, 'anthropic:claude-opus-5', used(1_000_000), { tier: 'batch' })).toBe(12_500_000);
  expect(costOfUsage(defaultPriceBook, haiku, used(1), { tier: 'batch' })).toBeNull();
  expect(costOfUsage(defaultPriceBook, 'openai:gpt-5-mini', { ...used(1), cacheWriteTokens: 5 })).toBeNull();
  expect(costOfUsage(defaultPriceBook, 'anthropic:claude-opus-4.1', used(1))).toBeNull();
  const oneHour = { ...used(0), cacheWriteTokens: 3_000_000, cacheWrite1hTokens: 1_000_000 };
  expect(costOfUsage(defaultPriceBook, 'anthropic:claude-opus-4-8', oneHour)).toBe(2 * 6_250_000 + 10_000_000);
});

it('prices an answer by the tier that served it, holds for the tier that is asked for, and knows no price for another', () => {
  const source = { address: 'made up', readOn: '2026-11-30' };
  const rates = { input: 1_000_000, output: 2_000_000 };
  const prices = parsePriceBook({
    version: '1',
    models: { 'a:b': { rates, tierPercents: { priority: 175, batch: 50 }, source } },
  });
  const usage = used(1_001);
  expect(costOfUsage(prices, 'a:b', usage)).toBe(2_002);
  expect(costOfUsage(prices, 'a:b', { ...usage, serviceTier: 'priority' })).toBe(Math.ceil(2_002 * 1.75));
  expect(costOfUsage(prices, 'a:b', { ...usage, serviceTier: 'batch' })).toBe(1_001);
  for (const serviceTier of ['flex', 'constructor']) {
    expect(costOfUsage(prices, 'a:b', { ...usage, serviceTier })).toBeNull();
  }
  const request = { model: 'a:b', prompt: [], settings: { maxOutputTokens: 1_001 } };
  const heldFor = (asked: object): number | null => estimateRequest({ ...request, ...asked }, { prices }).costMicros;
  expect(heldFor({})).toBe(2_002);
  expect(heldFor({ serviceTier: 'batch' })).toBe(2_002);
  expect(heldFor({ serviceTier: 'priority' })).toBe(Math.ceil(2_002 * 1.75));
  expect(heldFor({ serviceTier: 'flex' })).toBeNull();
  const settings = { ...request.settings, providerOptions: { openai: { serviceTier: 'priority' } } };
  expect(heldFor({ settings })).toBeGreaterThanOrEqual(Math.ceil(2_002 * 1.75));
  const fast = { ...request.settings, providerOptions: { anthropic: { speed: 'fast' } } };
  expect(heldFor({ settings: fast })).toBeNull();
  expect(() =>
    parsePriceBook({ version: '1', models: { 'a:b': { rates, tierPercents: { batch: 0.5 }, source } } }),
  ).toThrow(expect.objectContaining({ code: 'invalid_input' }));
});

it('counts files by their kind in the forms of every specification, in messages and in results of tools', () => {
  const inputOf = (part: object): number =>
    estimateRequest({
      model: 'm:x',
      prompt: [{ role: 'user', content: [part as never] }],
      settings: { maxOutputTokens: 1 },
    }).inputTokens;
  const nothing = inputOf({ type: 'text', text: '' });
  const sizes: readonly (readonly [string, unknown, number])[] = [
    ['image/png', new Uint8Array(50_000), 4800],
    ['image/*', { type: 'data', data: 'A'.repeat(80_000) }, 4800],
    ['image', { type: 'url', url: new URL('https://x.test/a.png') }, 4800],
    ['application/pdf', 'A'.repeat(80_000), 7500],
    ['application/pdf', { type: 'data', data: new Uint8Array(60_000) }, 7500],
    ['application/pdf', new URL('https://x.test/a.pdf'), 3000],
    ['application/pdf', { type: 'reference', reference: { maker: 'file_1' } }, 3000],
    ['text/plain', { type: 'data', data: new Uint8Array(700) }, 700],
    ['text/plain', { type: 'text', text: 'x'.repeat(600) }, 600],
    ['text', { type: 'url', url: new URL('https://x.test/a.txt') }, 3000],
  ];
  for (const [mediaType, data, tokens] of sizes) {
    const own = inputOf({ type: 'file', mediaType, data }) - nothing;
    const name = `${mediaType} ${JSON.stringify(data).slice(0, 40)}`;
    const isAddress = tokens === 3000 || name.includes('url');
    expect(own, name).toBeGreaterThanOrEqual(tokens);
    expect(own, name).toBeLessThanOrEqual(tokens + (isAddress ? 40 : 0)); // an address has a length of its own
    const result = (value: unknown) => ({
      type: 'tool-result',
      toolCallId: '1',
      toolName: 't',
      output: { type: 'content', value },
    });
    const inResult = inputOf(result([{ type: 'file', mediaType, data }])) - inputOf(result([{}]));
    expect(Math.abs(inResult - own)).toBeLessThan(10);
  }
  const linked = (type: string): number =>
    inputOf({ type: 'tool-result', output: { type: 'content', value: [{ type, url: 'https://x.test' }] } });
  expect(linked('image-url') - linked('image-data')).toBeGreaterThan(4700);
  expect(linked('file-url') - linked('file-data')).toBeGreaterThan(2900);
});

it('counts the pages of a PDF, also where its objects are compressed, and an image as the model counts it', () => {
  const pages =
    '1 0 obj << /Type /Pages /Count 3 >> endobj 2 0 obj <</Type/Page>> endobj 3 0 obj << /Type /Page /X 1 >>';
  const objects = deflateSync(`4 0 5 9 <</Type /Page>> <</Type/Page/Parent 1 0 R>>`);
  const packed = ['%PDF-1.7\n', pages, ' 9 0 obj <</Type/ObjStm/N 2>>stream\n', objects, '\nendstream'];
  const file = Buffer.concat(packed.map((piece) => Buffer.from(piece)));
  const inputOf = (mediaType: string, data: Uint8Array | string, options: object = {}): number =>
    estimateRequest({ model: 'a:b', prompt: [{ role: 'user', content: [{ type: 'file', mediaType, data }] }] }, options)
      .inputTokens;
  for (const data of [file, file.toString('base64')]) {
    expect(inputOf('application/pdf', data)).toBeGreaterThanOrEqual(4 * 4600);
    expect(inputOf('application/pdf', data)).toBeLessThan(5 * 4600);
    expect(inputOf('application/pdf', data, { pdfPageTokens: 0 })).toBeLessThan(3_100);
  }
  const encrypted = Buffer.concat([Buffer.from('%PDF-1.7 /ObjStm stream\n'), Buffer.alloc(40_000, 7)]);
  expect(inputOf('application/pdf', encrypted)).toBeGreaterThan(5_000);
  const source = { address: 'made up', readOn: '2026-11-30' };
  const price = { rates: { input: 1, output: 1 }, imageTokens: 48_000, source };
  const prices = parsePriceBook({ version: '1', models: { 'a:b': price } });
  expect(inputOf('image/png', 'AAAA', { prices })).toBeGreaterThan(48_000);
  expect(() => parsePriceBook({ version: '1', models: { 'a:b': { ...price, imageTokens: -1 } } })).toThrow(
    /imageTokens/u,
  );
});

it('holds what options of the AI SDK ask of a provider: calls, other models, a predicted answer', () => {
  const source = { address: 'made up', readOn: '2026-11-30' };
  const rates = { input: 1, output: 1_000_000 };
  const dear = { rates: { ...rates, output: 9_000_000 }, maxOutputTokens: 500, source };
  const toolFeesMicros = { web_search: 10_000 };
  const prices = parsePriceBook({
    version: '1',
    models: { 'a:b': { rates, maxOutputTokens: 100, toolFeesMicros, source }, 'a:dear': dear },
  });
  const heldWith = (options: object, tools: EstimatedRequest['tools'] = []) =>
    estimateRequest(
      { model: 'a:b', prompt: [], tools, settings: { providerOptions: { a: options } } as never },
      { prices },
    );
  const search = { type: 'provider', id: 'a.web_search', name: 'web_search', args: {} } as const;
  const fees = (options: object): number => Math.round((heldWith(options, [search]).costMicros ?? 0) / 10_000);
  expect([fees({}), fees({ maxToolCalls: 30 })]).toEqual([5, 30]);
  expect(heldWith({ fallbacks: [{ model: 'dear' }] })).toMatchObject({ outputTokens: 500 });
  expect(heldWith({ fallbacks: [{ model: 'dear' }] }).costMicros).toBeGreaterThanOrEqual(4_500);
  expect(heldWith({ fallbacks: 'default' }).costMicros).toBeNull();
  expect(heldWith({ prediction: { type: 'content', content: 'word '.repeat(300) } }).outputTokens).toBeGreaterThan(600);
  const contextManagement = { edits: [{ type: 'compact_20260112' }] };
  expect(heldWith({ contextManagement }).outputTokens).toBe(200);
});

it('holds the price of an hour in the cache wherever a request of the AI SDK can ask for it', () => {
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } };
  const message = (part: object) => ({ prompt: [{ role: 'user', content: [part] }] });
  const result = (output: object) => message({ type: 'tool-result', toolCallId: '1', toolName: 't', output });
  const text = { type: 'text', text: 'hi' };
  const tool = { type: 'function', name: 't', inputSchema: {} };
  const places: readonly object[] = [
    { prompt: [{ role: 'system', content: 'hi', providerOptions }] },
    message({ ...text, providerOptions }),
    message({
      type: 'tool-result',
      toolCallId: '1',
      toolName: 't',
      output: { type: 'text', value: '' },
      providerOptions,
    }),
    result({ type: 'text', value: '', providerOptions }),
    result({ type: 'content', value: [{ ...text, providerOptions }] }),
    { tools: [{ ...tool, providerOptions }] },
    { settings: { maxOutputTokens: 0, providerOptions } },
  ];
  for (const place of places) {
    const request = {
      model: 'simulated:any',
      prompt: [],
      settings: { maxOutputTokens: 0 },
      ...place,
    } as EstimatedRequest;
    const { inputTokens, costMicros } = estimateRequest(request, { prices: defaultPriceBook });
    expect(costMicros, JSON.stringify(place)).toBe(inputTokens * 2);
    const frozen = deepFreeze(request);
    for (let times = 0; times < 2; times += 1)
      expect(estimateRequest(frozen, { prices: defaultPriceBook }).costMicros).toBe(inputTokens * 2);
  }
});

it('holds the budget for thinking that adapters add to the maximum, up to the ceiling of the model', () => {
  const source = { address: 'made up', readOn: '2026-11-30' };
  const rates = { input: 1, output: 1 };
  const models = { 'a:open': { rates, source }, 'a:ceiling': { rates, maxOutputTokens: 8_000, source } };
  const prices = parsePriceBook({ version: '1', models });
  const outputOf = (model: string, thinking: object | null, maxOutputTokens?: number): number => {
    const providerOptions = thinking === null ? {} : { providerOptions: { anthropic: { thinking, other: null } } };
    const settings = { ...providerOptions, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
    return estimateRequest({ model, prompt: [], settings: settings as never }, { prices }).outputTokens;
  };
  const enabled = { type: 'enabled', budgetTokens: 5_000 };
  expect(outputOf('a:open', null, 1_000)).toBe(1_000);
  expect(outputOf('a:open', enabled, 1_000)).toBe(6_000);
  expect(outputOf('a:open', { type: 'enabled' }, 1_000)).toBe(2_024);
  expect(outputOf('a:open', { type: 'disabled' }, 1_000)).toBe(1_000);
  expect(outputOf('a:open', enabled)).toBe(16_384 + 5_000);
  expect(outputOf('a:ceiling', enabled, 7_000)).toBe(8_000);
  expect(outputOf('a:ceiling', enabled)).toBe(8_000);
  expect(outputOf('a:ceiling', enabled, 9_000)).toBe(14_000);
});

it('gives the source and the day of every price, and knows aliases and the interfaces of a provider', () => {
  for (const [model, { source }] of Object.entries(defaultPriceBook.models)) {
    expect(source.readOn, model).toMatch(/^\d{4}-\d\d-\d\d$/u);
    if (!model.startsWith('simulated:'))
      expect(source.address, model).toMatch(/^https:\/\/(platform\.claude\.com|developers\.openai\.com)\//u);
  }
  const mini = priceOf(defaultPriceBook, 'openai:gpt-5-mini');
  expect(mini?.rates.input).toBe(250_000);
  expect(priceOf(defaultPriceBook, 'openai.responses:gpt-5-mini-2025-08-07')).toBe(mini);
  expect(priceOf(defaultPriceBook, 'openai:__proto__')).toBeNull();
});

it('refuses a price file with a price that is none', () => {
  const source = { address: 'our contract', readOn: '2026-11-30' };
  const book = (rates: object) => ({ version: '1', models: { 'a:b': { rates, source } } });
  expect(parsePriceBook(book({ input: 1, output: 2 })).models['a:b']?.rates.output).toBe(2);
  for (const rates of [
    {},
    { input: 1 },
    { input: -1, output: 2 },
    { input: 1.5, output: 2 },
    { input: 1, output: 2, cacheRead: '3' },
  ]) {
    expect(() => parsePriceBook(book(rates))).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  }
});
