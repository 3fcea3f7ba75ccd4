import { applyPatch, type StructuredPatch } from 'diff';

/** Stands for the end of the file; a text that has it is binary and never gets here. */
const END = '\0';
const NO_NEWLINE = '\\';

/**
 * Applies all hunks, or answers false. The library takes what follows the last line break for one more, empty line, which a hunk could
 * show, remove, or be put behind; and it reads "\ No newline at end of file" as a remark on the text as a whole, and would change an equal
 * line further up. So the end is written into text and patch: in a line of its own that no hunk shows, or, where the last line has no line
 * break, into that line. Where the patch says nothing of the end, a missing line break stays missing.
 */
export function applyAtEnds(text: string, patch: StructuredPatch): string | false {
  const isOpen = text !== '' && !text.endsWith('\n');
  const lineCount = text === '' ? 0 : text.split('\n').length - (isOpen ? 0 : 1);
  const marked = withEnds(patch);
  const result = applyPatch(text + END, withinLines(marked, lineCount), {
    fuzzFactor: 0,
    compareLine: (_number, line, _operation, shown) => fits(line, shown),
  });
  if (result === false) return false;
  if (!isOpen) return closedEnd(result);
  const isEmptied = lineCount === count(patch, '-') - count(patch, '+');
  return openEnd(result, { isTold: marked !== patch, isEmptied });
}

/** The result for a text whose last line has its line break: the end stands alone, unless new text came without one. */
function closedEnd(result: string): string | false {
  if (result !== END && !result.endsWith(`\n${END}`)) return false; // something was put behind the end
  const plain = result.slice(0, -1).replace(/\0\r?\n$/, '');
  return !plain.includes(END) && plain;
}

/** The result for a text whose last line has no line break. */
function openEnd(result: string, { isTold, isEmptied }: { isTold: boolean; isEmptied: boolean }): string | false {
  const plain = result.replace(/\0\r?$/, '');
  if (plain !== result) return !plain.includes(END) && plain;
  if (isTold) return !plain.includes(END) && (isEmptied ? plain : `${plain}\n`);
  return plain.replaceAll(END, '').replace(/\r$/, '');
}

function count({ hunks }: StructuredPatch, sign: string): number {
  return hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;
}

/** Hunks that only add, with a line number past the end, add at the end. */
function withinLines(patch: StructuredPatch, lineCount: number): StructuredPatch {
  const isAddition = (lines: readonly string[]): boolean => lines.every((line) => line.startsWith('+'));
  const hunks = patch.hunks.map((hunk) =>
    isAddition(hunk.lines) ? { ...hunk, oldStart: Math.min(hunk.oldStart, lineCount + 1) } : hunk,
  );
  return { ...patch, hunks };
}

/** The patch with the remark written into the line it is about. The same patch where there is none. */
function withEnds(patch: StructuredPatch): StructuredPatch {
  const isRemark = (line: string | undefined): boolean => line?.startsWith(NO_NEWLINE) ?? false;
  if (!patch.hunks.some(({ lines }) => lines.some(isRemark))) return patch;
  const hunks = patch.hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.flatMap((line, at) => {
      if (isRemark(line)) return [];
      return [isRemark(hunk.lines[at + 1]) ? line.replace(/\r$/, '') + END : line];
    }),
  }));
  return { ...patch, hunks };
}

/** A shown line without the remark also fits the last one: models leave it out. */
function fits(line: string | undefined, shown: string): boolean {
  if (line === undefined || line === END) return false;
  const plain = shown.replace(/\0\r$/, END);
  return line === plain || (line.endsWith(END) && line.slice(0, -1) === plain.replace(/\r$/, ''));
}
