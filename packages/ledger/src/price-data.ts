/**
 * List prices. Each was read at its source on the day given; what a source did not say is left out and counts as unknown. Prices change:
 * override them with your own file (`overridePrices`), as you must for negotiated ones.
 */
import type { ModelPrice, PriceBook, PriceSource, Rates } from './price-book.js';

const anthropicPricing: PriceSource = {
  address: 'https://platform.claude.com/docs/en/about-claude/pricing',
  readOn: '2026-11-30',
};
const readOn = '2026-11-30';

/** Dollars for a million tokens, to micros. */
function rates(input: number, output: number, cached: { read?: number; write?: number; write1h?: number } = {}): Rates {
  const micros = (dollars: number): number => Math.round(dollars * 1_000_000);
  return {
    input: micros(input),
    output: micros(output),
    ...(cached.read === undefined ? {} : { cacheRead: micros(cached.read) }),
    ...(cached.write === undefined ? {} : { cacheWrite: micros(cached.write) }),
    ...(cached.write1h === undefined ? {} : { cacheWrite1h: micros(cached.write1h) }),
  };
}

const fable5 = rates(10, 50, { read: 1, write: 12.5, write1h: 20 });
const opus5 = rates(5, 25, { read: 0.5, write: 6.25, write1h: 10 });
const opus4 = rates(15, 75, { read: 1.5, write: 18.75, write1h: 30 });
const sonnet4 = rates(3, 15, { read: 0.3, write: 3.75, write1h: 6 });

function anthropic(modelRates: Rates, maxOutputTokens?: number): ModelPrice {
  return { rates: modelRates, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }), source: anthropicPricing };
}

const anthropicModels: Readonly<Record<string, ModelPrice>> = {
  'anthropic:claude-fable-5-1': anthropic(rates(10, 50, { read: 0.25, write: 12.5, write1h: 20 }), 128_000),
  'anthropic:claude-fable-5': anthropic(fable5),
  'anthropic:claude-opus-5-5': {
    rates: rates(4, 20),
    maxOutputTokens: 128_000,
    source: { address: 'https://platform.claude.com/docs/en/models/overview', readOn },
  },
  'anthropic:claude-opus-5': {
    rates: opus5,
    tierPercents: { batch: 50 },
    maxOutputTokens: 128_000,
    source: { address: 'https://platform.claude.com/docs/about-claude/models/whats-new-opus-5', readOn },
  },
  'anthropic:claude-opus-4-8': anthropic(opus5),
  'anthropic:claude-opus-4-7': anthropic(opus5),
  'anthropic:claude-opus-4-6': anthropic(opus5),
  'anthropic:claude-opus-4-5': anthropic(opus5),
  'anthropic:claude-opus-4-1': anthropic(opus4),
  'anthropic:claude-sonnet-5': {
    rates: rates(2, 10, { read: 0.2, write: 2.5, write1h: 4 }),
    tierPercents: { batch: 50 },
    maxOutputTokens: 128_000,
    source: { address: 'https://platform.claude.com/docs/zh-CN/models/sonnet-5/overview', readOn },
  },
  'anthropic:claude-sonnet-4-6': anthropic(sonnet4),
  'anthropic:claude-sonnet-4-5': anthropic(sonnet4),
  'anthropic:claude-haiku-5-5': {
    rates: rates(0.1, 0.5, { write: 0.125, write1h: 0.2 }),
    longContext: { abovePromptTokens: 100_000, rates: rates(0.5, 2.5, { write: 0.625 }) },
    maxOutputTokens: 128_000,
    source: { address: 'https://platform.claude.com/docs/zh-CN/models/haiku-5-5/overview', readOn },
  },
  'anthropic:claude-haiku-4-5': anthropic(rates(1, 5, { read: 0.1, write: 1.25, write1h: 2 }), 64_000),
};

const openaiModels: Readonly<Record<string, ModelPrice>> = {
  'openai:gpt-5.6-terra': {
    rates: rates(2, 12, { read: 0.2, write: 2.5 }),
    longContext: { abovePromptTokens: 272_000, rates: rates(4, 18, { read: 0.4, write: 5 }) },
    maxOutputTokens: 128_000,
    source: { address: 'https://developers.openai.com/de-DE/api/docs/models/gpt-5.6-terra', readOn },
  },
  'openai:gpt-5-mini': {
    rates: rates(0.25, 2, { read: 0.025 }),
    maxOutputTokens: 128_000,
    source: { address: 'https://developers.openai.com/ko-KR/api/docs/models/gpt-5-mini', readOn },
  },
};

/** Made-up prices of the simulated models, so that money caps can be tried offline. */
const simulatedModels: Readonly<Record<string, ModelPrice>> = {
  'simulated:*': {
    rates: rates(1, 5, { read: 0.1, write: 1.25, write1h: 2 }),
    toolFeesMicros: { web_search: 10_000 },
    maxOutputTokens: 16_384,
    source: { address: 'made up', readOn },
  },
};

/** The price book of this release. */
export const defaultPriceBook: PriceBook = Object.freeze({
  version: '2026-11-30',
  models: Object.freeze({ ...anthropicModels, ...openaiModels, ...simulatedModels }),
  aliases: Object.freeze({
    'anthropic:claude-haiku-4-5-20251001': 'anthropic:claude-haiku-4-5',
    'anthropic:claude-sonnet-4-5-20250929': 'anthropic:claude-sonnet-4-5',
    'openai:gpt-5-mini-2025-08-07': 'openai:gpt-5-mini',
  }),
});
