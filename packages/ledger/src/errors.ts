/** Stable codes of {@link LedgerError}. */
export type LedgerErrorCode =
  | 'account_exists'
  | 'account_unknown'
  | 'invalid_actor'
  | 'invalid_estimate'
  | 'invalid_input'
  | 'invalid_limits'
  | 'invalid_usage'
  | 'ledger_unavailable'
  | 'number_out_of_range'
  | 'person_required'
  | 'price_unknown'
  | 'refused';

/** Facts beside the message of a {@link LedgerError}. */
export interface LedgerErrorOptions {
  /** Whether the same call may succeed later without a change of its input. @default false */
  readonly retryable?: boolean;
  /** What made the error. */
  readonly cause?: unknown;
  /** Machine-readable facts: the account, the key, the reason of a refusal. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const brand: unique symbol = Symbol.for('@stint/ledger/error');

/** The one error class of this package; `code` is stable, the message is for people. */
export class LedgerError extends Error {
  readonly [brand] = true;
  readonly code: LedgerErrorCode;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: LedgerErrorCode, message: string, options: LedgerErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LedgerError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }
}

/** True for errors of this package, also of another copy of it. */
export function isLedgerError(value: unknown): value is LedgerError {
  return typeof value === 'object' && value !== null && brand in value;
}
