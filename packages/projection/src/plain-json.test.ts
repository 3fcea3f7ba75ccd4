import { expect, test } from 'vitest';
import { toPlainJson } from './plain-json.js';

test('case P09 what JSON cannot carry becomes something it can, by the table, and nothing throws', () => {
  const circular: Record<string, unknown> = { name: 'loop' };
  circular['self'] = circular;
  const cause = new Error('root');
  cause.cause = cause;
  const value = {
    big: 9007199254740993n,
    none: Number.NaN,
    endless: Number.POSITIVE_INFINITY,
    zero: -0,
    when: new Date(0),
    never: new Date(Number.NaN),
    failed: new Error('broke', { cause }),
    list: [1, undefined, () => 1],
    map: new Map([['a', 1n]]),
    set: new Set([1]),
    bytes: new Uint8Array(3),
    circular,
    left: undefined,
    get hostile() {
      throw new Error('no');
    },
  };
  const plain = toPlainJson(value);
  expect(plain).toEqual({
    big: '9007199254740993',
    none: null,
    endless: null,
    zero: 0,
    when: '1970-01-01T00:00:00.000Z',
    never: null,
    failed: { name: 'Error', message: 'broke', cause: { name: 'Error', message: 'root', cause: '[circular]' } },
    list: [1, null, null],
    map: [['a', '1']],
    set: [1],
    bytes: '[3 bytes]',
    circular: { name: 'loop', self: '[circular]' },
    hostile: '[unreadable]',
  });
  expect(JSON.parse(JSON.stringify(plain))).toEqual(plain);
});

test('the same object twice is no circle', () => {
  const shared = { a: 1 };
  expect(toPlainJson([shared, shared])).toEqual([shared, shared]);
});

test('a very deep value ends at its bound', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 10_000; level += 1) deep = [deep];
  expect(JSON.stringify(toPlainJson(deep))).toContain('[too deep]');
});
