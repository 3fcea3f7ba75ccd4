/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/**
 * The text, or its longest prefix of whole code points that fits in `maxBytes` with a mark that says how much was cut.
 * With less room than the mark needs, the empty string.
 */
export function cutText(text: string, maxBytes: number): string {
  const bytes = utf8Bytes(text);
  if (bytes <= maxBytes) return text;
  const mark = `… [cut, ${bytes} bytes in all]`;
  const room = maxBytes - utf8Bytes(mark);
  if (room <= 0) return '';
  return `${prefixOfBytes(text, room)}${mark}`;
}

function prefixOfBytes(text: string, maxBytes: number): string {
  const buffer = Buffer.from(text, 'utf8');
  let end = Math.min(maxBytes, buffer.length);
  while (end > 0 && (buffer[end] ?? 0) >= 0x80 && (buffer[end] ?? 0) < 0xc0) end -= 1;
  return buffer.subarray(0, end).toString('utf8');
}
