import type { RunEnd } from '@stint/engine';
import { isProviderError, type ProviderErrorCode } from '@stint/provider-hooks';
import type { RefusalReason } from '@stint/ledger';
import type { RunEnding, RunReason, Unresolved } from '@stint/work-items';
import { causedByStore, causesOf, storeRetryMs } from './error-causes.js';
import { isCoordinatorError } from './errors.js';
import { handedOver, type Outcome } from './outcome.js';
import { meaningOf } from './refusals.js';
import { denialOf } from './turn-hooks.js';
import { toolFatal } from './unknowns.js';

/** What the end of a Run is judged by. */
export interface RunEndFacts {
  readonly end: RunEnd;
  /** The last outcome that was accepted; null if none was. */
  readonly outcome: Outcome | null;
  /** Temporary refusals that ended Runs of this Action in a row before this one. */
  readonly refusalsInARow: number;
  /** Operations of this Run's last calls whose effect nobody knows. */
  readonly unknownOperations: readonly Unresolved[];
  readonly now: number;
}

/** After this many temporary refusals in a row an Action fails. */
export const mostRefusalsInARow = 10;

/**
 * How a Run ends, from how its loop ended. Null: the lease is lost, there is nothing to end. Pure. Reasons are fixed
 * sentences: they are shown to people and to models, so no text of a provider or a file enters them.
 */
export function runEndingOf(facts: RunEndFacts): RunEnding | null {
  const { end, outcome } = facts;
  if (causedByLostLease(end.error)) return null;
  const denial = denialOf(end.error);
  if (denial !== null) return deniedEnding(denial, facts);
  if (causedByStore(end.error)) return storeFailed(facts.now + storeRetryMs);
  switch (end.reason) {
    case 'ended_by_tool':
    case 'completed':
      return outcome === null ? noOutcome() : endingOfOutcome(outcome);
    case 'aborted':
      return deferred('stopped', 'The work was stopped; it goes on where it was.', facts.now);
    case 'deferred':
      return deferred('provider_wait', 'The provider asked to wait.', end.notBefore ?? facts.now);
    case 'paused':
      return failed(end.error?.code ?? 'paused', 'The model repeated itself or used up its turns.');
    case 'denied':
    case 'failed':
      return end.error?.code === 'tool_fatal' ? unknownTool(facts.unknownOperations) : failureEnding(end.error);
  }
}

function causedByLostLease(error: unknown): boolean {
  return [...causesOf(error)].some((cause) => isCoordinatorError(cause) && cause.code === 'lease_lost');
}

function endingOfOutcome(outcome: Outcome): RunEnding {
  switch (outcome.status) {
    case 'completed':
      return { status: 'completed', outcome: handedOver(outcome) };
    case 'waiting':
      return { status: 'waiting', question: outcome.question ?? outcome.summary };
    case 'retryable':
      return { status: 'retryable', reason: { code: 'retryable', message: outcome.summary } };
    case 'failed':
      return { status: 'failed', reason: { code: 'failed', message: outcome.summary }, outcome: handedOver(outcome) };
  }
}

function noOutcome(): RunEnding {
  return {
    status: 'retryable',
    reason: { code: 'no_outcome', message: 'The model ended without submitting an outcome.' },
  };
}

function deniedEnding(denial: RefusalReason, { refusalsInARow, now }: RunEndFacts): RunEnding {
  const { message, retryAfter } = denial;
  switch (meaningOf(denial)) {
    case 'stopped':
      return deferred('budget', message, now);
    case 'exhausted':
      return failed('exhausted', message);
    case 'own_limit':
      return failed('resource_limit', message);
    case 'passing':
      if (refusalsInARow + 1 >= mostRefusalsInARow)
        return failed('resource_limit', `Refused ${mostRefusalsInARow} times in a row. ${message}`);
      return deferred(temporaryRefusal, message, retryAfter ?? now + Math.min(250 * 2 ** refusalsInARow, 60_000));
  }
}

/** Code of the reason of a Run that a temporary refusal deferred. */
export const temporaryRefusal = 'refused_for_now';

function failureEnding(error: RunEnd['error']): RunEnding {
  if (error === null) return failed('failed', 'The Run failed without a reason.');
  if (!isProviderError(error))
    return error.retryable ? retryable(error.code, 'The loop failed.') : failed(error.code, 'The loop failed.');
  const sentence = providerSentences[error.code] ?? 'The provider could not be used.';
  if (configurationCodes.has(error.code)) return failed('provider', sentence);
  return error.retryable || error.code === 'hook_failed'
    ? retryable(error.code, sentence)
    : failed(error.code, sentence);
}

const configurationCodes: ReadonlySet<string> = new Set(['unauthorized', 'not_found']);

const providerSentences: Readonly<Partial<Record<ProviderErrorCode, string>>> = {
  unauthorized: 'The provider refused the key.',
  not_found: 'The provider does not know the model.',
  bad_request: 'The provider refused the request as malformed.',
  too_large: 'The request is too large for the provider.',
  context_exceeded: 'The conversation no longer fits the context of the model.',
  rate_limited: 'The provider limited the rate again and again.',
  overloaded: 'The provider was overloaded again and again.',
  server_error: 'The provider failed again and again.',
  not_sent: 'The provider could not be reached.',
  connection: 'The connection to the provider broke again and again.',
  incomplete: 'The answers of the provider broke off again and again.',
  idle_timeout: 'The provider fell silent again and again.',
  total_timeout: 'The provider took too long again and again.',
  hook_failed: 'The request could not be recorded, so it was not used.',
};

/** What a tool did before it ran out of time is for a person to find out; then the Run goes on. */
function unknownTool(unresolved: readonly Unresolved[]): RunEnding {
  const reason = {
    code: toolFatal,
    message: 'A tool that changes things did not end in time; what it did is not known.',
  };
  return unresolved.length === 0 ? { status: 'failed', reason } : { status: 'outcome_unknown', reason, unresolved };
}

/** The store could not be written: the Run goes on where it was, in the same attempt. */
export function storeFailed(notBefore: number): Extract<RunEnding, { status: 'deferred' }> {
  return deferred('store_failed', 'The store could not be written; the Run goes on where it was.', notBefore);
}

function deferred(code: string, message: string, notBefore: number): Extract<RunEnding, { status: 'deferred' }> {
  return { status: 'deferred', reason: { code, message }, notBefore };
}

function retryable(code: string, message: string): RunEnding {
  return { status: 'retryable', reason: { code, message } satisfies RunReason };
}

function failed(code: string, message: string): RunEnding {
  return { status: 'failed', reason: { code, message } };
}

/** Names of the errors that end a Run before its loop began. */
export function unstartedEnding(error: unknown): RunEnding {
  const code = errorCode(error);
  if (code === 'provider_not_configured') return failed('provider', 'No usable model is configured for this item.');
  if (code === 'workspace_moved')
    return failed('workspace_moved', 'The work directory is no longer where it was when the item was created.');
  return failed('failed', 'The Run could not be prepared.');
}

function errorCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
