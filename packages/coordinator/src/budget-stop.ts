import { type AccountSnapshot, findStop, type StandingStop, type StopReason } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';
import type { BudgetStop } from '@stint/work-items';
import { accountOf } from './account.js';

/** Codes of stops that a person gave to an item itself; its `resume` takes them back, and it says so in its own words. */
export const personStops: ReadonlySet<string> = new Set(['paused', 'cancelled']);

/** The stop that keeps an item from spending: of its own account or of the nearest ancestor; null if there is none. */
export function* budgetStopOf(ctx: Context, itemId: string): Transaction<BudgetStop | null> {
  return inWords(yield* findStop(ctx, accountOf(itemId)));
}

/** The same, of an account that was read already: once there is room again, it says that only the resume is left to do. */
export function budgetStopIn(snapshot: AccountSnapshot): BudgetStop | null {
  if (snapshot.status === 'open') return inWords(snapshot.blockedBy);
  return inWords(snapshot, hasRoomAgain(snapshot));
}

/**
 * True if the limit that stopped an account holds what was refused no longer: it was extended, or what was charged was taken back.
 * The account stays stopped until it is resumed.
 */
export function hasRoomAgain({ stopReason, remaining, failures, limits }: AccountSnapshot): boolean {
  const { tokens = 1, costMicros = 0 } = stopReason?.estimate ?? {};
  const has = (left: number | null, asked: number): boolean => left === null || left >= Math.max(1, asked);
  const mostFailures = limits.maxConsecutiveFailures ?? Number.POSITIVE_INFINITY;
  switch (stopReason?.code) {
    case 'requests_exhausted':
      return has(remaining.requests, 1);
    case 'tokens_exhausted':
      return has(remaining.tokens, tokens);
    case 'cost_exhausted':
      return has(remaining.costMicros, costMicros ?? 0);
    case 'failures_exhausted':
      return Object.values(failures).every((driver) => driver.failures < mostFailures);
    default:
      return false;
  }
}

function inWords(stopped: StandingStop | null, hasRoom = false): BudgetStop | null {
  if (stopped === null) return null;
  const { account, status, stopReason } = stopped;
  return {
    code: stopReason?.code ?? status,
    account,
    message: stopReason ? stopInWords(stopReason, hasRoom) : `Account ${account} is ${status}.`,
  };
}

const limitNames: Readonly<Record<string, string>> = {
  tokens_exhausted: 'token limit (maxTokens)',
  requests_exhausted: 'request limit (maxRequests)',
  cost_exhausted: 'money limit (maxCostMicros)',
  failures_exhausted: 'limit of failures in a row (maxConsecutiveFailures)',
};

function stopInWords({ code, account, limit, estimate }: StopReason, hasRoom: boolean): string {
  const name = limitNames[code];
  if (name === undefined) return `Account ${account} is stopped (${code}).`;
  if (hasRoom)
    return `The ${name}${limit === undefined ? '' : ` of ${limit}`} of ${account} was reached; there is room again. It goes on when the budget is resumed.`;
  const asked = code === 'tokens_exhausted' && estimate ? `; the next request asks for ${estimate.tokens} tokens` : '';
  return `The ${name}${limit === undefined ? '' : ` of ${limit}`} of ${account} is reached${asked}. Extend it, then resume.`;
}
