import type { HistoryEntry } from '@stint/provider-hooks';
import { callsOf, outcomeUnknown, resultEntry, resultKey, turnOf } from './tool-calls.js';

/**
 * A history that every provider accepts: after each answer the result of each of its calls, in order of the calls,
 * exactly one; nothing between a call and its result; no result without its call. What is missing is said to be of
 * unknown outcome. The last answer may be left open (`openTurn`): its missing results are not made up.
 *
 * Repairing a repaired history changes nothing.
 */
export function repairHistory(entries: readonly HistoryEntry[], openTurn?: string): readonly HistoryEntry[] {
  const results = new Map<string, HistoryEntry>();
  for (const entry of entries) {
    if (entry.kind === 'tool-result' && !results.has(entry.key)) results.set(entry.key, entry);
  }
  return entries.flatMap((entry) => {
    if (entry.kind === 'tool-result') return [];
    if (entry.kind !== 'response') return [entry];
    return [entry, ...resultsOf(entry, results, turnOf(entry) === openTurn)];
  });
}

function resultsOf(answer: HistoryEntry, results: ReadonlyMap<string, HistoryEntry>, isOpen: boolean): HistoryEntry[] {
  const turn = turnOf(answer);
  return callsOf(answer).flatMap((call) => {
    const stored = results.get(resultKey(turn, call.callIndex));
    if (stored) return [stored];
    return isOpen ? [] : [resultEntry(turn, call, outcomeUnknown)];
  });
}
