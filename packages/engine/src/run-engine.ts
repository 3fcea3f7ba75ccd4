import type { HistoryEntry } from '@stint/provider-hooks';
import { callModel } from './call-model.js';
import { decideNext } from './decide-next.js';
import { EngineError } from './errors.js';
import { EventChannel } from './event-channel.js';
import { resolveOptions } from './options.js';
import { repairHistory } from './repair-history.js';
import { beginHistory } from './resume-run.js';
import { RunState } from './run-state.js';
import { abortStop, stopOf, type RunStop } from './run-stop.js';
import { runTools } from './run-tools.js';
import type { EngineEvent, EngineOptions, RunEnd, RunEndReason } from './types.js';

/**
 * Runs the model loop until it ends. Nothing happens before the first event is asked for; ending the iteration early
 * aborts the run. The last event is `run-end`, exactly once, whatever happens.
 *
 * Throws `invalid_options` at once; what goes wrong later is told by `run-end`.
 */
export function runEngine(options: EngineOptions): AsyncIterableIterator<EngineEvent> {
  const resolved = resolveOptions(options);
  const controller = new AbortController();
  const channel: EventChannel<EngineEvent> = new EventChannel<EngineEvent>(
    async () => {
      const release = follow(resolved.signal, controller);
      const run = new RunState(resolved, controller.signal, channel);
      const end = await runToEnd(run);
      release();
      run.hooks.close();
      void channel.push(end);
    },
    () => controller.abort(new EngineError('aborted', 'The consumer ended the iteration.')),
  );
  return channel;
}

/** The loop itself: act on the answer, decide, ask for the next. */
async function loop(run: RunState): Promise<RunEndReason> {
  let answer = beginHistory(run);
  for (;;) {
    answer ??= await callModel(run);
    const callCount = await runTools(run, answer.entry);
    if (run.signal.aborted) throw abortStop(run.signal);
    const end = await decideNext(run, answer, callCount);
    if (end !== null) return end;
    answer = null;
  }
}

async function runToEnd(run: RunState): Promise<RunEnd> {
  try {
    const reason = await loop(run);
    const failure = await storeRest(run);
    return failure ? endOf(run, 'failed', stopOf(failure, run.signal)) : endOf(run, reason, null);
  } catch (error) {
    const stop = stopOf(error, run.signal);
    const failure = await storeRest(run);
    // The first reason stands; that the rest could not be stored matters only if nothing else went wrong.
    return endOf(run, stop.reason, stop.error || !failure ? stop : stopOf(failure, run.signal));
  }
}

/** Stores what no request will carry. Inputs that no answer acknowledged stay pending where they came from. */
async function storeRest(run: RunState): Promise<EngineError | null> {
  const rest = run.history.pendingWithout((entry) => entry.inputId !== undefined);
  const { appendEntries } = run.options;
  if (rest.length === 0 || !appendEntries) return null;
  try {
    await run.hooks.store('appendEntries', () => appendEntries(rest));
    return null;
  } catch (error) {
    return error as EngineError;
  }
}

function endOf(run: RunState, reason: RunEndReason, stop: RunStop | null): RunEnd {
  return {
    type: 'run-end',
    reason,
    text: run.text,
    ...(run.output === undefined ? {} : { output: run.output }),
    error: stop?.error ?? null,
    notBefore: stop?.notBefore ?? null,
    turnNumber: run.turnNumber,
    usage: run.usage,
    unmeasuredTurns: run.unmeasuredTurns,
    costMicros: run.costMicros,
    requests: run.requests,
    entries: repairHistory(run.history.entries.filter((entry) => !isUnbound(run, entry))),
  };
}

function isUnbound(run: RunState, entry: HistoryEntry): boolean {
  return entry.inputId !== undefined && run.boundInputs.includes(entry.inputId);
}

/** Aborts ours when theirs is; answers how to stop following, so that a long-lived signal keeps no listener of ours. */
function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (!signal) return () => undefined;
  const onAbort = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return () => signal.removeEventListener('abort', onAbort);
}
