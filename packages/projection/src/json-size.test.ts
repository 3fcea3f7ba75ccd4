import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToJsonSize, jsonSize, jsonTextSize } from './json-size.js';

const text = fc.string({
  maxLength: 400,
  unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001', '\u007f', 'é', '漢', '😀', '\ud800', '\udc00'),
});
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

test('the measured size is the one JSON has', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonSize(value)).toBe(bytesOf(value));
    }),
  );
  fc.assert(
    fc.property(text, (value) => {
      expect(jsonTextSize(value)).toBe(bytesOf(value));
    }),
  );
  expect(jsonSize({ a: undefined, b: [] })).toBe(bytesOf({ a: undefined, b: [] }));
});

test('a cut text fits and the next character would not', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 60 }), (value, maxBytes) => {
      const cut = cutToJsonSize(value, maxBytes);
      expect(value.startsWith(cut)).toBe(true);
      expect(jsonTextSize(cut)).toBeLessThanOrEqual(maxBytes);
      const next = String.fromCodePoint(value.slice(cut.length).codePointAt(0) ?? 0);
      if (cut !== value) expect(jsonTextSize(cut + next)).toBeGreaterThan(maxBytes);
    }),
  );
});
