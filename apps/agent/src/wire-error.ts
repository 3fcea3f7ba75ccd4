import { cutToBytes, DTO_LIMITS, type WireError } from '@stint/contracts';
import { createRedactor } from '@stint/projection';
import { WireRefusal } from './bridge-link.js';
import { CommandFailure } from './failure.js';

const redactor = createRedactor({ workspaceRoot: null });

/** Codes of errors whose messages are written for people and name only what the sender gave. */
const speakingErrors = new Set(['WorkItemsError', 'LedgerError', 'JournalError', 'CoordinatorError', 'StoreError']);

/** What a browser is told of an error: its code and one redacted line; of an unforeseen one nothing but that it happened. */
export function toWireError(error: unknown): WireError {
  if (error instanceof WireRefusal) return answer(error.code, error.message, error.retryable);
  if (error instanceof CommandFailure) return answer('invalid_input', error.message, false);
  if (error instanceof Error && speakingErrors.has(error.name) && 'code' in error)
    return answer(String(error.code), error.message, 'retryable' in error && error.retryable === true);
  return answer('internal', 'The agent could not do this; its own log says why.', false);
}

const answer = (code: string, message: string, retryable: boolean): WireError => ({
  code,
  message: cutToBytes(redactor.redact(message), DTO_LIMITS.maxLineBytes),
  retryable,
});
