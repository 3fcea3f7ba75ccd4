import { LedgerError } from './errors.js';

/** True for an integer from 0 to 2^53-1. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Adds integers; a sum past 2^53-1 is refused, never rounded. */
export function addExactly(left: number, right: number): number {
  const sum = left + right;
  if (Number.isSafeInteger(sum)) return sum;
  throw new LedgerError(
    'number_out_of_range',
    `The sum of ${left} and ${right} is outside the integers that can be kept exactly (2^53-1). Use a smaller limit or amount.`,
  );
}
