import { isUtf8 } from 'node:buffer';
import type { BigIntStats } from 'node:fs';
import { refusal } from './errors.js';
import { openForReading } from './open-confined.js';
import type { ConfinedPath, Workspace } from './workspace.js';

/** Largest file that is edited or rewritten, in bytes. */
export const MAX_EDIT_BYTES = 64 * 1024 * 1024;

/** A file in memory with the facts it had when it was read. */
export interface LoadedFile {
  readonly bytes: Buffer;
  readonly facts: BigIntStats;
}

/** How the lines of a text end. A lone CR, form feed, U+2028 and the like are ordinary characters everywhere here. */
export type LineEnding = 'lf' | 'crlf' | 'mixed' | 'none';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const LF = 0x0a;
const CR = 0x0d;

/** Reads a whole file. @throws ToolError `too_large` above {@link MAX_EDIT_BYTES}, `stale` when it grows meanwhile */
export async function loadFile(workspace: Workspace, path: ConfinedPath): Promise<LoadedFile> {
  const file = await openForReading(workspace, path);
  try {
    const facts = await file.stat({ bigint: true });
    if (facts.size > BigInt(MAX_EDIT_BYTES)) {
      throw refusal(
        'too_large',
        `"${path.shown}" has ${facts.size} bytes; at most ${MAX_EDIT_BYTES} can be edited. Use shell.`,
      );
    }
    return { bytes: await file.readFile(), facts };
  } finally {
    await file.close();
  }
}

/**
 * Refuses what is not UTF-8 text, so that no byte is ever replaced by a guess.
 * @throws ToolError `not_utf8` with the place of the first bad byte, `binary_file`
 */
export function requireText(bytes: Buffer, shown: string): void {
  if (!isUtf8(bytes)) {
    const at = firstInvalidByte(bytes);
    const what = `byte 0x${(bytes[at] ?? 0).toString(16)} at offset ${at}`;
    throw refusal(
      'not_utf8',
      `"${shown}" is not UTF-8 text (${what}). It was left as it is; use shell with a tool that knows its encoding.`,
    );
  }
  const zero = bytes.indexOf(0);
  if (zero >= 0)
    throw refusal('binary_file', `"${shown}" is binary (zero byte at offset ${zero}). It was left as it is.`);
}

/** @throws ToolError `not_utf8` for half of a surrogate pair, which UTF-8 cannot hold */
export function requireWellFormed(text: string, field: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw refusal('not_utf8', `${field} holds half of a surrogate pair and cannot be written as UTF-8.`);
}

/** Length of the byte-order mark at the start: 3 or 0. */
export function bomLength(bytes: Uint8Array): number {
  return bytes.length >= 3 && BOM.equals(bytes.subarray(0, 3)) ? 3 : 0;
}

/** The byte-order mark of UTF-8. */
export function byteOrderMark(): Buffer {
  return Buffer.from(BOM);
}

/** How the lines end. */
export function lineEnding(bytes: Uint8Array): LineEnding {
  let crlf = 0;
  let lf = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] === CR) crlf += 1;
    else lf += 1;
    if (crlf > 0 && lf > 0) return 'mixed';
  }
  if (crlf > 0) return 'crlf';
  return lf > 0 ? 'lf' : 'none';
}

/** Number of the line (from 1) that holds the byte. */
export function lineNumberAt(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LF); at >= 0 && at < offset; at = bytes.indexOf(LF, at + 1)) line += 1;
  return line;
}

/** Offset of the first bad byte: where the text, decoded and encoded again, differs. */
function firstInvalidByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'), 'utf8');
  const differs = bytes.findIndex((byte, at) => byte !== again[at]);
  return differs < 0 ? bytes.length : differs;
}
