import type { ProviderError } from '@stint/provider-hooks';
import type { RetryOptions } from './types.js';

/**
 * How long to wait before try number `attempt` + 1, in ms: what the provider asks for, or doubling from `baseDelayMs`,
 * and up to a quarter more, so that many callers do not come back at once.
 */
export function retryDelayMs(
  error: ProviderError,
  attempt: number,
  retry: Required<RetryOptions>,
  random: () => number,
): number {
  const asked = error.facts?.retryAfterMs ?? null;
  const own = Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** Math.min(attempt - 1, 20));
  const least = asked ?? own;
  return Math.ceil(least + Math.max(own, asked ?? 0) * 0.25 * random());
}
