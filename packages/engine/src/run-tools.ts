import type { CallContext, PreparedCall } from '@stint/tools';
import type { HistoryEntry } from '@stint/provider-hooks';
import { EngineError } from './errors.js';
import type { BatchCall, Ended } from './batch-call.js';
import { beginOperation, endOperation } from './run-operation.js';
import { hookError, RunStop } from './run-stop.js';
import type { RunState } from './run-state.js';
import { callsOf, notRun, outcomeUnknown, resultEntry, resultKey, turnOf, type CallInHistory } from './tool-calls.js';
import type { EngineToolCall } from './types.js';

/**
 * Runs the calls of an answer that have no result yet. Neighbours that only read and may run beside each other run
 * together, all others one by one, in order. Every call gets exactly one result, in order: after an abort, after a fatal
 * one, and after one beside which a function of the caller's failed, the rest are "not run". Nothing is left running when
 * this returns or throws. Answers how many calls the answer has.
 */
export async function runTools(run: RunState, answer: HistoryEntry): Promise<number> {
  const calls = callsOf(answer);
  const batch = await prepareBatch(run, turnOf(answer), calls);
  let stop: { readonly why: string; readonly error: unknown } | null = null;
  for (const group of groupsOf(batch, run.options.limits.parallelTools)) {
    for (const each of group) await run.events.emit({ type: 'tool-call-start', call: each.call });
    const blocked: string | null = stop?.why ?? (run.signal.aborted ? 'the run was aborted.' : null);
    const ends = await allOf(group, (each) => (blocked === null ? runOne(run, each) : skip(blocked)));
    for (const [index, each] of group.entries()) {
      const end = ends[index] as Ended;
      await record(run, each, end);
      stop ??= stopAfter(each, end);
    }
  }
  if (stop) throw stop.error;
  return calls.length;
}

/** What becomes of each of a group; of most groups there is one. */
async function allOf(group: readonly BatchCall[], end: (each: BatchCall) => Promise<Ended>): Promise<readonly Ended[]> {
  const [only] = group;
  return group.length === 1 && only ? [await end(only)] : await Promise.all(group.map(end));
}

async function prepareBatch(
  run: RunState,
  turn: string,
  calls: readonly CallInHistory[],
): Promise<readonly BatchCall[]> {
  const batch: BatchCall[] = [];
  for (const inHistory of calls) {
    if (run.history.has(resultKey(turn, inHistory.callIndex))) continue;
    batch.push(toBatch(turn, inHistory, await readyOf(run, inHistory)));
  }
  return batch;
}

function toBatch(turn: string, inHistory: CallInHistory, ready: BatchCall['ready']): BatchCall {
  const { callIndex, toolCallId, tool, input } = inHistory;
  const facts =
    'call' in ready ? ready.call : { readOnly: true, concurrencySafe: true, hasExternalEffect: false, input };
  const { readOnly, hasExternalEffect } = facts;
  const call = { turnId: turn, callIndex, toolCallId, tool, input: facts.input, readOnly, hasExternalEffect };
  return { turn, inHistory, call, ready, isParallel: facts.readOnly && facts.concurrencySafe };
}

async function readyOf(run: RunState, { tool, input, isCut }: CallInHistory): Promise<BatchCall['ready']> {
  if (isCut)
    return {
      refused: notRun(
        'its arguments are no whole JSON object; the answer may have been cut. Make the call again, shorter if need be.',
      ),
    };
  if (!run.options.tools) return { refused: notRun(`there are no tools in this run, so no ${tool}.`) };
  const { tools } = run.options;
  try {
    return await run.hooks.ask('tools.prepare', () => tools.prepare(tool, input));
  } catch (error) {
    const why = run.signal.aborted ? 'the run was aborted.' : `${tool} could not be looked up.`;
    return { refused: notRun(why), error: error as Error };
  }
}

/** Neighbours that may run together, at most `parallel` of them; all others alone. */
function groupsOf(batch: readonly BatchCall[], parallel: number): readonly (readonly BatchCall[])[] {
  const groups: BatchCall[][] = [];
  for (const each of batch) {
    const last = groups.at(-1);
    const joins =
      last !== undefined && each.isParallel && last.length < parallel && last.every((other) => other.isParallel);
    if (joins) last.push(each);
    else groups.push([each]);
  }
  return groups;
}

/** Never throws: neighbours that run beside it have their results, too. */
function runOne(run: RunState, each: BatchCall): Promise<Ended> {
  const { ready } = each;
  if ('refused' in ready) {
    const { refused: result, error } = ready;
    return Promise.resolve({ result, ran: false, ...(error ? { error } : {}) });
  }
  let context: CallContext;
  try {
    context = contextOf(run, each.call);
  } catch (error) {
    const result = notRun('its context could not be made.');
    return Promise.resolve({ result, ran: false, error: hookError('toolContext', error) });
  }
  const { operationStart, operationEnd } = run.options;
  const isJournaled = ready.call.hasExternalEffect && (operationStart ?? operationEnd) !== undefined;
  return isJournaled ? runOperation(run, each, ready.call, context) : execute(ready.call, context);
}

/** A call that may change something: journaled before it starts, and ended after it. */
async function runOperation(run: RunState, each: BatchCall, call: PreparedCall, context: CallContext): Promise<Ended> {
  const denied = await beginOperation(run, each);
  if (denied) return denied;
  const ended = await execute(call, context);
  const error = (await endOperation(run, each, ended.result)) ?? ended.error;
  return error ? { ...ended, error } : ended;
}

function contextOf(run: RunState, call: EngineToolCall): CallContext {
  const { toolContext } = run.options;
  const extra = typeof toolContext === 'function' ? toolContext(call) : toolContext;
  return { ...extra, signal: run.signal, toolCallId: call.toolCallId };
}

/** A registry's call has its result whatever the tool does. Of one that throws all the same nobody knows what it did. */
async function execute(prepared: PreparedCall, context: CallContext): Promise<Ended> {
  try {
    return { result: await prepared.run(context), ran: true };
  } catch (error) {
    const result = { ...outcomeUnknown, output: 'The call broke off; its outcome is unknown.', code: 'failed' };
    const errorEffect = prepared.readOnly ? 'none' : 'unknown';
    return { result: { ...result, errorEffect }, ran: true, error: hookError('The run of a tool call', error) };
  }
}

function record(run: RunState, each: BatchCall, { result, ran }: Ended): Promise<void> {
  run.history.add(resultEntry(each.turn, each.inHistory, result));
  if (ran || 'refused' in each.ready) run.repeats.add(each.call.tool, each.inHistory.input, result);
  return run.events.emit({ type: 'tool-call-end', call: each.call, ran, result });
}

function stopAfter(
  { call }: BatchCall,
  { result, error }: Ended,
): { readonly why: string; readonly error: unknown } | null {
  if (error) return { why: 'an earlier call ended the run.', error };
  if (!result.fatal) return null;
  const message = `${call.tool} did not end in time and may still have changed something; the run cannot go on by itself.`;
  return {
    why: `${call.tool} before it timed out, and its state is not known.`,
    error: new RunStop('failed', new EngineError('tool_fatal', message)),
  };
}

async function skip(why: string): Promise<Ended> {
  return { result: notRun(why), ran: false };
}
