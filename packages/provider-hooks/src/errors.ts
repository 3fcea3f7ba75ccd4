import type { FailFacts } from './fail-facts.js';
import type { HookName } from './hook-name.js';

/**
 * What went wrong, stable.
 * - before sending: `denied` (a guard hook threw), `hook_failed` (it hung, or answered nonsense), `unhooked_request`
 * - told by the provider: `bad_request`, `unauthorized`, `not_found`, `too_large`, `context_exceeded`, `rate_limited`, `overloaded`, `server_error`
 * - in transport: `not_sent`, `connection`, `incomplete`, `idle_timeout`, `total_timeout`, `aborted`
 * - in the boundary: `boundary_missed`; anything unforeseen: `failed`
 */
export type ProviderErrorCode =
  | 'denied'
  | 'hook_failed'
  | 'unhooked_request'
  | 'bad_request'
  | 'unauthorized'
  | 'not_found'
  | 'too_large'
  | 'context_exceeded'
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'not_sent'
  | 'connection'
  | 'incomplete'
  | 'idle_timeout'
  | 'total_timeout'
  | 'aborted'
  | 'boundary_missed'
  | 'failed';

export interface ProviderErrorDetails {
  readonly retryable?: boolean;
  readonly cause?: unknown;
  readonly hook?: HookName;
  readonly facts?: FailFacts;
  readonly turnId?: string;
}

const brand = Symbol.for('stint.ProviderError');

/** The one error of this package. JSON-safe: `toJSON` leaves the cause out, which may hold the whole prompt. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** True if the same request may succeed later. A retry is a new request, with a new handle. */
  readonly retryable: boolean;
  /** Of `denied` and `hook_failed`: which hook. */
  readonly hook: ProviderErrorDetails['hook'];
  /** Facts of the transport; absent before a handle existed. */
  readonly facts: FailFacts | undefined;
  /** The handle's id; absent before a handle existed. */
  readonly turnId: string | undefined;
  readonly [brand] = true;

  constructor(code: ProviderErrorCode, message: string, details: ProviderErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? false;
    this.hook = details.hook;
    this.facts = details.facts;
    this.turnId = details.turnId;
  }

  /** The same error with what became known later. */
  with(details: Pick<ProviderErrorDetails, 'facts' | 'turnId'>): ProviderError {
    const { code, message, retryable, cause, hook } = this;
    return new ProviderError(code, message, { retryable, cause, ...(hook ? { hook } : {}), ...details });
  }

  toJSON(): Record<string, unknown> {
    const { name, code, message, retryable, hook, facts, turnId } = this;
    return { name, code, message, retryable, hook, facts, turnId };
  }
}

/** True for a `ProviderError` of any copy of this package. */
export function isProviderError(error: unknown): error is ProviderError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The name under which hooks see an error: in normal form, one of the codes above. */
export type NormalError = ProviderError;
