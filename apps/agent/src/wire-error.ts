import { cutToBytes, DTO_LIMITS, type WireError } from '@stint/contracts';
import { createRedactor } from '@stint/projection';
import { WireRefusal } from './bridge-link.js';
import { isStoreError } from '@stint/storage';
import { CommandFailure } from './failure.js';
import { isRefusal } from './refusals.js';

const redactor = createRedactor({ workspaceRoot: null });

/** What a browser is told of an error: its code and one redacted line; of an unforeseen one nothing but that it happened. */
export function toWireError(error: unknown): WireError {
  if (error instanceof WireRefusal) return answer(error.code, error.message, error.retryable);
  if (error instanceof CommandFailure) return answer('invalid_input', error.message, false);
  if (isRefusal(error) || isStoreError(error)) return answer(error.code, error.message, error.retryable === true);
  return answer('internal', 'The agent could not do this; its own log says why.', false);
}

const answer = (code: string, message: string, retryable: boolean): WireError => ({
  code,
  message: cutToBytes(redactor.redact(message), DTO_LIMITS.maxLineBytes),
  retryable,
});
