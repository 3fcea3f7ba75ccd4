import type { StructuredPatch } from 'diff';

/** A line of a file: what it says, and how it ends. Only the last one can have no break. */
export interface Line {
  readonly text: string;
  readonly end: '\n' | '\r\n' | '';
}

/** A line of a hunk. `end` is '' where "\ No newline at end of file" follows it. */
export interface HunkLine extends Line {
  readonly sign: ' ' | '-' | '+';
}

export interface Hunk {
  /** Index of the line where its first old line stands, or before which it adds if it shows none, as its header says, which may be wrong. */
  readonly start: number;
  readonly lines: readonly HunkLine[];
  /** The context lines and the removed lines. */
  readonly old: readonly HunkLine[];
}

/** The lines of a text; none of an empty one. */
export function linesOf(text: string): Line[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map(lineOf);
}

function lineOf(whole: string): Line {
  if (whole.endsWith('\r\n')) return { text: whole.slice(0, -2), end: '\r\n' };
  return whole.endsWith('\n') ? { text: whole.slice(0, -1), end: '\n' } : { text: whole, end: '' };
}

/** The hunks of one file's patch, in the order of the patch. */
export function hunksOf({ hunks }: StructuredPatch): readonly Hunk[] {
  return hunks.map(({ oldStart, lines }) => {
    const shown = hunkLines(lines);
    const old = shown.filter(({ sign }) => sign !== '+');
    return { start: oldStart - 1, lines: shown, old };
  });
}

const isRemark = (line: string | undefined): boolean => line?.startsWith('\\') ?? false;

function hunkLines(lines: readonly string[]): readonly HunkLine[] {
  return lines.flatMap((line, at) => {
    if (isRemark(line)) return [];
    const sign = line.charAt(0) as HunkLine['sign'];
    const next = lines[at + 1];
    if (!isRemark(next)) return [{ sign, ...lineOf(`${line.slice(1)}\n`) }];
    const isPatchInCrlf = next?.endsWith('\r') ?? false; // else a CR here is the last byte of the file
    return [{ sign, text: isPatchInCrlf ? line.slice(1).replace(/\r$/, '') : line.slice(1), end: '' as const }];
  });
}
