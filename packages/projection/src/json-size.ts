import { utf8Length } from '@stint/contracts';

/** @returns the UTF-8 bytes of `JSON.stringify(text)`, quotes included. A surrogate without its partner is written as an escape. */
export function jsonTextSize(text: string): number {
  if (text.length > LONG_TEXT_LENGTH) return utf8Length(JSON.stringify(text));
  let bytes = QUOTES;
  for (let index = 0; index < text.length; index += 1) {
    const size = characterSize(text, index);
    if (size === PAIR_BYTES) index += 1;
    bytes += size;
  }
  return bytes;
}

/** @returns the UTF-8 bytes of `JSON.stringify(value)` for plain JSON data. Properties that are undefined are left out, as JSON does. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return jsonTextSize(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value).length;
  if (typeof value !== 'object' || value === null) return 4;
  return Array.isArray(value) ? arraySize(value) : objectSize(value as Readonly<Record<string, unknown>>);
}

function arraySize(values: readonly unknown[]): number {
  let bytes = 2 + Math.max(0, values.length - 1);
  for (const value of values) bytes += jsonSize(value);
  return bytes;
}

function objectSize(value: Readonly<Record<string, unknown>>): number {
  let bytes = 2;
  let count = 0;
  for (const key in value) {
    const field = value[key];
    if (field === undefined) continue;
    bytes += jsonTextSize(key) + 1 + jsonSize(field);
    count += 1;
  }
  return bytes + Math.max(0, count - 1);
}

/** @returns the longest beginning of `text` whose JSON has at most `maxBytes`, quotes included; never half a character. */
export function cutToJsonSize(text: string, maxBytes: number): string {
  let bytes = QUOTES;
  for (let index = 0; index < text.length; index += 1) {
    const size = characterSize(text, index);
    bytes += size;
    if (bytes > maxBytes) return text.slice(0, index);
    if (size === PAIR_BYTES) index += 1;
  }
  return text;
}

/** From here on the engine's own writer is faster than a loop, although it makes the text. */
const LONG_TEXT_LENGTH = 256;
const QUOTES = 2;
/** Only a pair of surrogates has this size. */
const PAIR_BYTES = 4;
/** `\u0000` */
const ESCAPED_BYTES = 6;

/** Bytes that JSON writes for each ASCII character. */
const ASCII_BYTES: readonly number[] = Array.from({ length: 128 }, (_, unit) => {
  if ([8, 9, 10, 12, 13, 0x22, 0x5c].includes(unit)) return 2;
  return unit < 0x20 ? ESCAPED_BYTES : 1;
});

/** Bytes of the character that begins at `index`. */
function characterSize(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  if (unit < 0x80) return ASCII_BYTES[unit] ?? 1;
  if (unit < 0x800) return 2;
  if (unit < 0xd800 || unit > 0xdfff) return 3;
  const next = text.charCodeAt(index + 1);
  return unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff ? PAIR_BYTES : ESCAPED_BYTES;
}
