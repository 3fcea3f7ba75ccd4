import { costOfEstimate } from './estimated-cost.js';
import { checkedAmount, compactsFirst, type EstimatedRequest, longestSettings, modelsOf } from './estimated-request.js';
import { type PartRules, partRulesOf } from './file-tokens.js';
import { jsonTokens, messageTokens } from './message-tokens.js';
import { outputAllowance } from './output-allowance.js';
import { type PriceBook, priceOf } from './price-book.js';
import { tokensOfToolCalls, type ToolCallRules } from './provider-tools.js';

/** What providers add to the prompt so that the model knows how to call tools. */
const tokensAroundTools = 800;

export type { EstimatedRequest } from './estimated-request.js';

export interface EstimateOptions extends Partial<PartRules>, ToolCallRules {
  /** Prices and output ceilings. Absent: cost null. */
  readonly prices?: PriceBook;
  /** One token a byte for text: the cap is then as hard as arithmetic allows. @default false */
  readonly bound?: boolean;
  /** Context kept at the provider that this request continues (by id, cached files). @default 0 */
  readonly storedContextTokens?: number;
  /** Learned: actual input tokens for one estimated. Values below 1 count as 1. @default 1 */
  readonly inputRatio?: number;
}

/** An upper estimate of what a request will be charged. */
export interface Estimate {
  /** Input and output together: what is held. */
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** null: no price is known for the model, for the tier that is asked for, or for a tool that the provider runs. */
  readonly costMicros: number | null;
  readonly priceVersion?: string;
}

/**
 * Estimates a request. Pure, but for sizes of frozen messages, which are kept: a second request with the same message objects costs nothing
 * for them, however long they are.
 * @throws LedgerError `invalid_estimate` if the request cannot be read; send nothing then
 */
export function estimateRequest(request: EstimatedRequest, options: EstimateOptions = {}): Estimate {
  const passes = compactsFirst(request) ? 2 : 1;
  const inputTokens = passes * countInput(request, options);
  const outputTokens = passes * Math.max(...modelsOf(request).map((model) => countOutput(model, request, options)));
  const tokens = checkedAmount(inputTokens + outputTokens, request);
  const counted = { inputTokens, outputTokens, rules: options };
  const costMicros = options.prices === undefined ? null : costOfEstimate(request, options.prices, counted);
  return {
    tokens,
    inputTokens,
    outputTokens,
    costMicros,
    ...(options.prices === undefined ? {} : { priceVersion: options.prices.version }),
  };
}

/** An image counts by the model that counts it as most. */
function rulesOf(request: EstimatedRequest, options: EstimateOptions): PartRules {
  const rules = partRulesOf(options);
  const told = modelsOf(request).map((model) => (options.prices && priceOf(options.prices, model)?.imageTokens) ?? 0);
  return { ...rules, imageTokens: Math.max(rules.imageTokens, ...told) };
}

function countOutput(model: string, request: EstimatedRequest, { prices, bound = false }: EstimateOptions): number {
  const price = prices === undefined ? null : priceOf(prices, model);
  return outputAllowance(longestSettings(request), price?.maxOutputTokens, { bound });
}

function countInput(request: EstimatedRequest, options: EstimateOptions): number {
  const rules = rulesOf(request, options);
  const { prompt, tools = [], settings } = request;
  let tokens = settings === undefined ? 0 : settingsTokens(settings, rules);
  for (const message of prompt) tokens += messageTokens(message, rules);
  if (tools.length > 0) tokens += tokensAroundTools + jsonTokens(tools, rules);
  const ratio = Math.max(1, options.inputRatio ?? 1);
  const brought = tokensOfToolCalls(request, options);
  return Math.ceil(tokens * ratio) + brought + (request.storedContextTokens ?? options.storedContextTokens ?? 0);
}

/** Schemas of answers, instructions and whatever else a setting carries to the provider; numbers are no part of a prompt. */
function settingsTokens(settings: NonNullable<EstimatedRequest['settings']>, rules: PartRules): number {
  let tokens = 0;
  for (const setting of Object.values(settings))
    if (typeof setting === 'object' && setting !== null) tokens += jsonTokens(setting, rules);
  return tokens;
}
