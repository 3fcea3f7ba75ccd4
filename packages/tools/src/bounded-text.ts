/** Largest index <= `end` at which UTF-8 bytes can be cut without splitting a character. */
export function cutBefore(bytes: Uint8Array, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let index = Math.max(0, end);
  while (index > 0 && isContinuation(bytes[index])) index -= 1;
  return index;
}

/** Smallest index >= `start` at which UTF-8 bytes can be cut without splitting a character. */
export function cutAfter(bytes: Uint8Array, start: number): number {
  let index = Math.max(0, start);
  while (index < bytes.length && isContinuation(bytes[index])) index += 1;
  return index;
}

/** Text of the first `limitBytes` bytes, whole characters only. */
export function headText(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  const bytes = Buffer.from(text.slice(0, limitBytes), 'utf8'); // a UTF-16 unit is at least one byte
  return bytes.toString('utf8', 0, cutBefore(bytes, limitBytes));
}

/** Text of the last `limitBytes` bytes, whole characters only. */
export function tailText(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  const bytes = Buffer.from(text.slice(-limitBytes), 'utf8');
  return bytes.toString('utf8', cutAfter(bytes, bytes.length - limitBytes));
}

/** One line for a message: at most `limitBytes` bytes, control characters escaped. */
export function excerpt(text: string, limitBytes: number): string {
  const plain = escapeControls(text.slice(0, limitBytes));
  const head = headText(plain, limitBytes);
  return head.length < plain.length || text.length > limitBytes ? `${head}…` : head;
}

/** Control characters, and what some programs take for a line break, as visible escapes. */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    if (character === '\t') return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
