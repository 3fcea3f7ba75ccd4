import { ProviderError } from './errors.js';
import { normalError } from './normal-error.js';
import { findInCauses } from './transport-facts.js';
import type { FrozenRequest } from './types.js';
import type { LimitName } from './watchdog.js';

/** A limit of the request ran out; the message names the option. */
export function limitError({ model, stream }: FrozenRequest, limit: LimitName, ms: number): ProviderError {
  const option = stream ? 'idleLimitMs' : 'wholeLimitMs';
  return limit === 'idle'
    ? new ProviderError('idle_timeout', `${model} sent nothing for ${ms} ms (${option}).`, { retryable: true })
    : new ProviderError('total_timeout', `${model} was not done after ${ms} ms (totalLimitMs).`, { retryable: true });
}

/** The first of two requests that a provider made in one call. */
export function statusError(model: string, status: number | null): ProviderError {
  return normalError(new Error('the provider repeated the request by itself'), model, status);
}

/** openai-compatible models report a missing finish reason as an error part without data. */
export function isMissingReason(error: unknown): boolean {
  const { name, data } = (error ?? {}) as { name?: unknown; data?: unknown };
  return name === 'AI_InvalidResponseDataError' && data === undefined;
}

/** The JSON body that an AI SDK error carries; undefined if there is none. */
export function bodyOfError(error: unknown): unknown {
  const text = findInCauses(error, (value) => {
    const { responseBody } = value as { responseBody?: unknown };
    return typeof responseBody === 'string' ? responseBody : undefined;
  });
  if (text === undefined || !text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // a body that is no JSON tells no usage
  }
}
