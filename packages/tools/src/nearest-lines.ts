import { excerpt } from './bounded-text.js';

/** Bounds that keep the search cheap on any file. */
const MAX_LINES = 200_000;
const MAX_OLD_LINES = 200;
const MAX_LINE_CHARACTERS = 300;
const SHOWN_LINES = 5;
const SHOWN_LINE_BYTES = 90;

interface Place {
  /** Index of the first line. */
  readonly start: number;
  /** Lines of the old text that stand there. */
  readonly equal: number;
}

/**
 * The place in `text` most like `oldText`, as numbered lines, at most about 600 bytes; undefined if nothing resembles
 * it. Lines are compared without outer white space; `>` marks the first line that differs.
 */
export function nearestLines(text: string, oldText: string): string | undefined {
  const lines = text.split('\n', MAX_LINES);
  const wanted = oldText.split('\n', MAX_OLD_LINES).map(normal);
  const place = bestPlace(lines, wanted) ?? similarLine(lines, wanted);
  return place === undefined ? undefined : show(lines, wanted, place);
}

/** Each line of the file that equals a wanted one votes for where the old text would start. */
function bestPlace(lines: readonly string[], wanted: readonly string[]): Place | undefined {
  const positions = new Map<string, number[]>();
  wanted.forEach((line, at) => {
    if (line !== '') positions.set(line, [...(positions.get(line) ?? []), at]);
  });
  const votes = new Map<number, number>();
  lines.forEach((line, index) => {
    for (const at of positions.get(normal(line)) ?? []) votes.set(index - at, (votes.get(index - at) ?? 0) + 1);
  });
  let best: Place | undefined;
  for (const [start, equal] of votes) {
    if (best === undefined || equal > best.equal) best = { start, equal };
  }
  return best;
}

/** The line most like the longest wanted one, by shared pairs of characters. */
function similarLine(lines: readonly string[], wanted: readonly string[]): Place | undefined {
  const longest = wanted.reduce((one, other) => (other.length > one.length ? other : one), '');
  const pairs = characterPairs(longest);
  if (pairs.size === 0) return undefined;
  let best: { readonly index: number; readonly score: number } | undefined;
  lines.forEach((line, index) => {
    const score = similarity(pairs, characterPairs(normal(line)));
    if (score > (best?.score ?? 0.4)) best = { index, score };
  });
  return best === undefined ? undefined : { start: best.index - wanted.indexOf(longest), equal: 0 };
}

function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (other.size === 0 || other.size > one.size * 4 || one.size > other.size * 4) return 0;
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / (one.size + other.size);
}

function characterPairs(line: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < line.length; at += 1) pairs.add(line.slice(at, at + 2));
  return pairs;
}

function show(lines: readonly string[], wanted: readonly string[], { start }: Place): string {
  const differs = wanted.findIndex((line, at) => normal(lines[start + at] ?? '') !== line);
  const around = Math.max(0, differs - 2);
  const shown: string[] = [];
  for (let at = around; at < Math.min(wanted.length, around + SHOWN_LINES); at += 1) {
    const line = lines[start + at];
    if (line !== undefined)
      shown.push(
        `${at === differs ? '>' : ' '} ${start + at + 1}: ${excerpt(line.replace(/\r$/, ''), SHOWN_LINE_BYTES)}`,
      );
  }
  return shown.join('\n');
}

function normal(line: string): string {
  return line.slice(0, MAX_LINE_CHARACTERS).trim();
}
