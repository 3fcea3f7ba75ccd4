import type { Limits } from './types.js';

/** Parses JSON that this package wrote. */
export function parseJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

const limitsByText = new Map<string, Limits>();
const mostKept = 256;

/** The limits of a row; the same text answers the same frozen object, so that a hot account is not parsed at every request. */
export function storedLimits(text: string): Limits {
  const kept = limitsByText.get(text);
  if (kept !== undefined) return kept;
  const limits = Object.freeze(parseJson<Limits>(text));
  if (limitsByText.size >= mostKept) limitsByText.clear();
  limitsByText.set(text, limits);
  return limits;
}
