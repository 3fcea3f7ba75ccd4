/**
 * - `turn_not_found`, `operation_not_found`: there is no such row
 * - `illegal_transition`: the row's status does not allow this; nothing changed
 * - `turn_exists`, `operation_exists`: the id is taken by another row
 */
export type JournalErrorCode =
  | 'turn_not_found'
  | 'operation_not_found'
  | 'illegal_transition'
  | 'turn_exists'
  | 'operation_exists';

const brand = Symbol.for('stint.JournalError');

/** The journal's error. None of them is worth a retry: they tell that a caller's picture is out of date. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly retryable = false;
  readonly [brand] = true;

  constructor(
    readonly code: JournalErrorCode,
    message: string,
  ) {
    super(message);
  }

  toJSON(): Record<string, unknown> {
    return { name: this.name, code: this.code, message: this.message, retryable: this.retryable };
  }
}

/** True for a `JournalError` of any copy of this package. */
export function isJournalError(error: unknown): error is JournalError {
  return typeof error === 'object' && error !== null && brand in error;
}
