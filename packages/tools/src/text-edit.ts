import { bomLength } from './text-file.js';

/** One replacement in a text. */
export interface TextEdit {
  /** Text to find; its line breaks match LF and CRLF alike. */
  readonly oldText: string;
  readonly newText: string;
  /** Replace every occurrence instead of the only one. */
  readonly replaceAll: boolean;
}

/** Byte range in a file. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Outcome of an edit on bytes. */
export type EditOutcome =
  | { readonly kind: 'edited'; readonly bytes: Buffer; readonly count: number; readonly offsets: readonly number[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'ambiguous'; readonly offsets: readonly number[] };

const LF = 0x0a;
const CR = 0x0d;
const CRLF = Buffer.from('\r\n');
const MAX_OFFSETS = 8;

const MARK = '\ufeff';

/**
 * Edits valid UTF-8 bytes and copies every byte outside of the matches. A byte-order mark is no part of the text: it may
 * be named at the start of `oldText` and `newText`, and stays as it is in any case.
 * A line break in `newText` takes the ending of the break it replaces, by position; further ones that of the last
 * break in the match, or else of the nearest line of the file.
 */
export function editBytes(bytes: Buffer, edit: TextEdit): EditOutcome {
  const skip = bomLength(bytes);
  const matches = findMatches(bytes, edit.oldText.startsWith(MARK) ? 0 : skip, edit).map((match) =>
    match.start < skip ? { ...match, start: skip } : match,
  );
  if (matches.length === 0) return { kind: 'missing' };
  if (matches.length > 1 && !edit.replaceAll) {
    return { kind: 'ambiguous', offsets: matches.slice(0, MAX_OFFSETS).map(({ start }) => start) };
  }
  const newLines = splitLines(Buffer.from(edit.newText, 'utf8'));
  const unmarkedLines = splitLines(Buffer.from(edit.newText.replace(MARK, ''), 'utf8'));
  const parts: Buffer[] = [];
  let copied = 0;
  for (const match of matches) {
    const isMarked = skip > 0 && match.start === skip && edit.newText.startsWith(MARK);
    parts.push(bytes.subarray(copied, match.start), joinLike(isMarked ? unmarkedLines : newLines, bytes, match));
    copied = match.end;
  }
  parts.push(bytes.subarray(copied));
  const offsets = matches.slice(0, MAX_OFFSETS).map(({ start }) => start);
  return { kind: 'edited', bytes: Buffer.concat(parts), count: matches.length, offsets };
}

/** Matches from left to right: without overlap for replace-all, with overlap to tell whether one is the only one. */
function findMatches(bytes: Buffer, from: number, { oldText, replaceAll }: TextEdit): readonly Range[] {
  const lines = splitLines(Buffer.from(oldText, 'utf8'));
  const matches: Range[] = [];
  let at = from;
  while (at <= bytes.length) {
    const match = nextMatch(bytes, from, at, lines);
    if (match === undefined) break;
    matches.push(match);
    if (!replaceAll && matches.length > MAX_OFFSETS) break;
    at = replaceAll ? match.end : match.start + 1;
  }
  return matches;
}

/** The next place at or after `at` where the lines stand one after another, joined by LF or CRLF. */
function nextMatch(bytes: Buffer, first: number, at: number, lines: readonly Buffer[]): Range | undefined {
  const [head, ...rest] = lines;
  if (head === undefined) return undefined;
  if (rest.length === 0) {
    let start = bytes.indexOf(head, at);
    while (start >= 0 && splitsBreak(bytes, start + head.length)) start = bytes.indexOf(head, start + 1);
    return start < 0 ? undefined : { start, end: start + head.length };
  }
  const anchor = Buffer.concat([head, Buffer.from([LF])]);
  const crlfAnchor = Buffer.concat([head, CRLF]);
  for (let from = at; ; ) {
    const start = earliest(bytes.indexOf(anchor, from), bytes.indexOf(crlfAnchor, from));
    if (start < 0) return undefined;
    const begin = head.length === 0 ? breakStart(bytes, first, start) : start;
    const end = begin < at ? -1 : endOfLines(bytes, start + head.length, rest);
    if (end >= 0) return { start: begin, end };
    from = start + 1;
  }
}

/** A match that begins with a line break begins before the CR of a CRLF. */
function breakStart(bytes: Buffer, first: number, at: number): number {
  return bytes[at] === LF && at > first && bytes[at - 1] === CR ? at - 1 : at;
}

/** End of the match if `lines` follow `at`, each after a break; -1 if not. */
function endOfLines(bytes: Buffer, at: number, lines: readonly Buffer[]): number {
  let position = at;
  for (const line of lines) {
    if (bytes[position] === CR && bytes[position + 1] === LF) position += 2;
    else if (bytes[position] === LF && bytes[position - 1] !== CR) position += 1;
    else return -1;
    if (bytes.compare(line, 0, line.length, position, Math.min(position + line.length, bytes.length)) !== 0) return -1;
    position += line.length;
  }
  return splitsBreak(bytes, position) ? -1 : position;
}

/** True between the CR and the LF of one line break, which is never taken apart. */
function splitsBreak(bytes: Buffer, at: number): boolean {
  return bytes[at] === LF && bytes[at - 1] === CR;
}

/** The new lines joined by the endings that the match, or its surroundings, use. */
function joinLike(lines: readonly Buffer[], bytes: Buffer, match: Range): Buffer {
  const [first, ...rest] = lines;
  if (first === undefined || rest.length === 0) return first ?? Buffer.alloc(0);
  const endings = breaksIn(bytes, match);
  const further = endings.at(-1) ?? nearestBreak(bytes, match);
  const parts: Buffer[] = [first];
  rest.forEach((line, at) => parts.push((endings[at] ?? further) ? CRLF : Buffer.from([LF]), line));
  return Buffer.concat(parts);
}

/** For each line break in the range: is it CRLF? */
function breaksIn(bytes: Buffer, { start, end }: Range): readonly boolean[] {
  const breaks: boolean[] = [];
  for (let at = bytes.indexOf(LF, start); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) {
    breaks.push(at > start && bytes[at - 1] === CR);
  }
  return breaks;
}

/** Is the next line break after the range, or else the last one before it, CRLF? */
function nearestBreak(bytes: Buffer, { start, end }: Range): boolean {
  const after = bytes.indexOf(LF, end);
  const at = after >= 0 ? after : bytes.subarray(0, start).lastIndexOf(LF);
  return at > 0 && bytes[at - 1] === CR;
}

/** Lines of a text, split at LF and CRLF, without their breaks. */
function splitLines(text: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, start)) {
    lines.push(text.subarray(start, at > start && text[at - 1] === CR ? at - 1 : at));
    start = at + 1;
  }
  lines.push(text.subarray(start));
  return lines;
}

function earliest(one: number, other: number): number {
  if (one < 0 || other < 0) return Math.max(one, other);
  return Math.min(one, other);
}
