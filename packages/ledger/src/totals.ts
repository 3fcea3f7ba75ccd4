import { addExactly } from './integers.js';
import type { RequestStatus, Totals } from './types.js';

export const noTotals: Totals = Object.freeze({
  requests: 0,
  tokens: 0,
  costMicros: 0,
  heldTokens: 0,
  heldCostMicros: 0,
  open: 0,
  unknown: 0,
  unknownTokens: 0,
  unknownCostMicros: 0,
  unmeasured: 0,
  unpriced: 0,
});

/** The facts of a request that its account's sums are made of. */
export interface Contribution {
  readonly status: RequestStatus;
  readonly chargedTokens: number;
  readonly chargedCostMicros: number | null;
  readonly complete: boolean;
  readonly unpriced: boolean;
}

/** What one request adds to the sums of its account and of every ancestor. */
export function contributionOf(request: Contribution): Totals {
  const cost = request.chargedCostMicros ?? 0;
  const held = request.status === 'reserved';
  const unknown = request.status === 'unknown' && !request.complete;
  return {
    requests: 1,
    tokens: request.chargedTokens,
    costMicros: cost,
    heldTokens: held ? request.chargedTokens : 0,
    heldCostMicros: held ? cost : 0,
    open: held ? 1 : 0,
    unknown: unknown ? 1 : 0,
    unknownTokens: unknown ? request.chargedTokens : 0,
    unknownCostMicros: unknown ? cost : 0,
    unmeasured: request.status === 'unknown' && request.complete ? 1 : 0,
    unpriced: request.unpriced && request.status !== 'released' ? 1 : 0,
  };
}

export function addTotals(left: Totals, right: Totals): Totals {
  return {
    requests: addExactly(left.requests, right.requests),
    tokens: addExactly(left.tokens, right.tokens),
    costMicros: addExactly(left.costMicros, right.costMicros),
    heldTokens: left.heldTokens + right.heldTokens,
    heldCostMicros: left.heldCostMicros + right.heldCostMicros,
    open: left.open + right.open,
    unknown: left.unknown + right.unknown,
    unknownTokens: left.unknownTokens + right.unknownTokens,
    unknownCostMicros: left.unknownCostMicros + right.unknownCostMicros,
    unmeasured: left.unmeasured + right.unmeasured,
    unpriced: left.unpriced + right.unpriced,
  };
}

export function subtractTotals(left: Totals, right: Totals): Totals {
  return {
    requests: left.requests - right.requests,
    tokens: left.tokens - right.tokens,
    costMicros: left.costMicros - right.costMicros,
    heldTokens: left.heldTokens - right.heldTokens,
    heldCostMicros: left.heldCostMicros - right.heldCostMicros,
    open: left.open - right.open,
    unknown: left.unknown - right.unknown,
    unknownTokens: left.unknownTokens - right.unknownTokens,
    unknownCostMicros: left.unknownCostMicros - right.unknownCostMicros,
    unmeasured: left.unmeasured - right.unmeasured,
    unpriced: left.unpriced - right.unpriced,
  };
}

/** The sum over all kinds. */
export function sumOfKinds(kinds: Readonly<Record<string, Totals>>): Totals {
  let sum = noTotals;
  for (const kind in kinds) sum = sum === noTotals ? (kinds[kind] as Totals) : addTotals(sum, kinds[kind] as Totals);
  return sum;
}

/** Sums as a row or an entry keeps them: a list in the order of the members of `Totals`, without the zeros at its end. */
export type PackedTotals = readonly number[];

export function packTotals(totals: Totals): PackedTotals {
  const packed = [
    totals.requests,
    totals.tokens,
    totals.costMicros,
    totals.heldTokens,
    totals.heldCostMicros,
    totals.open,
    totals.unknown,
    totals.unknownTokens,
    totals.unknownCostMicros,
    totals.unmeasured,
    totals.unpriced,
  ];
  let length = packed.length;
  while (length > 0 && packed[length - 1] === 0) length -= 1;
  packed.length = length;
  return packed;
}

export function unpackTotals(packed: PackedTotals): Totals {
  const at = (index: number): number => packed[index] ?? 0;
  return {
    requests: at(0),
    tokens: at(1),
    costMicros: at(2),
    heldTokens: at(3),
    heldCostMicros: at(4),
    open: at(5),
    unknown: at(6),
    unknownTokens: at(7),
    unknownCostMicros: at(8),
    unmeasured: at(9),
    unpriced: at(10),
  };
}
