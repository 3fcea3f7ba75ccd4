import * as z from 'zod';
import { utf8Length } from './bytes.js';
import { DTO_LIMITS } from './limits.js';

/** The value an open enum takes when a newer peer sent one this version does not know; readers show it generically. */
export const UNRECOGNISED = 'unrecognised';

/** Text of at most `maxBytes` UTF-8 bytes. `maxLength` in its JSON Schema is necessary, the byte check is exact. */
export function boundedText(maxBytes: number) {
  return z
    .string()
    .max(maxBytes)
    .refine((text) => utf8Length(text) <= maxBytes, { error: `must have at most ${maxBytes} UTF-8 bytes` });
}

/** Text a person wrote: bounded, and not only white space. */
export function personText(maxBytes: number) {
  return boundedText(maxBytes).refine((text) => text.trim() !== '', { error: 'must not be empty' });
}

/**
 * A closed list for senders, open for readers: a word this version does not know becomes `unrecognised` instead of an error. Anything that is no
 * string is still refused.
 */
export function openEnum<const T extends readonly [string, ...string[]]>(values: T) {
  const known: ReadonlySet<unknown> = new Set(values);
  const closed = z.enum([...values, UNRECOGNISED] as [...T, typeof UNRECOGNISED]);
  return z.preprocess((value) => (typeof value === 'string' && !known.has(value) ? UNRECOGNISED : value), closed);
}

export const idSchema = z.string().min(1).max(DTO_LIMITS.maxIdBytes);
/** A safe integer, 0 or more. */
export const countSchema = z.int().min(0);
/** Milliseconds since 1970, UTC. */
export const timeSchema = z.int().min(0);
export const lineSchema = boundedText(DTO_LIMITS.maxLineBytes);
export const textSchema = boundedText(DTO_LIMITS.maxTextBytes);

/** Requests, tokens and money together. `costMicros` is in millionths of a dollar; null = not known, never 0 for it. */
export const amountSchema = z.object({
  requests: countSchema,
  tokens: countSchema,
  costMicros: countSchema.nullable(),
});
export type Amount = Readonly<z.infer<typeof amountSchema>>;

/** Why something stands as it does: a stable code and one line for a person. */
export const reasonSchema = z.object({ code: z.string().max(128), message: lineSchema });
export type Reason = Readonly<z.infer<typeof reasonSchema>>;
