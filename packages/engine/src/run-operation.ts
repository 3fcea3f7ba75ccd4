import { redact } from '@stint/provider-hooks';
import type { ToolResult } from '@stint/tools';
import type { EngineError } from './errors.js';
import { HookLate } from './hook-waits.js';
import type { BatchCall, Ended } from './batch-call.js';
import type { RunState } from './run-state.js';
import { notRun, resultEntry } from './tool-calls.js';
import type { OperationEffect } from './types.js';

/**
 * Journals a side-effecting call before it starts. Null lets it run; a throw means that it does not run, and the model is
 * told why. One that is not done in time means the same and ends the run, since its row may be there or still come.
 */
export async function beginOperation(run: RunState, each: BatchCall): Promise<Ended | null> {
  const { operationStart } = run.options;
  if (!operationStart) return null;
  let started: Promise<void> | null = null;
  try {
    await run.hooks.store('operationStart', () => (started = operationStart(each.call)));
    return null;
  } catch (error) {
    const { message, cause } = error as EngineError;
    if (error instanceof HookLate) {
      const result = notRun(message);
      if (started) undoWhenStarted(run, each, started, result);
      return { result, ran: false, error };
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    return { result: notRun(`operationStart refused the call: ${redact(why).slice(0, 300)}`), ran: false };
  }
}

/** A start that comes true after it was given up is ended as what it is: nothing was done. */
function undoWhenStarted(run: RunState, each: BatchCall, started: Promise<void>, result: ToolResult): void {
  const undo = async (): Promise<void> => {
    const error = await endOperation(run, each, result);
    if (error)
      process.emitWarning(`An operation that was given up stays begun: ${error.message}`, {
        code: 'STINT_LATE_OPERATION',
      });
  };
  started.then(undo, () => undefined); // one that fails late has stored nothing
}

/** Stores what a call did; answers the error if that failed. */
export async function endOperation(run: RunState, each: BatchCall, result: ToolResult): Promise<Error | null> {
  const { operationEnd } = run.options;
  if (!operationEnd) return null;
  const entry = resultEntry(each.turn, each.inHistory, result);
  try {
    await run.hooks.store('operationEnd', () => operationEnd(each.call, { result, effect: effectOf(result), entry }));
    return null;
  } catch (error) {
    return error as Error;
  }
}

function effectOf(result: ToolResult): OperationEffect {
  if (result.ok) return 'applied';
  return result.errorEffect === 'none' ? 'no_effect' : 'unknown';
}
