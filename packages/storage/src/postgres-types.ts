import { refusedColumn } from './value.js';

/** Type numbers of pg_type (https://www.postgresql.org/docs/current/catalog-pg-type.html). */
const boolOid = 16;
const numberOids: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);
/** An integer, also as SUM(bigint) and AVG write it. */
const wholeNumber = /^-?\d+(?:\.0+)?$/;

/** Whole numbers come out as safe integers or are refused, booleans as 0 and 1, all else as the text Postgres writes. */
export const portableTypes = {
  getTypeParser(oid: number): (text: string) => string | number {
    if (numberOids.has(oid)) return parseSafeInteger;
    return oid === boolOid ? parseBoolean : asText;
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (wholeNumber.test(text) && Number.isSafeInteger(value)) return value;
  throw refusedColumn(null, text);
}

function parseBoolean(text: string): number {
  return text === 't' ? 1 : 0;
}

function asText(text: string): string {
  return text;
}
