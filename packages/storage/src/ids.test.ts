import { describe, expect, it } from 'vitest';
import { createIdSource } from './ids.js';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('createIdSource', () => {
  it('makes UUIDv7 whose first 48 bits are the time', () => {
    const now = 1_700_000_000_123;
    const id = createIdSource(() => now)();
    expect(id).toMatch(uuidV7);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(now);
  });

  it('makes ids in text order within one millisecond, and none twice', () => {
    const next = createIdSource(() => 5);
    const ids = Array.from({ length: 20_000 }, next);
    expect(ids.every((id) => uuidV7.test(id))).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('goes on in order when the clock goes back', () => {
    let now = 1_000;
    const next = createIdSource(() => now);
    const before = next();
    now = 10;
    expect(next() > before).toBe(true);
  });

  it('makes different ids in two sources at the same time', () => {
    const sources = [createIdSource(() => 5), createIdSource(() => 5)];
    const ids = sources.flatMap((next) => Array.from({ length: 1_000 }, next));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
