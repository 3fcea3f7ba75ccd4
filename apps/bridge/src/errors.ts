/** Codes of errors this package throws. Callers branch on them; the message is for people. */
export type BridgeErrorCode = 'invalid_option' | 'page_missing' | 'port_in_use' | 'cannot_listen';

/** Error of the bridge. `retryable` = the same call may succeed later. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
  readonly code: BridgeErrorCode;
  readonly retryable: boolean;

  constructor(code: BridgeErrorCode, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** True for an error of this package, also from another copy of it. */
export function isBridgeError(error: unknown): error is BridgeError {
  return error instanceof Error && error.name === 'BridgeError' && 'code' in error;
}
