import type { Context, Transaction } from '@stint/storage';
import { backoffMs } from './backoff.js';
import { LedgerError } from './errors.js';
import { checkId, ownValue } from './names.js';
import { stopChain } from './stop.js';
import { appendEntry, type Chain, leafOf, lockKnownAccount, saveChain } from './tree.js';

const mostDrivers = 64;

export interface FailureResult {
  /** Failures in a row, this one among them. */
  readonly failures: number;
  /** The driver's requests are refused before this time. */
  readonly retryAfter: number;
  /** True if this failure stopped the account (`failures_exhausted`). */
  readonly stopped: boolean;
}

/**
 * Counts a failure in a row of a driver and enforces a backoff; at the maximum the account is stopped.
 * @throws LedgerError `account_unknown`, `invalid_input`
 */
export function* recordFailure(ctx: Context, account: string, driver: string): Transaction<FailureResult> {
  checkId('driver', driver);
  const chain = yield* lockKnownAccount(account);
  const leaf = leafOf(chain);
  const failures = (ownValue(leaf.drivers, driver)?.failures ?? 0) + 1;
  const retryAfter = ctx.now + backoffMs(failures);
  if (failures === 1) refuseTooManyDrivers(Object.keys(leaf.drivers).length, account);
  leaf.drivers[driver] = { failures, retryAfter };
  yield* appendEntry(ctx, chain, { type: 'failed', details: { driver, failures } });
  const maximum = maximumFailures(chain);
  const isExhausted = maximum !== null && failures >= maximum;
  const stopped = isExhausted && (yield* stopForFailures(ctx, chain, { driver, failures, limit: maximum }));
  yield* saveChain(chain);
  return { failures, retryAfter, stopped };
}

function* stopForFailures(
  ctx: Context,
  chain: Chain,
  { limit, ...details }: { driver: string; failures: number; limit: number },
): Transaction<boolean> {
  const account = leafOf(chain).id;
  return yield* stopChain(ctx, chain, {
    code: 'failures_exhausted',
    account,
    at: ctx.now,
    aborts: false,
    limit,
    details,
  });
}

/** Resets a driver's count. @returns false if it had no failures, then nothing is written */
export function* recordSuccess(ctx: Context, account: string, driver: string): Transaction<boolean> {
  const chain = yield* lockKnownAccount(account);
  const leaf = leafOf(chain);
  if (ownValue(leaf.drivers, driver) === undefined) return false;
  delete leaf.drivers[driver];
  yield* appendEntry(ctx, chain, { type: 'succeeded', details: { driver } });
  yield* saveChain(chain);
  return true;
}

/** The lowest maximum of the chain; null: none. */
export function maximumFailures(chain: Chain): number | null {
  let lowest: number | null = null;
  for (const { limits } of chain) {
    const limit = limits.maxConsecutiveFailures ?? null;
    if (limit !== null && (lowest === null || limit < lowest)) lowest = limit;
  }
  return lowest;
}

function refuseTooManyDrivers(known: number, account: string): void {
  if (known < mostDrivers) return;
  throw new LedgerError(
    'invalid_input',
    `Account ${account} has ${known} failing drivers already, the most that are kept; use fewer names.`,
  );
}
