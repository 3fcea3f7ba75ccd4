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

/** The same, of an account that was read already. */
export function budgetStopIn(snapshot: AccountSnapshot): BudgetStop | null {
  return inWords(snapshot.status === 'open' ? snapshot.blockedBy : snapshot);
}

function inWords(stopped: StandingStop | null): BudgetStop | null {
  if (stopped === null) return null;
  const { account, status, stopReason } = stopped;
  return {
    code: stopReason?.code ?? status,
    account,
    message: stopReason ? stopInWords(stopReason) : `Account ${account} is ${status}.`,
  };
}

const limitNames: Readonly<Record<string, string>> = {
  tokens_exhausted: 'token limit (maxTokens)',
  requests_exhausted: 'request limit (maxRequests)',
  cost_exhausted: 'money limit (maxCostMicros)',
  failures_exhausted: 'limit of failures in a row (maxConsecutiveFailures)',
};

function stopInWords({ code, account, limit, estimate }: StopReason): string {
  const name = limitNames[code];
  if (name === undefined) return `Account ${account} is stopped (${code}).`;
  const asked = code === 'tokens_exhausted' && estimate ? `; the next request asks for ${estimate.tokens} tokens` : '';
  return `The ${name}${limit === undefined ? '' : ` of ${limit}`} of ${account} is reached${asked}. Extend it, then resume.`;
}
