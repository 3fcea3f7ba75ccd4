import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { nearestKey } from './limits.js';

/**
 * Rates in millionths of a dollar for one million tokens: 3 dollars a million tokens is 3000000. Where a provider asks more for tokens of
 * sounds or images than for those of text, give the dearest: a usage is priced as one kind.
 */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** Absent: not read in the source; charged at the input rate, which is never lower. */
  readonly cacheRead?: number;
  /** Absent: unknown; a request that wrote to the cache has no price then. */
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/** Where a price was read, and when. */
export interface PriceSource {
  readonly address: string;
  /** ISO date. */
  readonly readOn: string;
}

export interface ModelPrice {
  readonly rates: Rates;
  /** Rates of the whole request when its prompt is longer. */
  readonly longContext?: { readonly abovePromptTokens: number; readonly rates: Rates };
  /** What other tiers of service cost (`batch`, `priority`, `flex`), in percent of the rates. A tier that is left out is unknown. */
  readonly tierPercents?: Readonly<Record<string, number>>;
  /** Fees for one call of a tool that the provider runs, by tool, in millionths of a dollar. */
  readonly toolFeesMicros?: Readonly<Record<string, number>>;
  /** The most tokens the model answers with. */
  readonly maxOutputTokens?: number;
  /** The most tokens that one image is counted as, where it is more than the estimator's rule. */
  readonly imageTokens?: number;
  readonly source: PriceSource;
}

/** Prices by `provider:name`; `provider:*` stands for every model of a provider. */
export interface PriceBook {
  /** Frozen in each hold; a settlement uses the prices of that version. */
  readonly version: string;
  readonly models: Readonly<Record<string, ModelPrice>>;
  /** Other names of the same model. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** For models without a price. Absent: such a model has none, and a money cap refuses it. */
  readonly fallback?: ModelPrice;
}

/** The price of a model by its exact name, its alias, its provider's `*`, or the fallback; null if none is known, never 0. */
export function priceOf(book: PriceBook, model: string): ModelPrice | null {
  const plain = plainName(model);
  const named = ownPrice(book, model) ?? ownPrice(book, plain) ?? ownPrice(book, aliasOf(book, plain));
  return named ?? ownPrice(book, `${plain.split(':', 1)[0]}:*`) ?? book.fallback ?? null;
}

/** `provider:name` without the part of the provider's name that tells its interface: AI SDK says `openai.responses`. */
function plainName(model: string): string {
  const colon = model.indexOf(':');
  const provider = model.slice(0, Math.max(0, colon));
  return `${provider.split('.', 1)[0]}${model.slice(Math.max(0, colon))}`;
}

/** The known model with the most similar name, for a message about one without a price. */
export function nearestModel(book: PriceBook, model: string): string | null {
  const known = Object.keys(book.models).filter((name) => !name.endsWith(':*'));
  return known.length === 0 ? null : nearestKey(model, known);
}

function aliasOf(book: PriceBook, model: string): string {
  return book.aliases !== undefined && Object.hasOwn(book.aliases, model) ? (book.aliases[model] ?? model) : model;
}

function ownPrice(book: PriceBook, model: string): ModelPrice | undefined {
  return Object.hasOwn(book.models, model) ? book.models[model] : undefined;
}

/** A book in which the models of `override` replace those of `base`; its version names both. */
export function overridePrices(base: PriceBook, override: PriceBook): PriceBook {
  const fallback = override.fallback ?? base.fallback;
  return Object.freeze({
    version: `${base.version}+${override.version}`,
    models: Object.freeze({ ...base.models, ...override.models }),
    aliases: Object.freeze({ ...base.aliases, ...override.aliases }),
    ...(fallback === undefined ? {} : { fallback }),
  });
}

/**
 * Checks a price book from a file. Unknown members are ignored, wrong prices are not.
 * @throws LedgerError `invalid_input` naming the model and the member
 */
export function parsePriceBook(value: unknown): PriceBook {
  const book = value as Partial<PriceBook> | null;
  if (typeof book?.version !== 'string' || typeof book.models !== 'object' || book.models === null) {
    throw new LedgerError(
      'invalid_input',
      'A price book is { version: a text, models: { "provider:name": { rates, source } } }.',
    );
  }
  for (const [model, price] of Object.entries(book.models)) checkPrice(model, price);
  if (book.fallback !== undefined) checkPrice('fallback', book.fallback);
  return Object.freeze({ ...book, version: book.version, models: book.models });
}

function checkPrice(model: string, price: ModelPrice): void {
  checkRates(`${model}.rates`, price?.rates);
  if (price.longContext !== undefined) {
    checkMember(`${model}.longContext.abovePromptTokens`, price.longContext.abovePromptTokens);
    checkRates(`${model}.longContext.rates`, price.longContext.rates);
  }
  if (price.imageTokens !== undefined) checkMember(`${model}.imageTokens`, price.imageTokens);
  for (const [tier, percent] of Object.entries(price.tierPercents ?? {}))
    checkMember(`${model}.tierPercents.${tier}`, percent);
  if (price.maxOutputTokens !== undefined) checkMember(`${model}.maxOutputTokens`, price.maxOutputTokens);
  for (const [tool, fee] of Object.entries(price.toolFeesMicros ?? {}))
    checkMember(`${model}.toolFeesMicros.${tool}`, fee);
}

function checkRates(name: string, rates: Rates | undefined): void {
  checkMember(`${name}.input`, rates?.input);
  checkMember(`${name}.output`, rates?.output);
  for (const optional of ['cacheRead', 'cacheWrite', 'cacheWrite1h'] as const) {
    if (rates?.[optional] !== undefined) checkMember(`${name}.${optional}`, rates[optional]);
  }
}

function checkMember(name: string, value: unknown): void {
  if (isCount(value)) return;
  throw new LedgerError(
    'invalid_input',
    `Price ${name} is ${String(value)}; it must be an integer from 0 (micros for a million tokens, or for a call).`,
  );
}
