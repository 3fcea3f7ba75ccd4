import { expect, test } from 'vitest';
import { negotiateProtocol, PROTOCOL_RANGE, PROTOCOL_VERSION } from './version.js';

test('two peers speak the newest version both know', () => {
  expect(negotiateProtocol({ min: 1, max: 3 }, { min: 2, max: 5 })).toBe(3);
  expect(negotiateProtocol({ min: 2, max: 5 }, { min: 1, max: 3 })).toBe(3);
  expect(negotiateProtocol(PROTOCOL_RANGE, PROTOCOL_RANGE)).toBe(PROTOCOL_VERSION);
});

test('peers without a common version are refused', () => {
  expect(negotiateProtocol({ min: 3, max: 4 }, { min: 1, max: 2 })).toBeNull();
  expect(negotiateProtocol({ min: 1, max: 2 }, { min: 3, max: 4 })).toBeNull();
});
