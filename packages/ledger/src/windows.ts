import { addExactly } from './integers.js';
import { ownValue } from './names.js';
import type { AccountView, Totals, WindowLimit, WindowPeriod, WindowTotals } from './types.js';
import { zoneOffsetMs } from './zones.js';

const minuteMs = 60_000;
const lengthMs: Readonly<Record<WindowPeriod, number>> = {
  minute: minuteMs,
  hour: 60 * minuteMs,
  day: 24 * 60 * minuteMs,
};

/** One bucket of a calendar: `startsAt` belongs to it, `endsAt` to the next. */
export interface WindowBounds {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The key under which a window's bucket is kept in the account. */
export function windowKey(window: WindowLimit): string {
  return `${window.per}|${window.zone ?? 'UTC'}`;
}

/**
 * The time at which a reservation counts in the windows of a chain: now, but never before a bucket that is there already, so that a clock
 * that jumps back goes on filling the newest. A request keeps it, and its settlement moves the same bucket.
 */
export function bookingTime(accounts: readonly Pick<AccountView, 'windows'>[], now: number): number {
  let latest = now;
  for (const { windows } of accounts) {
    for (const key in windows) latest = Math.max(latest, windows[key]?.startsAt ?? 0);
  }
  return latest;
}

/** What the window's bucket at `bookedAt` was charged; undefined if nothing was booked there, or the kept one is another. */
export function bucketAt(
  account: Pick<AccountView, 'windows'>,
  window: WindowLimit,
  bookedAt: number,
): WindowTotals | undefined {
  const kept = ownValue(account.windows, windowKey(window));
  return kept?.startsAt === windowBounds(window, bookedAt).startsAt ? kept : undefined;
}

/** Adds to the buckets at `bookedAt`. Only a reservation begins a bucket: one that is over is no longer kept. */
export function bookInWindows(
  account: Pick<AccountView, 'limits'> & { readonly windows: Record<string, WindowTotals> },
  delta: Totals,
  bookedAt: number,
): void {
  for (const window of account.limits.windows ?? []) {
    const bucket = bucketAt(account, window, bookedAt);
    if (bucket === undefined && delta.requests === 0) continue;
    account.windows[windowKey(window)] = {
      startsAt: windowBounds(window, bookedAt).startsAt,
      requests: (bucket?.requests ?? 0) + delta.requests,
      tokens: addExactly(bucket?.tokens ?? 0, delta.tokens),
      costMicros: addExactly(bucket?.costMicros ?? 0, delta.costMicros),
    };
  }
}

/** The bucket that holds `at`, in the calendar of the window's zone; a day has 23 or 25 hours where clocks are changed. */
export function windowBounds(window: WindowLimit, at: number): WindowBounds {
  const zone = window.zone ?? 'UTC';
  const length = lengthMs[window.per];
  const local = at + zoneOffsetMs(zone, at);
  const localStart = local - modulo(local, length);
  if (window.per !== 'day' || zone === 'UTC') {
    const startsAt = at - modulo(local, length);
    return { startsAt, endsAt: startsAt + length };
  }
  return { startsAt: firstInstantOfDay(zone, localStart), endsAt: firstInstantOfDay(zone, localStart + length) };
}

/** The first instant whose local date is the one that begins at local time `localStart`; midnight may be missing or come twice. */
function firstInstantOfDay(zone: string, localStart: number): number {
  const before = localStart - zoneOffsetMs(zone, localStart - lengthMs.day);
  const after = localStart - zoneOffsetMs(zone, localStart + lengthMs.day);
  const isInDay = (instant: number): boolean => instant + zoneOffsetMs(zone, instant) >= localStart;
  const candidates = [before, after].filter(isInDay);
  return candidates.length === 0 ? Math.max(before, after) : Math.min(...candidates);
}

function modulo(value: number, length: number): number {
  return ((value % length) + length) % length;
}
