import { type FrozenRequest, serviceTierAmong } from '@stint/provider-hooks';
import { feeOf, percentOfTier } from './cost.js';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { messageTokens, type PartRules, partRulesOf } from './message-tokens.js';
import { outputAllowance } from './output-allowance.js';
import { type ModelPrice, type PriceBook, priceOf } from './price-book.js';
import { textTokens } from './text-tokens.js';

const defaultToolCalls = 5;

/** What an estimate reads of a request; a `FrozenRequest` of provider-hooks is one. */
export type EstimatedRequest = Pick<FrozenRequest, 'model' | 'prompt'> &
  Partial<Pick<FrozenRequest, 'tools' | 'settings'>> & {
    /** The tier that is asked for. @default what `settings.providerOptions` asks for, else the standard one */
    readonly serviceTier?: string;
    /** Context kept at the provider that this request continues. @default that of the options */
    readonly storedContextTokens?: number;
  };

export interface EstimateOptions extends Partial<PartRules> {
  /** Prices and output ceilings. Absent: cost null. */
  readonly prices?: PriceBook;
  /** One token a byte for text: the cap is then as hard as arithmetic allows. @default false */
  readonly bound?: boolean;
  /** Context kept at the provider that this request continues (by id, cached files). @default 0 */
  readonly storedContextTokens?: number;
  /** The most calls of each provider-run tool that states no maximum of its own. @default 5 */
  readonly providerToolCalls?: number;
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
  const price = options.prices === undefined ? null : priceOf(options.prices, request.model);
  const inputTokens = countInput(request, options);
  const outputTokens = outputAllowance(request.settings, price?.maxOutputTokens);
  const tokens = checked(inputTokens + outputTokens, request);
  const costMicros = price === null ? null : costOfEstimate(request, price, { inputTokens, outputTokens, options });
  return {
    tokens,
    inputTokens,
    outputTokens,
    costMicros,
    ...(options.prices === undefined ? {} : { priceVersion: options.prices.version }),
  };
}

function countInput({ prompt, tools, storedContextTokens }: EstimatedRequest, options: EstimateOptions): number {
  const rules = partRulesOf(options);
  let tokens = 0;
  for (const message of prompt) tokens += messageTokens(message, rules);
  if (tools !== undefined && tools.length > 0) tokens += toolTokens(tools, rules.bound);
  const ratio = Math.max(1, options.inputRatio ?? 1);
  return Math.ceil(tokens * ratio) + (storedContextTokens ?? options.storedContextTokens ?? 0);
}

const toolSizes = new WeakMap<object, { plain?: number; bound?: number }>();

function toolTokens(tools: readonly unknown[], bound: boolean): number {
  const kept = toolSizes.get(tools) ?? {};
  const name = bound ? 'bound' : 'plain';
  const size = kept[name] ?? textTokens(JSON.stringify(tools), { bound });
  if (Object.isFrozen(tools)) toolSizes.set(tools, { ...kept, [name]: size });
  return size;
}

interface Counted {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly options: EstimateOptions;
}

/**
 * Input at the dearer of its rate and that of a cache write, since the provider decides which it is. A dearer tier counts in full, a cheaper
 * one as the standard one, since the provider may serve by that.
 */
function costOfEstimate(
  request: EstimatedRequest,
  price: ModelPrice,
  { inputTokens, outputTokens, options }: Counted,
): number | null {
  const isLong = price.longContext !== undefined && inputTokens > price.longContext.abovePromptTokens;
  const rates = isLong && price.longContext !== undefined ? price.longContext.rates : price.rates;
  const inputRate = Math.max(rates.input, rates.cacheWrite ?? 0, keepsOneHour(request) ? (rates.cacheWrite1h ?? 0) : 0);
  const fees = feesOfTools(request, price, options.providerToolCalls ?? defaultToolCalls);
  const percent = percentOfTier(price, request.serviceTier ?? serviceTierAmong(request.settings?.providerOptions));
  if (fees === null || percent === null) return null;
  const micros = BigInt(inputTokens) * BigInt(inputRate) + BigInt(outputTokens) * BigInt(rates.output);
  const atTier = micros * BigInt(Math.max(100, percent));
  return checked(Number((atTier + 99_999_999n) / 100_000_000n) + fees, request);
}

/** Fees of the tools that the provider runs, at the most calls allowed; null if one has no known fee. */
function feesOfTools({ tools }: EstimatedRequest, price: ModelPrice, defaultCalls: number): number | null {
  let fees = 0;
  for (const tool of tools ?? []) {
    if (tool.type !== 'provider') continue;
    const fee = feeOf(price, tool.name);
    if (fee === null) return null;
    const stated = tool.args.maxUses ?? tool.args.max_uses;
    fees += fee * (isCount(stated) ? stated : defaultCalls);
  }
  return fees;
}

function keepsOneHour({ prompt }: EstimatedRequest): boolean {
  return prompt.some(
    (message) => message.providerOptions !== undefined && JSON.stringify(message.providerOptions).includes('"1h"'),
  );
}

function checked(amount: number, { model }: EstimatedRequest): number {
  if (isCount(amount)) return amount;
  throw new LedgerError(
    'invalid_estimate',
    `The estimate of a request to ${model} came out as ${String(amount)}; nothing may be sent on it.`,
  );
}
