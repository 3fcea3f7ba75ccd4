import { LedgerError } from './errors.js';

const word = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/u;
const longestId = 512;
/** No store keeps these as they are: NUL, and halves of a pair. */
const unkept = /[\0\p{Cs}]/u;

/** The value kept under `key` in the record itself, never one of its prototype. */
export function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

export function isWord(value: string): boolean {
  return word.test(value);
}

/** @throws LedgerError `invalid_input` unless `value` is a word such as 'action' */
export function checkWord(name: string, value: unknown): asserts value is string {
  if (typeof value === 'string' && word.test(value)) return;
  throw new LedgerError(
    'invalid_input',
    `${name} is ${JSON.stringify(value)}; it must be a word of letters, digits, '_', '.' and '-' with at most 64 characters.`,
    { details: { name } },
  );
}

/** @throws LedgerError `invalid_input` unless `value` is a text of 1 to 512 characters */
export function checkId(name: string, value: unknown): asserts value is string {
  if (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= longestId &&
    !unkept.test(value) &&
    value !== '__proto__'
  )
    return;
  throw new LedgerError(
    'invalid_input',
    `${name} is ${typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : typeof value}; it must be a text of 1 to ${longestId} characters without NUL or lone surrogates.`,
    {
      details: { name },
    },
  );
}
