import { cutAfter, cutBefore } from './bounded-text.js';
import { refusal } from './errors.js';
import { bomLength } from './text-file.js';

/** Most bytes of text that a model is shown at once. */
export const OUTPUT_LIMIT_BYTES = 32_768;

/** Which part of a text is asked for. */
export interface TextRange {
  /** First line, from 1. */
  readonly offset?: number;
  /** Number of lines. */
  readonly limit?: number;
  /** First byte of the window, instead of a line. */
  readonly startByte?: number;
  readonly lineNumbers?: boolean;
}

/** Bytes of a file that lie in memory. */
export interface TextWindow {
  readonly bytes: Buffer;
  /** Offset of `bytes` in the file. */
  readonly base: number;
  /** Size of the file. */
  readonly size: number;
  /** Number of the line that `bytes` begins with. */
  readonly firstLine: number;
}

/** Room in the output for the closing note. */
const NOTE_BYTES = 400;
const LF = 0x0a;

/**
 * The asked part of a window, and a closing note in brackets when that is not the whole file: which lines and bytes it
 * is and how to read on. At most {@link OUTPUT_LIMIT_BYTES}.
 * @throws ToolError `past_end`
 */
export function presentText(window: TextWindow, range: TextRange): string {
  const { bytes, base, size, firstLine } = window;
  const { offset = 1, startByte, limit, lineNumbers } = range;
  const from = startByte === undefined ? startOfLine(bytes, offset, firstLine) : cutAfter(bytes, startByte);
  const asked = limit === undefined ? bytes.length : endOfLines(bytes, from, limit);
  const line = startByte === undefined ? Math.max(firstLine, offset) : undefined;
  const numbered = lineNumbers === true && line !== undefined;
  const whole = from === 0 && base === 0 && asked === size && !numbered && size <= OUTPUT_LIMIT_BYTES;
  if (whole) return bytes.toString('utf8', bomLength(bytes));
  const skip = base + from === 0 ? bomLength(bytes) : 0;
  const part = fit(bytes.subarray(from, asked), skip, numbered ? line : undefined);
  const start = base + from;
  const end = start + part.bytes;
  return end < size || start > 0 ? `${part.text}\n[${noteFor({ start, end, size, line, part })}]` : part.text;
}

interface Part {
  readonly text: string;
  /** Bytes of the file it shows. */
  readonly bytes: number;
  /** Complete lines among them. */
  readonly lines: number;
  readonly endsInLine: boolean;
}

/** As many whole lines as fit, or else a piece of one line. */
function fit(bytes: Buffer, skip: number, firstNumber: number | undefined): Part {
  const limitBytes = OUTPUT_LIMIT_BYTES - NOTE_BYTES;
  const shown: string[] = [];
  let used = 0;
  let at = skip;
  let lines = 0;
  while (at < bytes.length) {
    const next = bytes.indexOf(LF, at);
    const end = next < 0 ? bytes.length : next + 1;
    const prefix = firstNumber === undefined ? '' : `${firstNumber + lines}\t`;
    const cost = prefix.length + end - at;
    if (used + cost > limitBytes) {
      const cut = lines === 0 ? cutBefore(bytes, at + limitBytes - prefix.length) : at;
      if (lines === 0) shown.push(prefix + bytes.toString('utf8', at, cut));
      return { text: shown.join(''), bytes: cut, lines, endsInLine: lines === 0 };
    }
    shown.push(prefix + bytes.toString('utf8', at, end));
    used += cost;
    at = end;
    lines += 1;
  }
  return { text: shown.join(''), bytes: bytes.length, lines, endsInLine: false };
}

interface Shown {
  readonly start: number;
  readonly end: number;
  readonly size: number;
  /** Number of the first line, unless bytes were asked for. */
  readonly line: number | undefined;
  readonly part: Part;
}

function noteFor({ start, end, size, line, part }: Shown): string {
  const bytes = `bytes ${start} to ${end} of ${size}`;
  const lines =
    line === undefined || part.endsInLine || part.lines === 0 ? '' : `lines ${line} to ${line + part.lines - 1}, `;
  if (end >= size) return `${lines}${bytes}; end of file`;
  const next = line === undefined || part.endsInLine ? `startByte ${end}` : `offset ${line + part.lines}`;
  return `${lines}${bytes}; read on with ${next}`;
}

function startOfLine(bytes: Buffer, line: number, firstLine: number): number {
  let at = 0;
  for (let number = firstLine; number < line; number += 1) {
    const next = bytes.indexOf(LF, at);
    if (next < 0) throw refusal('past_end', `The file has ${number} lines; line ${line} does not exist.`);
    at = next + 1;
  }
  return at;
}

function endOfLines(bytes: Buffer, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    const next = bytes.indexOf(LF, at);
    if (next < 0) return bytes.length;
    at = next + 1;
  }
  return at;
}
