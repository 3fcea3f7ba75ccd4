/** What people do to the caps of windows. The windows themselves (period and zone) are those that the account was created with. */
import { LedgerError } from './errors.js';
import { addExactly } from './integers.js';
import type { AccountView, WindowLimit } from './types.js';
import { bookingTime, bucketAt, windowKey } from './windows.js';

export const windowCaps = ['maxRequests', 'maxTokens', 'maxCostMicros'] as const;
type WindowCap = (typeof windowCaps)[number];

const chargedOf = { maxRequests: 'requests', maxTokens: 'tokens', maxCostMicros: 'costMicros' } as const;

/**
 * Adds to caps.
 * @param additions windows whose caps are what to add
 * @throws LedgerError `invalid_limits` for a window or cap that is not there, `number_out_of_range`
 */
export function raiseWindows(account: AccountView, additions: readonly WindowLimit[]): readonly WindowLimit[] {
  return changeWindows(account, additions, (window, name, addition) => {
    const current = window[name];
    if (current !== undefined && addition > 0) return addExactly(current, addition);
    throw invalid(
      account,
      window,
      current === undefined ? `has no ${name} to extend` : `is to be extended by ${name} 0`,
    );
  });
}

/**
 * Sets lower caps, or caps that were absent; never below what is charged in the present bucket.
 * @throws LedgerError `invalid_limits`
 */
export function lowerWindows(
  account: AccountView,
  wanted: readonly WindowLimit[],
  now: number,
): readonly WindowLimit[] {
  const bookedAt = bookingTime([account], now);
  return changeWindows(account, wanted, (window, name, cap) => {
    const current = window[name];
    if (current !== undefined && cap > current)
      throw invalid(account, window, `has ${name} ${current}; ${cap} is above it, use extend`);
    const charged = bucketAt(account, window, bookedAt)?.[chargedOf[name]] ?? 0;
    if (cap >= charged) return cap;
    throw invalid(account, window, `has ${charged} charged or held by now; ${name} cannot be ${cap}`);
  });
}

function changeWindows(
  account: AccountView,
  changes: readonly WindowLimit[],
  change: (window: WindowLimit, name: WindowCap, value: number) => number,
): readonly WindowLimit[] {
  const windows = account.limits.windows ?? [];
  for (const each of changes) {
    if (!windows.some((window) => windowKey(window) === windowKey(each)))
      throw invalid(
        account,
        each,
        'is not there: windows are set when an account is created; put a child with it beneath',
      );
  }
  return windows.map((window) => {
    const wanted = changes.find((each) => windowKey(each) === windowKey(window));
    const changed: Partial<Record<WindowCap, number>> = {};
    for (const name of windowCaps) {
      if (wanted?.[name] !== undefined) changed[name] = change(window, name, wanted[name]);
    }
    return { ...window, ...changed };
  });
}

function invalid(account: AccountView, window: WindowLimit, problem: string): LedgerError {
  return new LedgerError(
    'invalid_limits',
    `The window of account ${account.id} for each ${window.per} in ${window.zone ?? 'UTC'} ${problem}.`,
    { details: { account: account.id, window } },
  );
}
