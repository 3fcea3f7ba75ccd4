import { isStoreError, isStoreUnavailable } from '@stint/storage';

const mostCauses = 8;

/** An error and what caused it, outermost first. */
export function* causesOf(error: unknown): Generator<Error, void, undefined> {
  for (let inner = error, depth = 0; inner instanceof Error && depth < mostCauses; inner = inner.cause, depth += 1)
    yield inner;
}

/**
 * True if the store could not be used at that moment (busy, full, unreachable, rows fought over), however many errors
 * wrap it: nobody is to blame, and the same work may go on later. A statement that the store refused is no such case.
 */
export function causedByStore(error: unknown): boolean {
  for (const cause of causesOf(error))
    if (isStoreUnavailable(cause) || (isStoreError(cause) && cause.retryable)) return true;
  return false;
}

/** Wait before work goes on that the store stopped. */
export const storeRetryMs = 1_000;
