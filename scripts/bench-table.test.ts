import { expect, test } from 'vitest';
import { table } from './bench-table.mjs';

const measured = { name: 'a turn', unit: 'us', target: '<= 0.4', value: 42, baseline: 105, ratio: 0.4 };

test('a row says whether it met its target, or that it has none', () => {
  const lines = table([
    { ...measured, met: true },
    { ...measured, met: false },
    { ...measured, target: 'none', met: null },
  ]).split('\n');
  expect(lines.map((line) => line.slice(0, 4))).toEqual(['met ', 'MISS', 'told']);
  expect(lines[0]).toMatch(/a turn +42\.0 us +baseline +105 +ratio 0\.40 +target <= 0\.4$/);
});

test('a row that could not be measured keeps its line, with the reason and the target', () => {
  const notMeasured = 'the registry could not be reached';
  expect(table([{ name: 'a peer', unit: 'us', target: '>= 2', met: null, notMeasured }])).toBe(
    'NONE a peer not measured: the registry could not be reached  target >= 2',
  );
});
