/** From here on the platform's encoder is faster than a loop, although it makes the bytes. */
const LONG_TEXT_LENGTH = 256;
const encoder = new TextEncoder();

/** @returns the UTF-8 length of a text in bytes. A surrogate without its partner counts 3, what an encoder writes for it. */
export function utf8Length(text: string): number {
  if (text.length > LONG_TEXT_LENGTH) return encoder.encode(text).length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
      continue;
    }
    bytes += 2;
    if (isSurrogatePair(text, index)) index += 1;
  }
  return bytes;
}

/** @returns the longest beginning of `text` that has at most `maxBytes` UTF-8 bytes; never half a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes)) return text;
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const pair = isSurrogatePair(text, index);
    const unit = text.charCodeAt(index);
    bytes += pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > maxBytes) return text.slice(0, index);
    if (pair) index += 1;
  }
  return text;
}

function isSurrogatePair(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}
