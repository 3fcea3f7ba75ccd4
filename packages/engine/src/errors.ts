/**
 * Why a run ended on the engine's side, stable.
 * - `aborted`: the signal was aborted, its reason is the cause
 * - `deferred`: the provider asked for a longer wait than the run may hold its lease for
 * - `repeating`: the model makes the same calls again and again
 * - `turns_exhausted`: `maxTurns` was reached
 * - `context_exceeded`: the request cannot fit the model's context
 * - `tool_fatal`: a tool that changes things timed out, its state is not known
 * - `output_invalid`: the final answer does not have the shape asked for, after one correction
 * - `output_limit`: the answer was cut by the output limit after all continuations
 * - `hook_failed`: one of the caller's functions threw; `cause` is what it threw
 */
export type EngineErrorCode =
  | 'aborted'
  | 'deferred'
  | 'repeating'
  | 'turns_exhausted'
  | 'context_exceeded'
  | 'tool_fatal'
  | 'output_invalid'
  | 'output_limit'
  | 'invalid_options'
  | 'hook_failed';

const brand = Symbol.for('stint.EngineError');

/** The engine's error. JSON-safe: `toJSON` leaves the cause out. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly [brand] = true;

  constructor(
    readonly code: EngineErrorCode,
    message: string,
    readonly details: Readonly<{ retryable?: boolean; cause?: unknown }> = {},
  ) {
    super(message, { cause: details.cause });
  }

  /** True if the same run may go on later from its history. */
  get retryable(): boolean {
    return this.details.retryable ?? false;
  }

  toJSON(): Record<string, unknown> {
    return { name: this.name, code: this.code, message: this.message, retryable: this.retryable };
  }
}

/** True for an `EngineError` of any copy of this package. */
export function isEngineError(error: unknown): error is EngineError {
  return typeof error === 'object' && error !== null && brand in error;
}
