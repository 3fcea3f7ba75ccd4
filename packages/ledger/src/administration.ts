/** What people do to an account: raise and lower limits, resume, close. Compare-and-set on the account's `revision`. */
import type { Context, Transaction } from '@stint/storage';
import { requirePerson } from './actors.js';
import { admissionFacts, decideAdmission } from './admission.js';
import { LedgerError } from './errors.js';
import { maximumFailures } from './failures.js';
import { addExactly, isCount } from './integers.js';
import { type NumericLimit, numericLimits, objectOf, parseLimits, refuseUnknownKeys } from './limits.js';
import { sumOfKinds } from './totals.js';
import {
  type Account,
  appendEntry,
  type Chain,
  leafOf,
  lockKnownAccount,
  markAdministered,
  saveChain,
} from './tree.js';
import type { AccountView, Actor, Limits, RefusalReason, StopReason, WindowLimit } from './types.js';
import { lowerWindows, raiseWindows } from './window-limits.js';

/** What to add to each limit; positive integers. A window is named by its period and zone, its caps are what to add to them. */
export interface LimitAdditions extends Readonly<Partial<Record<NumericLimit, number>>> {
  readonly windows?: readonly WindowLimit[];
}

/** New, lower values. A limit that was absent may be set, but for a window: those an account has from its creation. */
export interface LoweredLimits extends Readonly<Partial<Record<NumericLimit, number>>> {
  readonly windows?: readonly WindowLimit[];
}

export interface ExtendInput {
  /** The account's revision that the person saw. */
  readonly revision: number;
  readonly additions: LimitAdditions;
  readonly actor: Actor;
}

export interface LowerInput {
  readonly revision: number;
  readonly limits: LoweredLimits;
  readonly actor: Actor;
}

export interface ResumeInput {
  readonly revision: number;
  readonly actor: Actor;
}

export type ChangeResult =
  | { readonly changed: true; readonly revision: number; readonly limits: Limits }
  | { readonly changed: false; readonly reason: 'revision_conflict'; readonly revision: number };

export type ResumeResult =
  | { readonly resumed: true; readonly revision: number }
  | { readonly resumed: false; readonly reason: RefusalReason; readonly revision: number };

/**
 * Raises limits. Does not resume a stopped account.
 * @throws LedgerError `person_required`, `invalid_limits` (empty, unknown or absent limit, not a positive integer), `number_out_of_range`
 */
export function* extendAccount(ctx: Context, account: string, input: ExtendInput): Transaction<ChangeResult> {
  requirePerson(input.actor, 'extend a budget');
  const { numbers, windows } = checkAdditions(input.additions);
  const chain = yield* lockKnownAccount(account);
  const leaf = leafOf(chain);
  if (leaf.revision !== input.revision) return conflictOf(leaf);
  const limits: Record<string, unknown> = { ...leaf.limits };
  for (const [name, addition] of numbers) limits[name] = addExactly(currentLimit(leaf, name), addition);
  if (windows.length > 0) limits.windows = raiseWindows(leaf, windows);
  return yield* changeLimits(ctx, chain, { type: 'extended', limits: parseLimits(limits), actor: input.actor });
}

/**
 * Lowers limits, never below what is charged (holds included).
 * @throws LedgerError `person_required`, `invalid_limits`
 */
export function* lowerAccount(ctx: Context, account: string, input: LowerInput): Transaction<ChangeResult> {
  requirePerson(input.actor, 'lower a budget');
  checkKeys(input.limits, 'limits');
  const wanted = parseLimits(input.limits);
  if (Object.keys(wanted).length === 0 || (wanted.windows?.length === 0 && Object.keys(wanted).length === 1))
    throw new LedgerError('invalid_limits', 'limits is empty; name at least one limit to lower.');
  const chain = yield* lockKnownAccount(account);
  const leaf = leafOf(chain);
  if (leaf.revision !== input.revision) return conflictOf(leaf);
  for (const name of numericLimits) checkLowered(leaf, name, wanted[name]);
  const windows = wanted.windows == null ? leaf.limits.windows : lowerWindows(leaf, wanted.windows, ctx.now);
  const limits = parseLimits({ ...leaf.limits, ...wanted, windows });
  return yield* changeLimits(ctx, chain, { type: 'lowered', limits, actor: input.actor });
}

/**
 * Takes a stop back, unless the refused request would be refused again or a driver's failures are at their maximum: extend first. Clears
 * the stop reason and the drivers' backoff.
 * @throws LedgerError `person_required`, `account_unknown`
 */
export function* resumeAccount(ctx: Context, account: string, input: ResumeInput): Transaction<ResumeResult> {
  requirePerson(input.actor, 'resume an account');
  const chain = yield* lockKnownAccount(account);
  const leaf = leafOf(chain);
  const reason = leaf.revision === input.revision ? refuseResume(ctx, chain) : revisionConflict(leaf);
  if (reason !== undefined) return { resumed: false, reason, revision: leaf.revision };
  leaf.status = 'open';
  leaf.stopReason = null;
  for (const driver of Object.keys(leaf.drivers)) {
    leaf.drivers[driver] = { failures: leaf.drivers[driver]?.failures ?? 0, retryAfter: 0 };
  }
  markAdministered(leaf);
  yield* appendEntry(ctx, chain, { type: 'resumed', actor: input.actor });
  yield* saveChain(chain);
  return { resumed: true, revision: leaf.revision };
}

/** Closes an account for good: nothing more is admitted; what is in flight settles, entries stay. @returns false if it was closed */
export function* closeAccount(ctx: Context, account: string, actor?: Actor): Transaction<boolean> {
  const chain = yield* lockKnownAccount(account);
  const leaf = leafOf(chain);
  if (leaf.status === 'closed') return false;
  leaf.status = 'closed';
  markAdministered(leaf);
  yield* appendEntry(ctx, chain, { type: 'closed', ...(actor === undefined ? {} : { actor }) });
  yield* saveChain(chain);
  return true;
}

interface LimitChange {
  readonly type: 'extended' | 'lowered';
  readonly limits: Limits;
  readonly actor: Actor;
}

function* changeLimits(ctx: Context, chain: Chain, { type, limits, actor }: LimitChange): Transaction<ChangeResult> {
  const leaf = leafOf(chain);
  leaf.limits = limits;
  markAdministered(leaf);
  yield* appendEntry(ctx, chain, { type, actor, details: { limits } });
  yield* saveChain(chain);
  return { changed: true, revision: leaf.revision, limits };
}

interface Additions {
  readonly numbers: readonly (readonly [NumericLimit, number])[];
  readonly windows: readonly WindowLimit[];
}

function checkAdditions(additions: LimitAdditions): Additions {
  checkKeys(additions, 'additions');
  const { windows: given, ...rest } = additions;
  const windows = parseLimits({ windows: given }, { name: 'additions' }).windows ?? [];
  const numbers = Object.entries(rest) as [NumericLimit, number][];
  if (numbers.length + windows.length === 0)
    throw new LedgerError('invalid_limits', 'additions is empty; name at least one limit to raise.');
  const wrong = numbers.find(([, value]) => !isCount(value) || value === 0);
  if (wrong === undefined) return { numbers, windows };
  throw new LedgerError(
    'invalid_limits',
    `additions.${wrong[0]} is ${String(wrong[1])}; it must be a positive integer below 2^53.`,
  );
}

function checkKeys(changes: LimitAdditions, name: string): void {
  refuseUnknownKeys(objectOf(changes, name), [...numericLimits, 'windows'], name);
}

function currentLimit(account: Account, name: NumericLimit): number {
  const current = account.limits[name];
  if (typeof current === 'number') return current;
  throw new LedgerError(
    'invalid_limits',
    `Account ${account.id} has no ${name} of its own to extend; it is not capped there.`,
  );
}

function checkLowered(account: Account, name: NumericLimit, wanted: number | null | undefined): void {
  if (typeof wanted !== 'number') return;
  const current = account.limits[name];
  if (typeof current === 'number' && wanted > current) {
    throw new LedgerError(
      'invalid_limits',
      `limits.${name} is ${wanted}, above the present ${current}; use extend to raise it.`,
    );
  }
  const sum = sumOfKinds(account.kinds);
  const least = {
    maxRequests: sum.requests,
    maxTokens: sum.tokens,
    maxCostMicros: sum.costMicros,
    maxConcurrentRequests: sum.open,
  };
  const floor = (least as Partial<Record<NumericLimit, number>>)[name] ?? 0;
  if (wanted >= floor) return;
  throw new LedgerError(
    'invalid_limits',
    `limits.${name} is ${wanted}, but ${floor} are charged or held already; it cannot be lower than that.`,
  );
}

function refuseResume(ctx: Context, chain: Chain): RefusalReason | undefined {
  const leaf = leafOf(chain);
  const stop = leaf.stopReason;
  if (leaf.status !== 'stopped' || stop === null) {
    return {
      code: 'not_stopped',
      account: leaf.id,
      message: `Account ${leaf.id} is ${leaf.status}; there is nothing to resume.`,
    };
  }
  return refuseFailures(chain) ?? refuseSameAgain(ctx, chain, stop);
}

function refuseFailures(chain: Chain): RefusalReason | undefined {
  const maximum = maximumFailures(chain);
  const leaf = leafOf(chain);
  const failing = Object.entries(leaf.drivers).find(([, { failures }]) => maximum !== null && failures >= maximum);
  if (failing === undefined || maximum === null) return undefined;
  const message = `Driver ${failing[0]} has failed ${failing[1].failures} times in a row, the most allowed; extend maxConsecutiveFailures first.`;
  return { code: 'failures_exhausted', account: leaf.id, limit: maximum, message };
}

const resourceCodes = ['requests_exhausted', 'tokens_exhausted', 'cost_exhausted'];

/** Asks admission again for what was refused; after an overshoot, for the least that a request can be. */
function refuseSameAgain(ctx: Context, chain: Chain, stop: StopReason): RefusalReason | undefined {
  if (!resourceCodes.includes(stop.code)) return undefined;
  const opened: readonly AccountView[] = [...chain.slice(0, -1), { ...leafOf(chain), status: 'open' }];
  const request = { kind: stop.kind ?? 'unknown', estimate: stop.estimate ?? { tokens: 1, costMicros: 0 } };
  const facts = admissionFacts(opened, ctx.now, { runRequests: null, attempt: null });
  const decision = decideAdmission(opened, request, facts);
  return decision.admitted ? undefined : decision.reason;
}

function conflictOf(account: Account): ChangeResult {
  return { changed: false, reason: 'revision_conflict', revision: account.revision };
}

function revisionConflict(account: Account): RefusalReason {
  const message = `Account ${account.id} was changed by someone else (now revision ${account.revision}); look again, then decide.`;
  return { code: 'revision_conflict', account: account.id, message };
}
