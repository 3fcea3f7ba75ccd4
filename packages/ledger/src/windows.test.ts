import { expect, it } from 'vitest';
import type { WindowLimit } from './types.js';
import { windowBounds } from './windows.js';

const iso = (window: WindowLimit, at: string): string[] => {
  const { startsAt, endsAt } = windowBounds(window, Date.parse(at));
  return [new Date(startsAt).toISOString(), new Date(endsAt).toISOString()];
};
const day = (zone: string): WindowLimit => ({ per: 'day', zone, maxTokens: 1 });

it('begins minutes, hours and days where the zone does', () => {
  expect(iso({ per: 'minute', maxTokens: 1 }, '2026-05-01T10:20:30Z')).toEqual([
    '2026-05-01T10:20:00.000Z',
    '2026-05-01T10:21:00.000Z',
  ]);
  expect(iso({ per: 'hour', zone: 'Asia/Kolkata', maxTokens: 1 }, '2026-05-01T10:20:30Z')).toEqual([
    '2026-05-01T09:30:00.000Z',
    '2026-05-01T10:30:00.000Z',
  ]);
  expect(iso(day('America/Los_Angeles'), '2026-05-01T03:00:00Z')).toEqual([
    '2026-04-30T07:00:00.000Z',
    '2026-05-01T07:00:00.000Z',
  ]);
});

it('makes the day 23 or 25 hours long when the clocks are changed', () => {
  expect(iso(day('Europe/Berlin'), '2026-03-29T12:00:00Z')).toEqual([
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ]);
  expect(iso(day('Europe/Berlin'), '2026-10-25T12:00:00Z')).toEqual([
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ]);
});

it('begins a day whose midnight is missing at its first instant', () => {
  // In Santiago the clocks went from 24:00 to 1:00 on 7 September 2025.
  expect(iso(day('America/Santiago'), '2025-09-07T12:00:00Z')).toEqual([
    '2025-09-07T04:00:00.000Z',
    '2025-09-08T03:00:00.000Z',
  ]);
});

it('puts every instant into exactly one bucket, and the bucket next to it begins where it ends', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'America/Santiago',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  ]) {
    for (let at = Date.parse('2026-01-01T00:00:00Z'); at < Date.parse('2027-01-01T00:00:00Z'); at += 7_777_777_0) {
      const { startsAt, endsAt } = windowBounds(day(zone), at);
      expect([zone, startsAt <= at && at < endsAt]).toEqual([zone, true]);
      expect(windowBounds(day(zone), startsAt)).toEqual({ startsAt, endsAt });
      expect(windowBounds(day(zone), endsAt).startsAt).toBe(endsAt);
    }
  }
});
