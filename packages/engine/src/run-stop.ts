import { isProviderError, type ProviderError } from '@stint/provider-hooks';
import { EngineError, isEngineError } from './errors.js';
import type { RunEndReason } from './types.js';

/** Thrown by a step to end the run; never leaves the engine. */
export class RunStop extends Error {
  constructor(
    readonly reason: RunEndReason,
    readonly error: EngineError | ProviderError | null,
    readonly notBefore: number | null = null,
  ) {
    super(error?.message ?? reason);
  }
}

/** How the run ends by what a step threw. An abort of ours is the reason whatever came of it. */
export function stopOf(error: unknown, signal: AbortSignal): RunStop {
  if (error instanceof RunStop && error.error?.code !== 'aborted') return error;
  if (signal.aborted) return abortStop(signal);
  if (isProviderError(error)) return new RunStop(error.code === 'denied' ? 'denied' : 'failed', error);
  if (isEngineError(error)) return new RunStop('failed', error);
  return new RunStop('failed', hookError('A function given to the engine', error));
}

/** The stop of an aborted run; the signal's reason is the cause. */
export function abortStop(signal: AbortSignal): RunStop {
  return new RunStop('aborted', new EngineError('aborted', 'The run was aborted.', { cause: signal.reason }));
}

/** What the caller's own function threw, with its name. */
export function hookError(what: string, cause: unknown): EngineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new EngineError('hook_failed', `${what} failed: ${why}`, { cause });
}
