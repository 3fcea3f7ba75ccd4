import { StoreError } from './errors.js';

/** What goes in and comes out. Numbers are safe integers (within 2^53 - 1), anything else is refused, never rounded. */
export type Value = string | number | null;

/** A row as it comes out, keyed by column name or alias. */
export type Row = Readonly<Record<string, Value>>;

/** Throws `value_refused` unless every parameter is a string, a safe integer or null. */
export function checkParams(sql: string, params: readonly Value[]): void {
  for (let index = 0; index < params.length; index += 1) {
    const value: unknown = params[index];
    if (typeof value === 'string' || value === null || Number.isSafeInteger(value)) continue;
    throw refusedParam(sql, index, value);
  }
}

/** The error for a parameter that would be rounded, or is of another type. */
export function refusedParam(sql: string, index: number, value: unknown): StoreError {
  const what = typeof value === 'number' || typeof value === 'bigint' ? `${typeof value} ${value}` : typeof value;
  return new StoreError(
    'value_refused',
    `Parameter ${index + 1} of "${sql}" is a ${what}; give a string, null, or an integer within 2^53 - 1`,
  );
}

/** The error for a column that cannot be told exactly as a safe integer or a string. */
export function refusedColumn(column: string | null, value: unknown): StoreError {
  return new StoreError(
    'value_refused',
    `${column === null ? 'A column' : `Column "${column}"`} holds ${typeof value} ${String(value).slice(0, 40)}, which is no integer within 2^53 - 1; store money, tokens and times as integers, all else as text`,
  );
}
