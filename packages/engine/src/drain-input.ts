import type { HistoryEntry, PromptMessage } from '@stint/provider-hooks';
import type { RunState } from './run-state.js';
import type { PendingInput } from './types.js';

/**
 * Takes what was said to the run since the last request, then what its background work brought. Each input is bound to
 * the next request, and to those that repeat it, until an answer acknowledges it; an id is shown to the model once.
 */
export async function drainInput(run: RunState): Promise<void> {
  const { drainInput: said, drainBackground: done } = run.options;
  if (said) take(run, await run.hooks.ask('drainInput', said));
  if (done) take(run, await run.hooks.ask('drainBackground', done));
}

function take(run: RunState, inputs: readonly PendingInput[]): void {
  for (const input of inputs) {
    // One that is in the history and still pending is acknowledged by the next answer, and not shown a second time.
    if (!run.boundInputs.includes(input.id)) run.boundInputs.push(input.id);
    if (run.seenInputs.has(input.id)) continue;
    run.seenInputs.add(input.id);
    run.history.add(inputEntry(input));
  }
}

function inputEntry({ id, message }: PendingInput): HistoryEntry {
  const asMessage: PromptMessage =
    typeof message === 'string' ? { role: 'user', content: [{ type: 'text', text: message }] } : message;
  return { key: `input:${id}`, kind: 'input', message: asMessage, inputId: id };
}

/** True if nothing arrived that the model has not seen, and nothing can arrive any more. */
export async function closeInput(run: RunState): Promise<boolean> {
  const { closePendingInput } = run.options;
  if (!closePendingInput) return true;
  return await run.hooks.ask('closePendingInput', closePendingInput);
}
