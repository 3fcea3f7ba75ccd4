import type { AccountSnapshot } from '@stint/ledger';
import type { BudgetStop, WorkItem } from '@stint/work-items';
import { budgetStopIn, personStops } from './budget-stop.js';

type StoppedItem = Pick<WorkItem, 'paused' | 'cancelledAt'>;

/**
 * The stop that an item's status has to tell of. While a person's pause or cancel of the item holds, the item says so
 * itself; once it is taken back, whatever still keeps the item from spending is told, and so is any stop above it.
 */
export function shownStopIn(item: StoppedItem, snapshot: AccountSnapshot): BudgetStop | null {
  const { status, stopReason } = snapshot;
  const isTold = isStoppedItself(item) && status === 'stopped' && personStops.has(stopReason?.code ?? '');
  return isTold ? null : budgetStopIn(withStandingStop(item, snapshot));
}

/**
 * The account with the reason that has to be lifted first. The first stop stands, so one that was paused while its driver
 * failed still says `paused` after the pause; what a resume is refused for is that the driver has failed too often.
 */
export function withStandingStop(item: StoppedItem, snapshot: AccountSnapshot): AccountSnapshot {
  const { stopReason, failures, limits } = snapshot;
  const limit = limits.maxConsecutiveFailures ?? null;
  if (isStoppedItself(item) || stopReason === null || limit === null || !personStops.has(stopReason.code))
    return snapshot;
  const isFailing = Object.values(failures).some((driver) => driver.failures >= limit);
  return isFailing ? { ...snapshot, stopReason: { ...stopReason, code: 'failures_exhausted', limit } } : snapshot;
}

function isStoppedItself({ paused, cancelledAt }: StoppedItem): boolean {
  return paused || cancelledAt !== null;
}
