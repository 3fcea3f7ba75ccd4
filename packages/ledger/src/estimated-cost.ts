import { asksForOneHour } from './cache-life.js';
import { percentOfTier } from './cost.js';
import { checkedAmount, type EstimatedRequest, modelsOf, tiersOf } from './estimated-request.js';
import { type ModelPrice, type PriceBook, priceOf, type Rates } from './price-book.js';
import { feesOfTools, type ToolCallRules } from './provider-tools.js';

/** The tokens that an estimate came to. */
export interface Counted {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly rules: ToolCallRules;
}

/** The cost with the dearest of the models that may answer; null if one of them has no price. */
export function costOfEstimate(request: EstimatedRequest, prices: PriceBook, counted: Counted): number | null {
  let dearest = 0;
  for (const model of modelsOf(request)) {
    const price = priceOf(prices, model);
    const cost = price === null ? null : costWith(price, request, counted);
    if (cost === null) return null;
    dearest = Math.max(dearest, cost);
  }
  return dearest;
}

/**
 * Input at the dearer of its rate and that of a cache write, since the provider decides which it is; the same for a long prompt, which the
 * provider may count as a shorter one. A dearer tier counts in full, a cheaper one as the standard one, since the provider may serve by that.
 */
function costWith(
  price: ModelPrice,
  request: EstimatedRequest,
  { inputTokens, outputTokens, rules }: Counted,
): number | null {
  const isLong = price.longContext !== undefined && inputTokens > price.longContext.abovePromptTokens;
  const all = [price.rates, ...(isLong && price.longContext !== undefined ? [price.longContext.rates] : [])];
  const inputRates = all.map((each) => inputRate(each, asksForOneHour(request)));
  const fees = feesOfTools(request, price, rules);
  const percents = tiersOf(request).map((tier) => percentOfTier(price, tier));
  if (fees === null || [...percents, ...inputRates].includes(null)) return null;
  const input = BigInt(inputTokens) * BigInt(Math.max(...inputRates.map(Number)));
  const micros = input + BigInt(outputTokens) * BigInt(Math.max(...all.map(({ output }) => output)));
  const atTier = micros * BigInt(Math.max(100, ...percents.map(Number)));
  return checkedAmount(Number((atTier + 99_999_999n) / 100_000_000n) + fees, request);
}

/** Null where the cache's writes are billed and that of an hour has no known price. */
function inputRate({ input, cacheWrite, cacheWrite1h }: Rates, forOneHour: boolean): number | null {
  if (forOneHour && cacheWrite !== undefined && cacheWrite1h === undefined) return null;
  return Math.max(input, cacheWrite ?? 0, forOneHour ? (cacheWrite1h ?? 0) : 0);
}
