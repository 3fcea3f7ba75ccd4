import { describe, expect, it } from 'vitest';
import { numberParameters, QueryCache } from './postgres-sql.js';

describe('numberParameters', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    ['SELECT ? + ?', 'SELECT $1 + $2'],
    ["SELECT '?', ?", "SELECT '?', $1"],
    ["SELECT 'it''s ?', ?", "SELECT 'it''s ?', $1"],
    ['SELECT "a?b" FROM t WHERE x = ?', 'SELECT "a?b" FROM t WHERE x = $1'],
    ['SELECT ? -- really?\n, ?', 'SELECT $1 -- really?\n, $2'],
    ['SELECT ? /* what? */, ?', 'SELECT $1 /* what? */, $2'],
  ])('%s', (portable, postgres) => {
    expect(numberParameters(portable)).toBe(postgres);
  });
});

describe('QueryCache', () => {
  it('names a text once and gives no more names than the server should keep', () => {
    const queries = new QueryCache();
    const first = queries.get('SELECT 0');
    expect(queries.get('SELECT 0')).toBe(first);
    for (let index = 1; index < 1_000; index += 1) queries.get(`SELECT ${index}`);
    expect(queries.get('SELECT 1000')).toEqual({ text: 'SELECT 1000' });
    expect(queries.get('SELECT 999').name).toBe('stint_1000');
  });
});
