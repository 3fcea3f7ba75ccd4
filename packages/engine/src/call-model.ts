import { randomUUID } from 'node:crypto';
import {
  isProviderError,
  responseEntry,
  type HookedModel,
  type ProviderError,
  type TurnResponse,
} from '@stint/provider-hooks';
import { buildRequest } from './build-request.js';
import { drainInput } from './drain-input.js';
import { EngineError } from './errors.js';
import { compact, fitContext } from './fit-context.js';
import { continueNote, openText } from './open-answer.js';
import { retryDelayMs } from './retry-delay.js';
import { abortStop, hookError, RunStop } from './run-stop.js';
import type { AnsweredTurn, RunState } from './run-state.js';

interface Attempt {
  readonly model: HookedModel;
  /** Tries of this model in this turn, from 1. */
  number: number;
  /** Place of the model in `options.models`. */
  modelIndex: number;
  retryOf: string | null;
}

/**
 * One turn: asks the model until there is a complete answer. Each try is a request of its own, with what arrived in the
 * meantime. What was shown of a broken answer is kept, and continued rather than asked for again.
 */
export async function callModel(run: RunState): Promise<AnsweredTurn> {
  beginTurn(run);
  let attempt: Attempt = { model: run.options.models[0] as HookedModel, number: 1, modelIndex: 0, retryOf: null };
  for (;;) {
    try {
      return await tryOnce(run, attempt);
    } catch (error) {
      if (!isProviderError(error) || run.signal.aborted) throw error;
      noteFailure(run, error);
      attempt = await nextAttempt(run, attempt, error);
    }
  }
}

function beginTurn(run: RunState): void {
  const { maxTurns } = run.options.limits;
  if (run.turns >= maxTurns) {
    const error = new EngineError('turns_exhausted', `The run has made ${maxTurns} turns (limits.maxTurns).`, {
      retryable: true,
    });
    throw new RunStop('paused', error);
  }
  run.turns += 1;
  run.turnNumber += 1;
}

async function tryOnce(run: RunState, attempt: Attempt): Promise<AnsweredTurn> {
  const { drainInput: said, drainBackground: done, budget, budgetText, contextTokens } = run.options;
  // What is not asked for costs no wait.
  if (said || done) await drainInput(run);
  if (budget) run.budget = await run.hooks.ask('budget', budget);
  if (contextTokens !== undefined) await fitContext(run, contextTokens);
  const told = budgetText ? await run.hooks.ask('budgetText', () => budgetText(run.budget)) : null;
  const request = buildRequest(run, attempt.retryOf, told);
  const inputIds = [...run.boundInputs];
  const { name: model } = attempt.model;
  await run.events.emit({ type: 'turn-start', turnNumber: run.turnNumber, model, inputIds, attempt: attempt.number });
  if (run.signal.aborted) throw abortStop(run.signal);
  try {
    return await readAnswer(run, attempt.model.stream(request));
  } catch (error) {
    if (isProviderError(error)) keepPartialText(run, error);
    throw error;
  }
}

async function readAnswer(run: RunState, events: ReturnType<HookedModel['stream']>): Promise<AnsweredTurn> {
  for (;;) {
    const { value: event, done } = await events.next();
    if (done)
      throw new EngineError(
        'hook_failed',
        'The model ended its answer without a finish event; use a model of hookModel.',
      );
    if (event.type === 'finish') return takeAnswer(run, event.turnId, event.response);
    if (event.type === 'content') continue;
    const full = run.events.push(event);
    if (full) await full;
  }
}

/** The answer is stored by the `finish` hook: it acknowledges what its request carried. */
async function takeAnswer(run: RunState, turnId: string | null, response: TurnResponse): Promise<AnsweredTurn> {
  const entry = responseEntry(turnId ?? `local-${randomUUID()}`, response);
  run.requests += 1;
  run.boundInputs = [];
  run.history.add(entry);
  run.history.markStored();
  run.text = openText(run.history.entries);
  run.addUsage(response.usage);
  const { finishReason } = response;
  const costMicros = costOf(run, response);
  void run.events.push({ type: 'usage', turnId, usage: response.usage, model: response.model, costMicros });
  await run.events.emit({ type: 'turn-end', turnNumber: run.turnNumber, turnId, finishReason, text: response.text });
  return { entry, finishReason, text: run.text };
}

function costOf(run: RunState, response: TurnResponse): number | null {
  try {
    const costMicros = run.options.costOf?.(response) ?? null;
    run.addCost(costMicros);
    return costMicros;
  } catch (error) {
    throw hookError('costOf', error);
  }
}

/** What was shown of the answer is its beginning: it is kept and continued. Half a JSON document is asked for anew. */
function keepPartialText(run: RunState, error: ProviderError): void {
  const text = error.facts?.partialText ?? '';
  if (text.trim() === '' || error.turnId === undefined || run.options.output) return;
  run.history.add({
    key: `partial:${error.turnId}`,
    kind: 'partial',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
  });
  run.text = openText(run.history.entries);
}

function noteFailure(run: RunState, error: ProviderError): void {
  if (!error.facts?.sent) return;
  run.requests += 1;
  if (!error.facts.refusedByProvider) run.addUsage(error.facts.usage);
}

/** Waits, and answers what to try next; throws what ends the run. */
async function nextAttempt(run: RunState, attempt: Attempt, error: ProviderError): Promise<Attempt> {
  const { options, signal } = run;
  const retryOf = error.turnId ?? attempt.retryOf;
  if (
    error.code === 'context_exceeded' &&
    attempt.number === 1 &&
    (await compact(run, options.contextTokens ?? run.history.tokens))
  ) {
    return { ...attempt, number: attempt.number + 1, retryOf };
  }
  if (!error.retryable) throw error;
  const delayMs = retryDelayMs(error, attempt.number, options.retry, options.ports.random);
  const isLong = (error.facts?.retryAfterMs ?? 0) > options.retry.deferAfterMs;
  const next = isLong || attempt.number >= options.retry.maxTries ? fallback(run, attempt, retryOf) : undefined;
  if (next === null) throw isLong ? deferral(run, error) : error;
  const { model, number } = next ?? { ...attempt, number: attempt.number + 1 };
  const waitMs = next ? 0 : delayMs;
  await run.events.emit({
    type: 'retry',
    turnNumber: run.turnNumber,
    attempt: number,
    delayMs: waitMs,
    model: model.name,
    error,
  });
  if (signal.aborted) throw abortStop(signal);
  if (waitMs > 0) await options.ports.sleep(waitMs, signal);
  if (run.history.messages.at(-1)?.role === 'assistant') run.addNote(continueNote);
  return next ?? { ...attempt, number, retryOf };
}

/** The next model of the list, from its first try; null if there is none. */
function fallback(run: RunState, attempt: Attempt, retryOf: string | null): Attempt | null {
  const modelIndex = attempt.modelIndex + 1;
  const model = run.options.models[modelIndex];
  return model === undefined ? null : { model, modelIndex, number: 1, retryOf };
}

function deferral(run: RunState, error: ProviderError): RunStop {
  const waitMs = error.facts?.retryAfterMs ?? 0;
  const { now } = run.options.ports;
  const { deferAfterMs } = run.options.retry;
  const message = `The provider asks to wait ${waitMs} ms, longer than ${deferAfterMs} ms (retry.deferAfterMs); the run can go on then.`;
  return new RunStop(
    'deferred',
    new EngineError('deferred', message, { retryable: true, cause: error }),
    now() + waitMs,
  );
}
