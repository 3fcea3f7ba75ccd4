/** Every code a {@link WorkItemsError} carries. Codes are stable; messages are for people. */
export type WorkItemsErrorCode =
  | 'invalid_field'
  | 'item_not_found'
  | 'item_finished'
  | 'item_not_started'
  | 'action_not_found'
  | 'action_not_accepting_input'
  | 'action_not_retryable'
  | 'question_not_found'
  | 'question_closed'
  | 'run_not_found'
  | 'mailbox_entry_not_found'
  | 'coordinator_turn_not_found'
  | 'client_message_conflict'
  | 'illegal_transition'
  | 'workspace_in_use'
  | 'too_many_actions'
  | 'item_not_deletable'
  | 'invariant_broken';

const brand = Symbol.for('@stint/work-items/error');

/** What this package throws. `code` is stable; `retryable` says whether the same call may succeed later unchanged. */
export class WorkItemsError extends Error {
  readonly code: WorkItemsErrorCode;
  readonly retryable: boolean;
  /** The field that was refused, for `invalid_field`. */
  readonly field: string | null;

  constructor(
    code: WorkItemsErrorCode,
    message: string,
    options: { readonly retryable?: boolean; readonly field?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'WorkItemsError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.field = options.field ?? null;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for an error of this package, also one thrown by another copy of it. */
export function isWorkItemsError(error: unknown): error is WorkItemsError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** An error for one refused field. */
export function invalidField(field: string, message: string): WorkItemsError {
  return new WorkItemsError('invalid_field', `${field}: ${message}`, { field });
}
