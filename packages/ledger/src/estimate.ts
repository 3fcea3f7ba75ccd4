import { type FrozenRequest, serviceTierAmong } from '@stint/provider-hooks';
import { percentOfTier } from './cost.js';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { asksForOneHour } from './cache-life.js';
import { type PartRules, partRulesOf } from './file-tokens.js';
import { jsonTokens, messageTokens } from './message-tokens.js';
import { outputAllowance } from './output-allowance.js';
import { type ModelPrice, type PriceBook, priceOf, type Rates } from './price-book.js';
import { feesOfTools, tokensOfToolCalls, type ToolCallRules } from './provider-tools.js';

/** What providers add to the prompt so that the model knows how to call tools. */
const tokensAroundTools = 800;

/** What an estimate reads of a request; a `FrozenRequest` of provider-hooks is one. */
export type EstimatedRequest = Pick<FrozenRequest, 'model' | 'prompt'> &
  Partial<Pick<FrozenRequest, 'tools' | 'settings'>> & {
    /** The tier that is asked for. @default what `settings.providerOptions` asks for, else the standard one */
    readonly serviceTier?: string;
    /** Context kept at the provider that this request continues. @default that of the options */
    readonly storedContextTokens?: number;
    /** Other models that may answer, `provider:name`: the dearest of all is held. @default none */
    readonly alternatives?: readonly string[];
  };

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
  const tokens = checked(inputTokens + outputTokens, request);
  const counted = { inputTokens, outputTokens, options };
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

function countOutput(
  model: string,
  { settings }: EstimatedRequest,
  { prices, bound = false }: EstimateOptions,
): number {
  const price = prices === undefined ? null : priceOf(prices, model);
  return outputAllowance(settings, price?.maxOutputTokens, { bound });
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

interface Counted {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly options: EstimateOptions;
}

/** True if the provider may read the prompt twice: to write a shorter one, and to answer that. Both are billed. */
function compactsFirst({ settings }: EstimatedRequest): boolean {
  return Object.values(settings?.providerOptions ?? {}).some(({ contextManagement }) =>
    (JSON.stringify(contextManagement) ?? '').includes('"compact'),
  );
}

/** The cost with the dearest of the models that may answer; null if one of them has no price. */
function costOfEstimate(request: EstimatedRequest, prices: PriceBook, counted: Counted): number | null {
  let dearest = 0;
  for (const model of modelsOf(request)) {
    const price = priceOf(prices, model);
    const cost = price === null ? null : costWith(price, request, counted);
    if (cost === null) return null;
    dearest = Math.max(dearest, cost);
  }
  return dearest;
}

/** The one asked for, the alternatives, and those that Anthropic's `fallbacks` name. */
function modelsOf({ model, alternatives = [], settings }: EstimatedRequest): readonly string[] {
  const fallbacks = Object.values(settings?.providerOptions ?? {}).flatMap(({ fallbacks: named }) => named ?? []);
  const names = fallbacks.map((each) =>
    typeof each === 'object' ? (each as { model?: unknown } | null)?.model : each,
  );
  return [model, ...alternatives, ...names.map((name) => `${model.split(':', 1)[0]}:${String(name)}`)];
}

/**
 * Input at the dearer of its rate and that of a cache write, since the provider decides which it is; the same for a long prompt, which the
 * provider may count as a shorter one. A dearer tier counts in full, a cheaper one as the standard one, since the provider may serve by that.
 */
function costWith(
  price: ModelPrice,
  request: EstimatedRequest,
  { inputTokens, outputTokens, options }: Counted,
): number | null {
  const isLong = price.longContext !== undefined && inputTokens > price.longContext.abovePromptTokens;
  const rates = [price.rates, ...(isLong && price.longContext !== undefined ? [price.longContext.rates] : [])];
  const inputRates = rates.map((each) => inputRate(each, asksForOneHour(request)));
  const fees = feesOfTools(request, price, options);
  const percent = percentOfTier(price, request.serviceTier ?? serviceTierAmong(request.settings?.providerOptions));
  if (fees === null || percent === null || inputRates.includes(null)) return null;
  const input = BigInt(inputTokens) * BigInt(Math.max(...inputRates.map(Number)));
  const micros = input + BigInt(outputTokens) * BigInt(Math.max(...rates.map(({ output }) => output)));
  const atTier = micros * BigInt(Math.max(100, percent));
  return checked(Number((atTier + 99_999_999n) / 100_000_000n) + fees, request);
}

/** Null where the cache's writes are billed and that of an hour has no known price. */
function inputRate({ input, cacheWrite, cacheWrite1h }: Rates, forOneHour: boolean): number | null {
  if (forOneHour && cacheWrite !== undefined && cacheWrite1h === undefined) return null;
  return Math.max(input, cacheWrite ?? 0, forOneHour ? (cacheWrite1h ?? 0) : 0);
}

function checked(amount: number, { model }: EstimatedRequest): number {
  if (isCount(amount)) return amount;
  throw new LedgerError(
    'invalid_estimate',
    `The estimate of a request to ${model} came out as ${String(amount)}; nothing may be sent on it.`,
  );
}
