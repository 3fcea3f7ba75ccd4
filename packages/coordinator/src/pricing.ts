import { type AskedAmount } from '@stint/ledger';
import type { FrozenRequest, Usage } from '@stint/provider-hooks';

/** How requests are estimated before they leave and priced after. */
export interface Pricing {
  /** The hold of a request. `priceVersion` names the price book's version; null without a price. Pure. */
  estimate(request: FrozenRequest): { readonly estimate: AskedAmount; readonly priceVersion: string | null };
  /** Cost in micros by the model that answered, else by the one asked; null if no price is known. Pure. */
  cost(answered: string, asked: string, usage: Usage): number | null;
}

/** Output tokens of a request that names no maximum. */
const defaultOutputTokens = 16_384;

/** Tokens by size of the request, without prices. */
export function defaultPricing(): Pricing {
  return {
    estimate: ({ prompt, tools, settings }) => {
      const bytes = Buffer.byteLength(JSON.stringify([prompt, tools]), 'utf8');
      const tokens = Math.ceil(bytes / 1.4) + (settings.maxOutputTokens ?? defaultOutputTokens);
      return { estimate: { tokens, costMicros: null }, priceVersion: null };
    },
    cost: () => null,
  };
}
