import { expect, it } from 'vitest';
import { canonicalJson, type Entry, entryHash, entryLine } from './entries.js';

it('writes canonical JSON: members sorted by code units, nothing between, absent members left out', () => {
  expect(canonicalJson({ b: [1, { z: null, a: 'ü"' }], '10': true, '9': undefined, a: 1 })).toBe(
    '{"10":true,"a":1,"b":[1,{"a":"ü\\"","z":null}]}',
  );
});

it('writes lines that are canonical whether or not they have details', () => {
  const entry: Entry = {
    account: 'a',
    at: 5,
    revision: 2,
    seq: 1,
    type: 'reserved',
    kind: 'action',
    request: 'r',
    delta: [1, 2],
  };
  for (const each of [
    entry,
    { ...entry, details: { z: 1, a: { c: 1, b: 2 } }, actor: { kind: 'person', id: 'ada' } as const },
  ]) {
    expect(entryLine(each)).toBe(canonicalJson(JSON.parse(entryLine(each))));
  }
});

it('hashes each line together with the hash before it', () => {
  expect(entryHash('', '{}')).not.toBe(entryHash('x', '{}'));
  expect(entryHash('', '{}')).toMatch(/^[\w-]{43}$/u);
});
