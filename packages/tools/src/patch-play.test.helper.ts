/** Patches drawn at random with what may come of them, worked out without the code under test. A line is a text with its break, if it has one. */
import fc from 'fast-check';

/** A run of lines that is replaced: `length` lines from `start`; 0 of them is an insertion before `start`. */
interface Change {
  readonly start: number;
  readonly length: number;
  readonly added: readonly string[];
}

/** A hunk: its lines as they stood, and which of them it keeps. */
export interface PlayedHunk {
  /** Index of its first line in the text that it was made from; for a hunk without old lines, where it adds. */
  readonly at: number;
  readonly lines: readonly { readonly sign: ' ' | '-' | '+'; readonly line: string }[];
}

/** A patch of one file. */
export interface PlayedPatch {
  readonly before: readonly string[];
  readonly hunks: readonly PlayedHunk[];
  /** By how much the numbers in its headers are wrong. */
  readonly shift: number;
}

const word = fc.constantFrom('a', 'b', 'c', '', '}', ' ', '-', '+', '\\', '@@ -1 +1 @@', '-- a/x', 'é', '$&');
const lineBreak = fc.oneof({ weight: 5, arbitrary: fc.constant('\n') }, { weight: 1, arbitrary: fc.constant('\r\n') });
const line = fc.tuple(word, lineBreak).map((parts) => parts.join(''));
/** A last line without a break may end in a CR that is no break either. */
const lastWord = fc.oneof({ weight: 9, arbitrary: word }, { weight: 1, arbitrary: fc.constant('x\r') });
const text = fc.tuple(fc.array(line, { maxLength: 12 }), fc.option(lastWord)).map(([lines, last]) => {
  return last === null || last === '' ? lines : [...lines, last];
});
const change = fc.record({
  gap: fc.nat(5),
  length: fc.nat(3),
  added: fc.array(line, { maxLength: 3 }),
  opensEnd: fc.boolean(),
});

/** One to three changes of a text, as hunks with up to three lines around them, and numbers that may be wrong. */
export const playedPatch: fc.Arbitrary<PlayedPatch> = fc
  .record({
    before: text,
    changes: fc.array(change, { minLength: 1, maxLength: 3 }),
    around: fc.nat(3),
    shift: fc.oneof(
      { weight: 2, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: -5, max: 40 }) },
    ),
  })
  .map(({ before, changes, around, shift }) => ({ before, hunks: hunksOf(before, changes, around), shift }))
  .filter(({ hunks }) => hunks.length > 0);

const isOpen = (line: string | undefined): boolean => line !== undefined && !line.endsWith('\n');

function hunksOf(
  before: readonly string[],
  drawn: readonly { gap: number; length: number; added: readonly string[]; opensEnd: boolean }[],
  around: number,
): readonly PlayedHunk[] {
  const changes: Change[] = [];
  let from = 0;
  for (const { gap, length, added, opensEnd } of drawn) {
    if (from > before.length) break;
    let start = Math.min(before.length, from + gap);
    // Nothing can stand behind a line without a break: such an addition replaces that line with one that has it.
    if (start === before.length && start > from && isOpen(before.at(-1))) start -= 1;
    if (start === before.length && isOpen(before.at(-1))) break;
    const end = Math.min(before.length, start + length);
    const isAtEnd = end === before.length && added.length > 0 && opensEnd;
    const lines = isAtEnd ? [...added.slice(0, -1), `${added.at(-1)?.replace(/\r?\n$/, '')}z`] : added;
    if (end === start && (lines.length === 0 || isOpen(lines.at(-1)) !== (start === before.length && isAtEnd)))
      continue;
    if (end < before.length && isOpen(lines.at(-1))) continue;
    changes.push({ start, length: end - start, added: lines });
    from = end + 1;
  }
  return changes.map((each, index) => hunkOf(before, each, around, changes[index - 1], changes[index + 1]));
}

/** Neighbours share the lines between them, so that hunks do not overlap. */
function hunkOf(
  before: readonly string[],
  { start, length, added }: Change,
  around: number,
  previous: Change | undefined,
  next: Change | undefined,
): PlayedHunk {
  const end = start + length;
  const middle = (one: number, other: number): number => Math.ceil((one + other) / 2);
  const first = Math.max(previous === undefined ? 0 : middle(previous.start + previous.length, start), start - around);
  const last = Math.min(next === undefined ? before.length : middle(end, next.start), end + around);
  const signed = (sign: ' ' | '-' | '+', lines: readonly string[]) => lines.map((each) => ({ sign, line: each }));
  return {
    at: first,
    lines: [
      ...signed(' ', before.slice(first, start)),
      ...signed('-', before.slice(start, end)),
      ...signed('+', added),
      ...signed(' ', before.slice(end, last)),
    ],
  };
}

export const oldLines = ({ lines }: PlayedHunk): readonly string[] =>
  lines.filter(({ sign }) => sign !== '+').map((each) => each.line);

/** The patch as a unified diff, with a remark behind each line that has no break. */
export function diffOf(path: string, { hunks, shift }: PlayedPatch): string {
  let grown = 0;
  const shown = hunks.map((hunk) => {
    const removed = oldLines(hunk).length;
    const kept = hunk.lines.filter(({ sign }) => sign !== '-').length;
    const number = (count: number, moved: number): string =>
      `${Math.max(count === 0 ? 0 : 1, hunk.at + moved + shift + (count === 0 ? 0 : 1))},${count}`;
    const header = `@@ -${number(removed, 0)} +${number(kept, grown)} @@\n`;
    grown += kept - removed;
    return header + hunk.lines.map(({ sign, line: each }) => sign + each + (isOpen(each) ? remark : '')).join('');
  });
  return `--- a/${path}\n+++ b/${path}\n${shown.join('')}`;
}

const remark = '\n\\ No newline at end of file\n';

/** A line of an outcome; one that was there before is there byte for byte. */
interface OutcomeLine {
  readonly line: string;
  readonly isKept: boolean;
}

/** Each way that the patch may go: hunks in order, each at a place where its old lines stand. */
function* outcomes(
  before: readonly string[],
  hunks: readonly PlayedHunk[],
  from: number,
): Generator<readonly OutcomeLine[]> {
  const [hunk, ...rest] = hunks;
  if (hunk === undefined) {
    yield kept(before.slice(from));
    return;
  }
  const old = oldLines(hunk);
  for (let at = from; at + old.length <= before.length; at += 1) {
    if (!old.every((each, index) => stands(before, at + index, each))) continue;
    for (const tail of outcomes(before, rest, at + old.length))
      yield [...kept(before.slice(from, at)), ...put(hunk, before, at), ...tail];
  }
}

/** The one way that a patch goes whose numbers are right. */
function exactOutcome({ before, hunks }: PlayedPatch): readonly OutcomeLine[] {
  let at = 0;
  const result = hunks.flatMap((hunk) => {
    const lines = [...kept(before.slice(at, hunk.at)), ...put(hunk, before, hunk.at)];
    at = hunk.at + oldLines(hunk).length;
    return lines;
  });
  return [...result, ...kept(before.slice(at))];
}

const kept = (lines: readonly string[]): readonly OutcomeLine[] => lines.map((line) => ({ line, isKept: true }));

function put({ lines }: PlayedHunk, before: readonly string[], place: number): readonly OutcomeLine[] {
  let at = place - 1;
  return lines.flatMap(({ sign, line: each }) => {
    if (sign === '+') return [{ line: each, isKept: false }];
    at += 1;
    return sign === '-' ? [] : kept(before.slice(at, at + 1));
  });
}

/** True if the patch may lead to this text. */
export function mayLeadTo(patch: PlayedPatch, got: string): boolean {
  const ways = patch.shift === 0 ? [exactOutcome(patch)] : [...outcomes(patch.before, patch.hunks, 0)];
  return ways.some((way) => isSame(way, got.match(/[^\n]*\n|[^\n]+$/g) ?? [], patch));
}

/**
 * Added lines get the breaks of the file, which is for tests of their own. A last line that gets something behind it gets a break; a break
 * that was missing at the end stays missing, so that a blank line there is none.
 */
function isSame(way: readonly OutcomeLine[], got: readonly string[], { before, shift }: PlayedPatch): boolean {
  const mayEndOpen = shift !== 0 && isOpen(before.at(-1));
  if (mayEndOpen && way.length === got.length + 1 && plain(way.at(-1)?.line ?? '') === '\n')
    return way
      .slice(0, -1)
      .every(({ line: each }, at) => (isOpen(each) ? isClosed(got[at], each) : plain(got[at] ?? '') === plain(each)));
  return (
    way.length === got.length &&
    way.every(({ line: each, isKept }, at) => {
      const is = got[at] ?? '';
      if (isOpen(each) && at < way.length - 1) return isClosed(is, each);
      if (mayEndOpen && at === way.length - 1 && isOpen(is)) return plain(each) === is || plain(each) === `${is}\n`;
      return isKept ? is === each : plain(is) === plain(each);
    })
  );
}

const isClosed = (is: string | undefined, open: string): boolean => is === `${open}\n` || is === `${open}\r\n`;

/** Which break a line has does not matter; and models show the last line with a break that it does not have. */
function stands(before: readonly string[], at: number, shown: string): boolean {
  const line = before[at] ?? '';
  return plain(line) === plain(shown) || (isOpen(line) && line === shown.replace(/\r?\n$/, ''));
}

const plain = (text: string): string => text.replaceAll('\r\n', '\n');
