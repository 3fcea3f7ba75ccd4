import type { PreparedCall, ToolResult } from '@stint/tools';
import { redact, type HistoryEntry } from '@stint/provider-hooks';
import { EngineError } from './errors.js';
import { hookError, RunStop } from './run-stop.js';
import type { RunState } from './run-state.js';
import { callsOf, notRun, resultEntry, resultKey, turnOf, type CallInHistory } from './tool-calls.js';
import type { EngineToolCall, OperationEffect } from './types.js';

/** A call of the batch on its way to its one result. */
interface BatchCall {
  readonly turn: string;
  readonly inHistory: CallInHistory;
  readonly call: EngineToolCall;
  /** Ready to run, or the result that it has without running. */
  readonly ready: { readonly call: PreparedCall } | { readonly refused: ToolResult };
  readonly isParallel: boolean;
}

/** What one call came to. */
interface Ended {
  readonly result: ToolResult;
  readonly ran: boolean;
  /** The end of the operation could not be stored. */
  readonly error?: EngineError;
}

/**
 * Runs the calls of an answer that have no result yet. Neighbours that only read and may run beside each other run
 * together, all others one by one, in order. Every call gets exactly one result, in order: after an abort, after a fatal
 * one, and after one whose end could not be stored, the rest are "not run". Answers how many calls the answer has.
 */
export async function runTools(run: RunState, answer: HistoryEntry): Promise<number> {
  const batch = await prepareBatch(run, answer);
  let stop: { readonly why: string; readonly error: unknown } | null = null;
  for (const group of groupsOf(batch, run.options.limits.parallelTools)) {
    for (const each of group) await run.events.emit({ type: 'tool-call-start', call: each.call });
    const blocked: string | null = stop?.why ?? (run.signal.aborted ? 'the run was aborted.' : null);
    const ends = await Promise.all(group.map((each) => (blocked === null ? runOne(run, each) : skip(blocked))));
    for (const [index, each] of group.entries()) {
      const end = ends[index] as Ended;
      await record(run, each, end);
      stop ??= stopAfter(each, end);
    }
  }
  if (stop) throw stop.error;
  return callsOf(answer).length;
}

async function prepareBatch(run: RunState, answer: HistoryEntry): Promise<readonly BatchCall[]> {
  const turn = turnOf(answer);
  const open = callsOf(answer).filter((call) => !run.history.has(resultKey(turn, call.callIndex)));
  const batch: BatchCall[] = [];
  for (const inHistory of open) batch.push(await prepareCall(run, turn, inHistory));
  return batch;
}

async function prepareCall(run: RunState, turn: string, inHistory: CallInHistory): Promise<BatchCall> {
  const { callIndex, toolCallId, tool, input } = inHistory;
  const ready = await readyOf(run, inHistory);
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
  return run.options.tools.prepare(tool, input);
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

async function runOne(run: RunState, each: BatchCall): Promise<Ended> {
  if ('refused' in each.ready) return { result: each.ready.refused, ran: false };
  const { call } = each.ready;
  if (!call.hasExternalEffect) return { result: await execute(run, each, call), ran: true };
  const denied = await begin(run, each);
  if (denied) return { result: denied, ran: false };
  const result = await execute(run, each, call);
  return { result, ran: true, ...(await end(run, each, result)) };
}

function execute(run: RunState, { call }: BatchCall, prepared: PreparedCall): Promise<ToolResult> {
  const { toolContext } = run.options;
  const extra = typeof toolContext === 'function' ? toolContext(call) : toolContext;
  return prepared.run({ ...extra, signal: run.signal, toolCallId: call.toolCallId });
}

/** Journals the call before it starts; a throw means that it does not start. */
async function begin(run: RunState, { call }: BatchCall): Promise<ToolResult | null> {
  try {
    await run.options.operationStart?.(call);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return notRun(`operationStart refused the call: ${redact(why).slice(0, 300)}`);
  }
}

async function end(run: RunState, each: BatchCall, result: ToolResult): Promise<Pick<Ended, 'error'>> {
  try {
    const entry = resultEntry(each.turn, each.inHistory, result);
    await run.options.operationEnd?.(each.call, { result, effect: effectOf(result), entry });
    return {};
  } catch (error) {
    return { error: hookError('operationEnd', error) };
  }
}

function effectOf(result: ToolResult): OperationEffect {
  if (result.ok) return 'applied';
  return result.errorEffect === 'none' ? 'no_effect' : 'unknown';
}

async function record(run: RunState, each: BatchCall, { result, ran }: Ended): Promise<void> {
  run.history.add(resultEntry(each.turn, each.inHistory, result));
  if (ran || 'refused' in each.ready) run.repeats.add(each.call.tool, each.call.input, result);
  await run.events.emit({ type: 'tool-call-end', call: each.call, ran, result });
}

function stopAfter(
  { call }: BatchCall,
  { result, error }: Ended,
): { readonly why: string; readonly error: unknown } | null {
  if (error) return { why: 'the result of an earlier call could not be stored.', error };
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
