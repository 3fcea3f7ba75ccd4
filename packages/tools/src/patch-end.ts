import { applyPatch, type StructuredPatch } from 'diff';

/** Stands for "nothing follows, not even a line break"; a text that has it is binary and never gets here. */
const END = '\0';
const NO_NEWLINE = '\\';

/**
 * Applies all hunks, or answers false. A line that the patch shows with "\ No newline at end of file" fits the last line of the text
 * alone: the library reads that remark as one on the text as a whole, and would change an equal line further up. Where the patch says
 * nothing of the end, a missing line break stays missing.
 */
export function applyAtEnds(text: string, patch: StructuredPatch): string | false {
  const isOpen = text !== '' && !text.endsWith('\n');
  const marked = withEnds(patch);
  const result = applyPatch(isOpen ? text + END : text, marked, {
    fuzzFactor: 0,
    compareLine: (_number, line, _operation, shown) => fits(line, shown),
  });
  if (result === false) return false;
  const isStillOpen = /\0\r?\n?$/.test(result);
  const plain = result.replace(/\0\r?\n?$/, '').replaceAll(END, '');
  if (!isOpen || isStillOpen || plain === '') return plain;
  return marked === patch ? plain.replace(/\r$/, '') : `${plain}\n`;
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
  if (line === undefined) return false;
  const plain = shown.replace(/\0\r$/, END);
  return line === plain || (line.endsWith(END) && line.slice(0, -1) === plain.replace(/\r$/, ''));
}
