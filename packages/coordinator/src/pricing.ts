import {
  costBy,
  defaultPriceBook,
  type Estimate,
  estimateRequest,
  type PriceBook,
  type SettleInput,
} from '@stint/ledger';
import type { FrozenRequest } from '@stint/provider-hooks';

/** What is held for a request: tokens, cost in micros (null without a price), and the version of the price book. */
export type Hold = Pick<Estimate, 'tokens' | 'costMicros' | 'priceVersion'>;

/** How requests are estimated before they leave and priced after. */
export interface Pricing {
  /** Pure. Throws if the request cannot be read: then nothing is sent. */
  estimate(request: FrozenRequest): Hold;
  /** The cost of what was used, by the model that answered as the provider named it, or else by the one asked for. */
  cost(answered: string): SettleInput['costMicros'];
}

/** Prices by a book. @param prices @default the ledger's own */
export function pricingBy(prices: PriceBook = defaultPriceBook): Pricing {
  return {
    estimate: (request) => estimateRequest(request, { prices }),
    cost: (answered) => costBy(prices, answered),
  };
}
