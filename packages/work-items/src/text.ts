import { invalidField } from './errors.js';

const encoder = new TextEncoder();

/** Length in UTF-8 bytes. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** `text` if it is not blank and at most `maxBytes` long; else an `invalid_field` error. */
export function boundedText(field: string, text: string, maxBytes: number): string {
  if (text.trim() === '') throw invalidField(field, 'is empty; say something');
  const size = byteLength(text);
  if (size > maxBytes) throw invalidField(field, `is ${size} bytes long; at most ${maxBytes} are kept, shorten it`);
  return text;
}

/** `text` cut to `maxBytes` at a character boundary. For reasons and other text that no rule depends on. */
export function cutText(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const bytes = encoder.encode(text).subarray(0, maxBytes - 3);
  return `${new TextDecoder('utf-8', { fatal: false }).decode(bytes).replace(/\uFFFD+$/, '')}…`;
}

/** A deep value as JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
