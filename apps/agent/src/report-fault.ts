import { CommanderError } from 'commander';
import { exitCodes } from './exit-codes.js';
import { CommandFailure } from './failure.js';
import type { Output } from './output.js';
import { isRefusal } from './refusals.js';

/**
 * Tells why a command was not carried out, and answers with its exit code. With `isJson` it is one document on stdout too,
 * `{ code, message, retryable, exitCode }`.
 */
export function reportFault(error: unknown, output: Output, isJson: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
  const fault = faultOf(error);
  if (!(error instanceof CommanderError)) output.note(`stint: ${fault.message}`); // a parser says its own
  if (isJson) output.json(fault);
  if (fault.exitCode === exitCodes.error && process.env['STINT_DEBUG'])
    output.note(error instanceof Error ? String(error.stack) : '');
  return fault.exitCode;
}

/** What a script is told of a command that was not carried out. */
interface Fault {
  /** Stable; `error` where nothing better is known. */
  readonly code: string;
  readonly message: string;
  /** True if the same command may succeed later. */
  readonly retryable: boolean;
  readonly exitCode: number;
}

function faultOf(error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error);
  const { usage } = exitCodes;
  if (error instanceof CommanderError)
    return { code: 'usage', message: message.replace(/^error: /, ''), retryable: false, exitCode: usage };
  if (error instanceof CommandFailure)
    return { code: error.reason, message, retryable: false, exitCode: error.exitCode };
  if (isRefusal(error)) return { code: error.code, message, retryable: error.retryable === true, exitCode: usage };
  const known = storeFault(error);
  return { code: 'error', retryable: false, ...known, message, exitCode: exitCodes.error };
}

/** Told by its shape: the storage package is loaded only by commands that open a store. */
function storeFault(error: unknown): Partial<Pick<Fault, 'code' | 'retryable'>> {
  if (!(error instanceof Error) || error.name !== 'StoreError' || !('code' in error)) return {};
  return { code: String(error.code), retryable: 'retryable' in error && error.retryable === true };
}
