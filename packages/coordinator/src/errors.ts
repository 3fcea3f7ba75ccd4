/** Stable codes of errors this package throws. `docs` for each is its message: what, which value, what to do. */
export type CoordinatorErrorCode =
  | 'turn_denied'
  | 'lease_lost'
  | 'start_late'
  | 'paused'
  | 'workspace_moved'
  | 'invalid_option'
  | 'not_found'
  | 'not_resolvable';

const MARK = Symbol.for('@stint/coordinator/error');

/**
 * Base of every error of this package.
 *
 * `code` is stable, `retryable` says whether the same call may succeed later without anyone changing anything,
 * `cause` keeps what was caught. Recognise it with {@link isCoordinatorError}, which also works across two copies of
 * the package.
 */
export class CoordinatorError extends Error {
  readonly code: CoordinatorErrorCode;
  readonly retryable: boolean;

  constructor(code: CoordinatorErrorCode, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CoordinatorError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    Object.defineProperty(this, MARK, { value: true });
  }

  toJSON(): { name: string; code: string; retryable: boolean; message: string } {
    return { name: this.name, code: this.code, retryable: this.retryable, message: this.message };
  }
}

/** True for an error of this package, from whichever copy of it. */
export function isCoordinatorError(value: unknown): value is CoordinatorError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[MARK] === true;
}
