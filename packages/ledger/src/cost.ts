import type { Usage } from '@stint/provider-hooks';
import { LedgerError } from './errors.js';
import { type ModelPrice, type PriceBook, priceOf, type Rates } from './price-book.js';
import type { CostOfRequest } from './settle.js';

const tokensOfRate = 1_000_000n;

export interface CostOptions {
  /** The tier that served the request, as `batch`. @default the usage's own, else the standard one */
  readonly tier?: string;
}

/**
 * The cost of a usage in millionths of a dollar, each token at its own rate, rounded up once at the end.
 * @returns null if the model, one of the rates that the usage needs, its tier, or the fee of a tool that was called is unknown; never 0 for lack of a price
 */
export function costOfUsage(book: PriceBook, model: string, usage: Usage, options: CostOptions = {}): number | null {
  const price = priceOf(book, model);
  if (price === null) return null;
  const tokens = costOfTokens(price, usage, options);
  const fees = costOfCalls(price, usage.providerToolCalls ?? {});
  return tokens === null || fees === null ? null : exactly((tokens + tokensOfRate - 1n) / tokensOfRate + fees);
}

/** In micros times a million. */
function costOfTokens(price: ModelPrice, usage: Usage, { tier = usage.serviceTier }: CostOptions): bigint | null {
  const rates = ratesOf(price, usage);
  const oneHour = Math.min(usage.cacheWrite1hTokens ?? 0, usage.cacheWriteTokens);
  const fiveMinutes = usage.cacheWriteTokens - oneHour;
  if (fiveMinutes > 0 && rates.cacheWrite === undefined) return null;
  if (oneHour > 0 && rates.cacheWrite1h === undefined) return null;
  const percent = percentOfTier(price, tier);
  if (percent === null) return null;
  const sum =
    product(usage.inputTokens, rates.input) +
    product(usage.cacheReadTokens, rates.cacheRead ?? rates.input) +
    product(fiveMinutes, rates.cacheWrite ?? 0) +
    product(oneHour, rates.cacheWrite1h ?? 0) +
    product(usage.outputTokens, rates.output);
  return (sum * BigInt(percent) + 99n) / 100n;
}

/** What a tier costs in percent of the rates; null if that is unknown. @param tier undefined: the standard one */
export function percentOfTier({ tierPercents = {} }: ModelPrice, tier: string | undefined): number | null {
  if (tier === undefined) return 100;
  return Object.hasOwn(tierPercents, tier) ? (tierPercents[tier] ?? null) : null;
}

function ratesOf({ rates, longContext }: ModelPrice, usage: Usage): Rates {
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return longContext !== undefined && promptTokens > longContext.abovePromptTokens ? longContext.rates : rates;
}

function costOfCalls(price: ModelPrice, calls: Readonly<Record<string, number>>): bigint | null {
  let sum = 0n;
  for (const [tool, count] of Object.entries(calls)) {
    if (count === 0) continue;
    const fee = feeOf(price, tool);
    if (fee === null) return null;
    sum += product(count, fee);
  }
  return sum;
}

/** The fee for one call of a provider-run tool; null if unknown. */
export function feeOf(price: ModelPrice, tool: string): number | null {
  const fees = price.toolFeesMicros ?? {};
  return Object.hasOwn(fees, tool) ? (fees[tool] ?? null) : null;
}

function product(count: number, rate: number): bigint {
  return BigInt(count) * BigInt(rate);
}

function exactly(micros: bigint): number {
  if (micros <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(micros);
  throw new LedgerError('number_out_of_range', `A cost of ${micros} micros is past 2^53-1 and cannot be kept exactly.`);
}

/**
 * For `settleRequest`: prices a usage by the model that answered, with the book whose version the request's hold froze.
 * @param books the newest first; a request whose version is not among them is priced by the newest
 * @param answered the model as the provider named it. @default the model asked for
 */
export function costBy(books: PriceBook | readonly PriceBook[], answered?: string): CostOfRequest {
  const all = 'models' in books ? [books] : books;
  return (request, usage) => {
    const book = all.find(({ version }) => version === request.priceVersion) ?? all[0];
    return book === undefined ? null : costOfUsage(book, answeredModel(request.model, answered), usage);
  };
}

/** `provider:name` of the model that answered; a dated snapshot of the model asked for is that model unless the book has it of its own. */
export function answeredModel(asked: string, answered: string | undefined): string {
  const provider = asked.split(':', 1)[0] ?? '';
  const name = asked.slice(provider.length + 1);
  if (answered === undefined || answered === '' || answered === name || answered === asked) return asked;
  if (answered.startsWith(`${name}-`) && /^[0-9-]+$/u.test(answered.slice(name.length + 1))) return asked;
  return answered.startsWith(`${provider}:`) ? answered : `${provider}:${answered}`;
}
