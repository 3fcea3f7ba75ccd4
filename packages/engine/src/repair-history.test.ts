import { responseEntry, type HistoryEntry } from '@stint/provider-hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repairHistory } from './repair-history.js';
import { checkValid } from './scripted-model.test.helper.js';
import { callsOf, resultEntry, turnOf } from './tool-calls.js';

const note = (key: string): HistoryEntry => ({
  key,
  kind: 'note',
  message: { role: 'user', content: [{ type: 'text', text: key }] },
});

/** Entries as a crash, a bug or another product may have left them: results missing, doubled, misplaced, without a call. */
const history = fc.array(fc.tuple(fc.nat(3), fc.nat(5), fc.boolean()), { maxLength: 12 }).chain((turns) => {
  const entries = turns.flatMap(([calls, extra, isNote], index) => {
    const content = Array.from({ length: calls }, (_, call) => ({
      type: 'tool-call' as const,
      toolCallId: `${index}-${call}`,
      toolName: 't',
      input: '{}',
    }));
    const answer = responseEntry(`turn-${index}`, { content });
    const results = callsOf(answer).map((call) => resultEntry(turnOf(answer), call, { ok: true, output: 'x' }));
    return [answer, ...results, ...results.slice(0, extra % 2), ...(isNote ? [note(`n${index}-${extra}`)] : [])];
  });
  return fc.shuffledSubarray(entries, { minLength: 0 }).map((kept) => kept);
});

test('case E01: any history becomes valid, keeps its answers and notes in order, and is then left alone', () => {
  fc.assert(
    fc.property(history, (entries) => {
      const repaired = repairHistory(entries);
      checkValid(repaired.map((entry) => entry.message));
      const kept = (all: readonly HistoryEntry[]): string[] =>
        all.filter((entry) => entry.kind !== 'tool-result').map((entry) => entry.key);
      expect(kept(repaired)).toEqual(kept(entries));
      expect(repairHistory(repaired)).toEqual(repaired);
    }),
    { numRuns: 300 },
  );
});

test('the calls of an open turn are left to the loop', () => {
  const content = [{ type: 'tool-call' as const, toolCallId: 'a', toolName: 't', input: '{}' }];
  const answer = responseEntry('open', { content });
  expect(repairHistory([answer], 'open')).toEqual([answer]);
  expect(repairHistory([answer], 'other')).toHaveLength(2);
});
