/**
 * What a failed call left behind: `none` means provably nothing changed, `unknown` means nobody can say.
 * The journal turns `none` into "no effect" and asks a person about `unknown`, so `none` must never be a guess.
 */
export type ErrorEffect = 'none' | 'unknown';

/** Facts of a {@link ToolError}. */
export interface ToolErrorOptions {
  /** What the failed call left behind. @default 'unknown' */
  readonly errorEffect?: ErrorEffect;
  /** Whether the same call may succeed later without a change of its input. @default false */
  readonly retryable?: boolean;
  /** The error underneath. */
  readonly cause?: unknown;
}

const TOOL_ERROR = Symbol.for('@stint/tools.error');

/**
 * The one error of this package, and the one a tool throws to say more than "it failed".
 * `code` is stable; the message says what was tried, with which value, and what to do.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Stable, lower case with underscores, e.g. `not_found`. */
  readonly code: string;
  readonly retryable: boolean;
  readonly errorEffect: ErrorEffect;

  constructor(code: string, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.errorEffect = options.errorEffect ?? 'unknown';
    Object.defineProperty(this, TOOL_ERROR, { value: true });
  }

  /** JSON-safe form, without the cause (it may hold anything). */
  toJSON(): { name: string; code: string; message: string; retryable: boolean; errorEffect: ErrorEffect } {
    const { name, code, message, retryable, errorEffect } = this;
    return { name, code, message, retryable, errorEffect };
  }
}

/** True for a {@link ToolError} of this or any other copy of the package. */
export function isToolError(value: unknown): value is ToolError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[TOOL_ERROR] === true;
}

/** A failure that provably changed nothing. */
export function refusal(code: string, message: string, cause?: unknown): ToolError {
  return new ToolError(code, message, { errorEffect: 'none', ...(cause === undefined ? {} : { cause }) });
}

/** The text of any thrown value, whatever it is. */
export function messageOf(error: unknown): string {
  try {
    const text: unknown = error instanceof Error ? error.message : String(error);
    return typeof text === 'string' ? text : String(text);
  } catch {
    return 'something that cannot be shown was thrown'; // an object without a prototype, a getter that throws
  }
}

/** The system error code (`ENOENT`, ...) of a thrown value, if it has one. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
