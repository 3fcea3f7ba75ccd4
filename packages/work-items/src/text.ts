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

/**
 * `text` cut to `maxBytes`. For reasons and other text that no rule depends on. A word that the cut would split is left
 * out as a whole: half a secret is not known again when the text is redacted. Scripts that put no space between words are
 * cut at a character.
 */
export function cutText(text: string, maxBytes: number): string {
  if (byteLength(text) <= maxBytes) return text;
  const bytes = encoder.encode(text).subarray(0, maxBytes - 3);
  const beginning = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replace(/\uFFFD+$/, '');
  return `${withoutSplitWord(beginning, text.charAt(beginning.length))}…`;
}

/** Letters without case belong to scripts such as Chinese, where a word has no end that is seen. */
const betweenWords = /[\s\p{Lo}]/u;

function withoutSplitWord(beginning: string, next: string): string {
  if (betweenWords.test(next)) return beginning;
  let end = beginning.length;
  while (end > 0 && !betweenWords.test(beginning.charAt(end - 1))) end -= 1;
  return beginning.slice(0, end);
}

/** A deep value as JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
