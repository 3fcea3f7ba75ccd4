import { expect, test } from 'vitest';
import { cutToBytes, utf8Length } from './bytes.js';

const ALPHABET = ['a', '\u0000', 'é', '\u07ff', '\u0800', '漢', '😀', '\ud83d', '\ude00', '\u202e', '\n'];
const encoder = new TextEncoder();

function randomText(random: () => number): string {
  return Array.from(
    { length: Math.floor(random() * (random() < 0.1 ? 400 : 40)) },
    () => ALPHABET[Math.floor(random() * ALPHABET.length)],
  ).join('');
}

/** Small seeded generator (mulberry32), so that a failure can be replayed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

test('the length in bytes is what an encoder writes, also for broken surrogates', () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = seeded(seed);
  for (let round = 0; round < 2_000; round += 1) {
    const text = randomText(random);
    expect(utf8Length(text), `seed ${seed}: ${JSON.stringify(text)}`).toBe(encoder.encode(text).length);
  }
});

test('a cut is the longest beginning that fits, never half a character', () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = seeded(seed);
  for (let round = 0; round < 2_000; round += 1) {
    const text = randomText(random);
    const maxBytes = Math.floor(random() * 60);
    const cut = cutToBytes(text, maxBytes);
    const note = `seed ${seed}: ${JSON.stringify(text)} to ${maxBytes}`;
    expect(text.startsWith(cut), note).toBe(true);
    expect(utf8Length(cut), note).toBeLessThanOrEqual(maxBytes);
    const next = String.fromCodePoint(text.slice(cut.length).codePointAt(0) ?? 0);
    if (cut !== text) expect(utf8Length(cut) + utf8Length(next), note).toBeGreaterThan(maxBytes);
  }
});

test('a pair of surrogates is kept or cut as one', () => {
  expect(cutToBytes('a😀b', 4)).toBe('a');
  expect(cutToBytes('a😀b', 5)).toBe('a😀');
});
