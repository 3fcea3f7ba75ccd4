import { type Hunk, type HunkLine, type Line, linesOf } from './patch-lines.js';

/** The text after all hunks, or the index of the first one that stands nowhere. */
export type Patched = { readonly text: string } | { readonly failedHunk: number };

/** A line of the result. */
interface ResultLine extends Line {
  readonly isAdded?: true;
}

/**
 * Applies hunks in their order. Each goes where all of its old lines stand, nearest to where its header and the hunk before it put it; a hunk
 * without old lines goes where its header says, at most to the end; one that shows the end of the file, only there, and nothing behind it.
 * LF and CRLF count as the same break; lines that stay keep their own.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Patched {
  const lines = linesOf(text);
  const result: ResultLine[] = [];
  let [at, drift] = [0, 0];
  for (const [index, hunk] of hunks.entries()) {
    const place = placeOf(hunk, lines, { from: at, expected: hunk.start + drift });
    if (place === undefined || endsTooEarly(hunk)) return { failedHunk: index };
    const put = [...lines.slice(at, place), ...replacement(hunk, lines, place)];
    if (put.length > 0 && isEnd(result.at(-1))) return { failedHunk: index };
    result.push(...put);
    [at, drift] = [place + hunk.old.length, place - hunk.start];
  }
  result.push(...lines.slice(at));
  return { text: textOf(endedLike(lines, hunks, result)) };
}

interface Search {
  /** Where the hunk before ended. */
  readonly from: number;
  readonly expected: number;
}

function placeOf(hunk: Hunk, lines: readonly Line[], { from, expected }: Search): number | undefined {
  const last = lines.length - hunk.old.length;
  const isLast = hunk.lines.some(isOpen);
  const nearest = Math.max(from, isLast ? last : Math.min(expected, last));
  if (hunk.old.length === 0) return nearest;
  const stands = (place: number): boolean => place >= from && place <= last && standsAt(hunk, lines, place);
  const farthest = isLast ? 0 : lines.length;
  for (let distance = 0; distance <= farthest; distance += 1) {
    const place = [nearest + distance, nearest - distance].find(stands);
    if (place !== undefined) return place;
  }
  return undefined;
}

function standsAt(hunk: Hunk, lines: readonly Line[], place: number): boolean {
  return hunk.old.every((shown, at) => fits(lines[place + at], shown));
}

/** A line that is shown without a break is the last; models show the last one as if it had a break. */
function fits(line: Line | undefined, shown: HunkLine): boolean {
  if (line === undefined || (isOpen(shown) && !isOpen(line))) return false;
  return line.text === shown.text || (isOpen(shown) && line.text === `${shown.text}\r`);
}

/** What comes in the place of the hunk's old lines: those that stay, as they are, and the added ones. */
function replacement(hunk: Hunk, lines: readonly Line[], place: number): readonly ResultLine[] {
  const old = lines.slice(place, place + hunk.old.length);
  const end = breakOfAdded(hunk, old, lines);
  const left = old.values();
  return hunk.lines.flatMap((shown): ResultLine[] => {
    if (shown.sign === '+') return [{ text: shown.text, end: isOpen(shown) ? '' : (end ?? shown.end), isAdded: true }];
    const { value } = left.next();
    return shown.sign === '-' || value === undefined ? [] : [value];
  });
}

/** The break that added lines get where the hunk shows other breaks than the file has; undefined: each gets what it is shown with. */
function breakOfAdded(hunk: Hunk, old: readonly Line[], lines: readonly Line[]): Line['end'] | undefined {
  const compared = old.filter((line) => !isOpen(line));
  if (compared.length > 0) {
    const isLiteral = hunk.old.every((shown, at) => isOpen(old[at] as Line) || shown.end === old[at]?.end);
    return isLiteral ? undefined : compared[0]?.end;
  }
  const ends = new Set(lines.map(({ end }) => end).filter((end) => end !== ''));
  return ends.size === 1 ? [...ends][0] : undefined;
}

/** True if a line without a break is shown before another that would be in the file too. */
function endsTooEarly({ lines }: Hunk): boolean {
  const open = lines.findIndex((line) => line.sign === '+' && isOpen(line));
  return open !== -1 && lines.slice(open + 1).some(({ sign }) => sign !== '-');
}

/** True for a line that a hunk put there as the end of the file. */
function isEnd(line: ResultLine | undefined): boolean {
  return line?.isAdded === true && isOpen(line);
}

/** Where the last line had no break and the patch says nothing of that, the break stays missing; no other line is left without one. */
function endedLike(lines: readonly Line[], hunks: readonly Hunk[], result: readonly ResultLine[]): readonly Line[] {
  const was = lines.at(-1);
  if (was === undefined || !isOpen(was)) return result;
  const isTold = hunks.some((hunk) => hunk.lines.some(isOpen));
  const usual = lines[0]?.end || '\n';
  return result.map((line, at): Line => {
    if (at < result.length - 1) return isOpen(line) ? { ...line, end: usual } : line;
    return line.isAdded && !isTold ? { ...line, end: '' } : line;
  });
}

const isOpen = ({ end }: Line): boolean => end === '';

const textOf = (lines: readonly Line[]): string => lines.map(({ text, end }) => text + end).join('');
