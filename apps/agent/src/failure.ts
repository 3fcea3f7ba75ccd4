import { type ExitReason, exitCodes } from './exit-codes.js';

/** A command that cannot be carried out: one line that says what, which value and what to do, and the exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly reason: ExitReason;
  constructor(reason: ExitReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
  get exitCode(): number {
    return exitCodes[this.reason];
  }
}

/** Usage or configuration: exit 2. */
export const usageFailure = (message: string, cause?: unknown): CommandFailure =>
  new CommandFailure('usage', message, { cause });
