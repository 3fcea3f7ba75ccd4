import { closeInput } from './drain-input.js';
import { EngineError } from './errors.js';
import { HookLate } from './hook-waits.js';
import { RunStop } from './run-stop.js';
import type { AnsweredTurn, RunState } from './run-state.js';
import { continueNote } from './open-answer.js';
import { callsOf } from './tool-calls.js';

/** What follows a turn whose calls all have their results: another request (null), or how the run ends. */
export async function decideNext(run: RunState, answer: AnsweredTurn, callCount: number): Promise<RunEndKind | null> {
  stopLoop(run);
  if (run.options.control.takeEndRequest()) return (await closeInput(run)) ? 'ended_by_tool' : nextAnswer(run);
  if (answer.finishReason === 'length' && !hasWholeCall(answer)) return continueAnswer(run, callCount);
  if (callCount > 0) return nextAnswer(run);
  if (!(await acceptOutput(run, answer.text))) return nextAnswer(run);
  return (await closeInput(run)) ? 'completed' : nextAnswer(run);
}

/** What comes next is an answer of its own, not more of the last one. */
function nextAnswer(run: RunState): null {
  run.text = '';
  run.continuations = 0;
  return null;
}

export type RunEndKind = 'completed' | 'ended_by_tool';

function stopLoop(run: RunState): void {
  const length = run.repeats.loopLength;
  if (length !== null) {
    const message = `The model made ${length} calls that repeat themselves (limits.maxRepeats: ${run.options.limits.maxRepeats}). Tell it what to do differently.`;
    throw new RunStop('paused', new EngineError('repeating', message, { retryable: true }));
  }
  for (const tool of run.repeats.takeReminders()) {
    run.addNote(
      `You have called ${tool} with the same arguments three times. The result will not change by itself: try another way, or say what is missing.`,
    );
  }
}

/** What was called in full was run: that is a step forward, and no answer to be continued. */
function hasWholeCall({ entry }: AnsweredTurn): boolean {
  return callsOf(entry).some((call) => !call.isCut);
}

/** An answer that was cut by the output limit is continued a few times. */
function continueAnswer(run: RunState, callCount: number): null {
  const { maxContinuations } = run.options.limits;
  if (run.continuations >= maxContinuations) {
    const message = `The answer was cut by the output limit ${run.continuations + 1} times (limits.maxContinuations: ${maxContinuations}). Raise maxOutputTokens, or ask for less at once.`;
    throw new RunStop('failed', new EngineError('output_limit', message));
  }
  run.continuations += 1;
  if (callCount === 0) run.addNote(continueNote);
  return null;
}

/** True if the final answer has the shape that was asked for; else asks for one correction. */
async function acceptOutput(run: RunState, text: string): Promise<boolean> {
  const { output } = run.options;
  if (!output) return true;
  try {
    run.output = await run.hooks.ask('output.parse', () => output.parse(JSON.parse(text)));
    return true;
  } catch (thrown) {
    if (run.signal.aborted || thrown instanceof HookLate) throw thrown;
    const error = (thrown as Error).cause;
    const why = error instanceof Error ? error.message : String(error);
    if (run.corrections > 0) {
      throw new RunStop(
        'failed',
        new EngineError('output_invalid', `The final answer does not fit after one correction: ${why}`, {
          cause: error,
        }),
      );
    }
    run.corrections += 1;
    run.addNote(`Your answer was refused: ${why}\nAnswer again, with JSON of the required shape and nothing else.`);
    return false;
  }
}
