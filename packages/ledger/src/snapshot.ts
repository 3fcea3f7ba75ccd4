import { all, type Context, isOwnerDead, type Transaction } from '@stint/storage';
import { openSubjects, type SubjectView } from './attempts.js';
import { sumOfKinds } from './totals.js';
import { type Account, type Chain, leafOf, readAccount, unknownAccount } from './tree.js';
import type {
  AccountStatus,
  DriverFailures,
  Limits,
  StopReason,
  TokenAccounting,
  Totals,
  WindowTotals,
} from './types.js';

const selectOpenOwners = `SELECT owner, COUNT(*) AS count FROM ledger_requests WHERE status = 'reserved' AND account IN (SELECT account FROM ledger_paths WHERE ancestor = ?) GROUP BY owner`;

/** An account at one instant. */
export interface AccountSnapshot {
  readonly account: string;
  readonly parent: string | null;
  readonly status: AccountStatus;
  /** For the compare-and-set of extend, lower and resume. */
  readonly revision: number;
  /** `[dataRevision, reservations whose process is dead]`: two readers at one instant agree; orders snapshots. */
  readonly version: readonly [number, number];
  readonly limits: Limits;
  /** Sums over all kinds, holds included. */
  readonly usage: Totals;
  readonly breakdown: Readonly<Record<string, Totals>>;
  /** What the account's own limits leave; null: no cap. Never below 0. */
  readonly remaining: {
    readonly requests: number | null;
    readonly tokens: number | null;
    readonly costMicros: number | null;
  };
  readonly windows: Readonly<Record<string, WindowTotals>>;
  readonly subjects: readonly SubjectView[];
  readonly stopReason: StopReason | null;
  /** The nearest ancestor that is stopped or closed; null if none is. */
  readonly blockedBy: {
    readonly account: string;
    readonly status: AccountStatus;
    readonly stopReason: StopReason | null;
  } | null;
  readonly failures: Readonly<Record<string, DriverFailures>>;
  /** The latest end of a backoff that is in force, null if none is. */
  readonly retryAfter: number | null;
  /** Open reservations. */
  readonly inFlight: number;
  /** Requests whose outcome nobody knows. */
  readonly unknown: number;
  /** Complete answers without usage. */
  readonly unmeasured: number;
  readonly held: { readonly tokens: number; readonly costMicros: number };
  /** With `unpriced` above 0 the cost is "at least" `costMicros`. */
  readonly cost: { readonly costMicros: number; readonly unpriced: number };
  readonly accounting: TokenAccounting;
}

/** Reads an account in the order of its depth and its open requests. Writes nothing: use with `db.read`. @throws LedgerError `account_unknown` */
export function* snapshotAccount(ctx: Context, account: string): Transaction<AccountSnapshot> {
  const chain = yield* readAccount(account);
  if (chain === undefined) throw unknownAccount(account);
  const subjects = yield* openSubjects(chain);
  const orphans = yield* countOrphans(ctx, chain);
  return snapshotOf(ctx, chain, { subjects, orphans });
}

function* countOrphans(ctx: Context, chain: Chain): Transaction<number> {
  let orphans = 0;
  const owners = yield* all<{ owner: string; count: number }>(selectOpenOwners, [leafOf(chain).id]);
  for (const { owner, count } of owners) {
    if (yield* isOwnerDead(ctx, owner)) orphans += count;
  }
  return orphans;
}

function snapshotOf(
  ctx: Context,
  chain: Chain,
  { subjects, orphans }: { subjects: readonly SubjectView[]; orphans: number },
): AccountSnapshot {
  const leaf = leafOf(chain);
  const usage = sumOfKinds(leaf.kinds);
  return {
    account: leaf.id,
    parent: leaf.parent,
    status: leaf.status,
    revision: leaf.revision,
    version: [leaf.dataRevision, orphans],
    limits: leaf.limits,
    usage,
    breakdown: leaf.kinds,
    remaining: remainingOf(leaf.limits, usage),
    windows: leaf.windows,
    subjects,
    stopReason: leaf.stopReason,
    blockedBy: blockerOf(chain),
    failures: leaf.drivers,
    retryAfter: latestBackoff(ctx, leaf),
    inFlight: usage.open,
    unknown: usage.unknown,
    unmeasured: usage.unmeasured,
    held: { tokens: usage.heldTokens, costMicros: usage.heldCostMicros },
    cost: { costMicros: usage.costMicros, unpriced: usage.unpriced },
    accounting: leaf.accounting,
  };
}

function remainingOf(limits: Limits, usage: Totals): AccountSnapshot['remaining'] {
  const left = (limit: number | null | undefined, used: number): number | null =>
    typeof limit === 'number' ? Math.max(0, limit - used) : null;
  return {
    requests: left(limits.maxRequests, usage.requests),
    tokens: left(limits.maxTokens, usage.tokens),
    costMicros: left(limits.maxCostMicros, usage.costMicros),
  };
}

function blockerOf(chain: Chain): AccountSnapshot['blockedBy'] {
  const blocker = chain.slice(0, -1).findLast(({ status }) => status !== 'open');
  return blocker === undefined ? null : { account: blocker.id, status: blocker.status, stopReason: blocker.stopReason };
}

function latestBackoff(ctx: Context, account: Account): number | null {
  const ends = Object.values(account.drivers)
    .map(({ retryAfter }) => retryAfter)
    .filter((retryAfter) => retryAfter > ctx.now);
  return ends.length === 0 ? null : Math.max(...ends);
}
