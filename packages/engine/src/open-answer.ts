import type { HistoryEntry } from '@stint/provider-hooks';

export const continueNote =
  'Your answer was interrupted. Continue exactly where it ended, without repeating anything and without remarks about the interruption.';

/**
 * The parts of the answer that a history ends with, oldest first: what was cut off, each followed by the note to continue it,
 * and what came last. Empty if the history ends with something else. A live run and one that goes on from its journal read
 * the same entries, and so have the same text.
 */
export function openAnswer(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const parts: HistoryEntry[] = [];
  let isContinued = isPart(entries.at(-1)) || isContinueNote(entries.at(-1));
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] as HistoryEntry;
    if (isPart(entry) && isContinued) {
      parts.unshift(entry);
      isContinued = false;
    } else if (isContinueNote(entry)) isContinued = true;
    else if (entry.kind !== 'input') break; // what was said meanwhile stands between the note and what continues it
  }
  return parts;
}

/** Text of the answer that a history ends with, over all that continued it. */
export function openText(entries: readonly HistoryEntry[]): string {
  return openAnswer(entries).map(textOf).join('');
}

function isPart(entry: HistoryEntry | undefined): boolean {
  return entry?.kind === 'response' || entry?.kind === 'partial';
}

function isContinueNote(entry: HistoryEntry | undefined): boolean {
  return entry?.kind === 'note' && textOf(entry) === continueNote;
}

function textOf({ message }: HistoryEntry): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
