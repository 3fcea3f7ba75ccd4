import type { HistoryEntry } from '@stint/provider-hooks';
import { openAnswer, openText } from './open-answer.js';
import { repairHistory } from './repair-history.js';
import type { AnsweredTurn, RunState } from './run-state.js';
import { callsOf, outcomeUnknown, resultEntry, resultKey } from './tool-calls.js';
import type { ResumedOperation, ResumeState } from './types.js';

/**
 * Fills the history: from the journal, or with what the caller starts from. Answers the journaled answer that the loop
 * has to act on before it may pay for another, if there is one.
 */
export function beginHistory(run: RunState): AnsweredTurn | null {
  const { resume, entries = [], prompt } = run.options;
  const open = resume ? takeJournaled(run, resume) : null;
  for (const entry of repairHistory(entries)) run.history.add(entry);
  if (prompt !== undefined) run.history.add(promptEntry(prompt));
  return open;
}

function takeJournaled(
  run: RunState,
  { entries, turnNumber, response, operations = [] }: ResumeState,
): AnsweredTurn | null {
  const answer = response ? entries.findLast((entry) => entry.key === `response:${response.turnId}`) : undefined;
  for (const entry of repairHistory(entries, answer && response?.turnId)) {
    run.history.add(entry);
    if (entry.inputId !== undefined) run.seenInputs.add(entry.inputId);
  }
  run.history.markStored();
  run.turnNumber = turnNumber;
  takeOpenAnswer(run);
  if (!answer || !response || !isLast(answer, entries)) return null;
  for (const result of settledResults(run, answer, response.turnId, operations)) run.history.add(result);
  return { entry: answer, finishReason: response.finishReason, text: run.text };
}

/** What there is of an answer that was cut, and how often it was continued: the part that comes next belongs to it. */
function takeOpenAnswer(run: RunState): void {
  const { entries } = run.history;
  // Results of its calls, as far as they are there, follow an answer that is to be acted on.
  const shown = entries.slice(0, 1 + entries.findLastIndex(({ kind }) => kind !== 'tool-result'));
  run.text = openText(shown);
  run.continuations = openAnswer(shown).filter((part) => part.kind === 'response' && part !== shown.at(-1)).length;
}

/** An answer that something but its results followed was acted on already. */
function isLast(answer: HistoryEntry, entries: readonly HistoryEntry[]): boolean {
  return entries.slice(entries.indexOf(answer) + 1).every((entry) => entry.kind === 'tool-result');
}

/** Results of calls that began and did not end before our eyes; a call without operation is run by the loop. */
function settledResults(
  run: RunState,
  answer: HistoryEntry,
  turn: string,
  operations: readonly ResumedOperation[],
): readonly HistoryEntry[] {
  return callsOf(answer).flatMap((call) => {
    const operation = operations.find(({ callIndex }) => callIndex === call.callIndex);
    if (!operation || run.history.has(resultKey(turn, call.callIndex))) return [];
    return [resultEntry(turn, call, resolvedResult(operation.status))];
  });
}

function resolvedResult(status: ResumedOperation['status']): { readonly ok: boolean; readonly output: string } {
  if (status === 'applied') return { ok: true, output: 'Interrupted, but it was done; its output is lost.' };
  if (status === 'no_effect')
    return { ok: false, output: 'Interrupted before it changed anything. You may make the call again.' };
  return outcomeUnknown;
}

function promptEntry(prompt: string): HistoryEntry {
  return { key: 'prompt', kind: 'input', message: { role: 'user', content: [{ type: 'text', text: prompt }] } };
}
