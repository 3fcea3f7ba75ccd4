/**
 * What became of a request. One table of legal changes, live and in recovery alike:
 *
 *   reserved -> reported | unknown | released
 *   unknown  -> reported (late usage, reconcile) | released (late proof, `not_billed`)
 *   released -> reported (usage after all: a correction; flagged `discrepancy` if the release was by proof)
 *
 * Invariants:
 * 1. An outcome that nobody knows is charged at the hold or more; an unknown request's charge never goes down.
 * 2. A repeated settlement with the same figures changes nothing; with others it is told as a conflict and changes nothing.
 * 3. A charge above the hold is booked in full; accounts that it brings over a limit are stopped in the same transaction.
 */
import type { Usage } from '@stint/provider-hooks';
import type { Context, Transaction } from '@stint/storage';
import type { EntryType } from './entries.js';
import { LedgerError } from './errors.js';
import { type LedgerRequest, lockRequest, saveRequest } from './requests.js';
import { stopWithin } from './stop.js';
import { subtractTotals, sumOfKinds } from './totals.js';
import { type Account, addToChain, appendEntry, type Chain, lockAccountOfRequest, rootOf, saveChain } from './tree.js';
import type { Actor, RequestStatus } from './types.js';
import { checkCost, checkUsage, countedTokens, isMeasured, isSameUsage } from './usage.js';

export interface SettleInput {
  /** null: the provider told none. */
  readonly usage: Usage | null;
  /** True if the provider's stop event was seen. */
  readonly complete: boolean;
  /** The cost by the model that answered; null or absent if no price is known: the hold's cost stays charged then. */
  readonly costMicros?: number | null | CostOfRequest;
}

/** Computes the cost of a usage for a request, as from the price version that the request froze. Pure; null: no price is known. */
export type CostOfRequest = (request: LedgerRequest, usage: Usage) => number | null;

export interface Settled {
  readonly settled: true;
  readonly status: RequestStatus;
  readonly chargedTokens: number;
  readonly chargedCostMicros: number | null;
  /** Charged above its hold. */
  readonly overshoot: boolean;
  /** Accounts that this settlement stopped. */
  readonly stoppedAccounts: readonly string[];
}

export interface NotSettled {
  readonly settled: false;
  /** `unchanged`: the same figures are booked already. `conflict`: others are; nothing was changed. */
  readonly reason: 'unknown_request' | 'unchanged' | 'conflict';
}

export type SettleResult = Settled | NotSettled;

/** Proof that no paid work was done: the request never left, or the provider refused it. */
export type ReleaseProof = 'not_sent' | 'refused';

/**
 * Books what a request consumed. Complete with usage above zero: `reported` at the actual charge. Otherwise `unknown`, charged at the
 * larger of what is charged now and the usage so far.
 * @throws LedgerError `invalid_usage`; the hold stays open
 */
export function* settleRequest(ctx: Context, id: string, input: SettleInput): Transaction<SettleResult> {
  if (input.usage !== null) checkUsage(input.usage);
  const locked = yield* lockForSettlement(id);
  if (locked === undefined) return { settled: false, reason: 'unknown_request' };
  const { chain, request } = locked;
  const figures = figuresOf(request, input);
  if (request.status === 'released' && !isMeasured(input.usage)) return unchanged;
  const isFinal = isMeasured(input.usage) && (input.complete || request.status === 'released');
  const after = isFinal ? reportedAs(request, figures, chain) : unknownAs(request, figures, chain);
  const refusal = refuseSettlement(request, after);
  if (refusal !== undefined) return refusal;
  return yield* book(ctx, chain, { before: request, after, type: isFinal ? entryTypeOf(request) : 'unknown' });
}

/**
 * Marks a request whose outcome nobody knows: its hold stays charged, and more if the usage so far says more.
 * @param costMicros of the usage so far. @default null: no price is known, and only the tokens can say more
 * @throws LedgerError `invalid_usage`
 */
export function* markRequestUnknown(
  ctx: Context,
  id: string,
  usage: Usage | null = null,
  costMicros: SettleInput['costMicros'] = null,
): Transaction<SettleResult> {
  return yield* settleRequest(ctx, id, { usage, complete: false, costMicros });
}

/**
 * Releases a request that provably did no paid work: nothing is charged, it still counts as a request.
 * @returns false if there is nothing to release: no such request, it is reported or released already, or usage of it was reported, which is
 *   work that was done
 */
export function* releaseRequest(ctx: Context, id: string, proof: ReleaseProof): Transaction<boolean> {
  if (proof !== 'not_sent' && proof !== 'refused') {
    throw new LedgerError('invalid_input', `proof is ${JSON.stringify(proof)}; it must be 'not_sent' or 'refused'.`);
  }
  const locked = yield* lockForSettlement(id);
  if (locked === undefined || !isOpen(locked.request) || isMeasured(locked.request.usage)) return false;
  const { chain, request } = locked;
  yield* book(ctx, chain, { before: request, after: releasedAs(request, proof), type: 'released' });
  return true;
}

/**
 * Books what a person found out, or the provider's bill says, about a request: its usage, or that it was not billed.
 * @throws LedgerError `person_required`, `invalid_usage`
 */
export function* bookReconciliation(
  ctx: Context,
  id: string,
  found: SettleInput | 'not_billed',
  actor: Actor,
): Transaction<SettleResult> {
  const locked = yield* lockForSettlement(id);
  if (locked === undefined) return { settled: false, reason: 'unknown_request' };
  const { chain, request } = locked;
  const after =
    found === 'not_billed' ? releasedAs(request, 'not_billed') : reportedAs(request, figuresOf(request, found), chain);
  const refusal = refuseReconciliation(request, after);
  if (refusal !== undefined) return refusal;
  return yield* book(ctx, chain, { before: request, after, type: 'corrected', actor });
}

function* lockForSettlement(id: string): Transaction<{ chain: Chain; request: LedgerRequest } | undefined> {
  const chain = yield* lockAccountOfRequest(id);
  const request = chain === undefined ? undefined : yield* lockRequest(id);
  return chain === undefined || request === undefined ? undefined : { chain, request };
}

interface Booking {
  readonly before: LedgerRequest;
  readonly after: LedgerRequest;
  readonly type: EntryType;
  readonly actor?: Actor;
}

/** The one place where a request changes its status. */
function* book(ctx: Context, chain: Chain, { before, after: wanted, type, actor }: Booking): Transaction<Settled> {
  const after = { ...wanted, settledAt: ctx.now };
  const moved = yield* saveRequest(before, after);
  const delta = subtractTotals(moved.after, moved.before);
  addToChain(chain, before.kind, delta, before.reservedAt);
  const facts = { type, request: before.id, kind: before.kind, delta };
  yield* appendEntry(ctx, chain, actor === undefined ? facts : { ...facts, actor });
  const stoppedAccounts = after.overshoot ? yield* stopOverspent(ctx, chain, after) : [];
  yield* saveChain(chain);
  return {
    settled: true,
    status: after.status,
    chargedTokens: after.chargedTokens,
    chargedCostMicros: after.chargedCostMicros,
    overshoot: after.overshoot,
    stoppedAccounts,
  };
}

/** Stops each open account of the chain that is now over one of its limits, root first. */
function* stopOverspent(ctx: Context, chain: Chain, request: LedgerRequest): Transaction<readonly string[]> {
  const stopped: string[] = [];
  for (const account of chain) {
    const over = account.status === 'open' ? overspentLimit(account) : undefined;
    if (over === undefined) continue;
    const reason = {
      ...over,
      account: account.id,
      at: ctx.now,
      aborts: false,
      kind: request.kind,
      details: { overshoot: request.id },
    };
    if (yield* stopWithin(ctx, chain, account, reason)) stopped.push(account.id);
  }
  return stopped;
}

function overspentLimit({ limits, kinds }: Account): { readonly code: string; readonly limit: number } | undefined {
  const sum = sumOfKinds(kinds);
  const { maxTokens, maxCostMicros } = limits;
  if (typeof maxTokens === 'number' && sum.tokens > maxTokens) return { code: 'tokens_exhausted', limit: maxTokens };
  if (typeof maxCostMicros === 'number' && sum.costMicros > maxCostMicros)
    return { code: 'cost_exhausted', limit: maxCostMicros };
  return undefined;
}

/** A settlement with its cost computed. */
interface Figures {
  readonly usage: Usage | null;
  readonly complete: boolean;
  readonly costMicros: number | null;
}

function figuresOf(request: LedgerRequest, { usage, complete, costMicros = null }: SettleInput): Figures {
  const cost = typeof costMicros === 'function' ? costOf(request, usage, costMicros) : costMicros;
  checkCost(cost);
  return { usage, complete, costMicros: cost };
}

function costOf(request: LedgerRequest, usage: Usage | null, compute: CostOfRequest): number | null {
  return usage === null ? null : compute(request, usage);
}

function reportedAs(request: LedgerRequest, { usage, costMicros }: Figures, chain: Chain): LedgerRequest {
  if (usage === null) throw new LedgerError('invalid_usage', `Request ${request.id} cannot be reported without usage.`);
  const chargedTokens = countedTokens(usage, rootOf(chain).accounting);
  const chargedCostMicros = costMicros ?? request.estimate.costMicros;
  return {
    ...request,
    status: 'reported',
    complete: true,
    usage,
    chargedTokens,
    chargedCostMicros,
    unpriced: costMicros === null,
    overshoot: isAboveHold(request, chargedTokens, chargedCostMicros),
    discrepancy: request.discrepancy || isReleasedByProof(request),
  };
}

function unknownAs(request: LedgerRequest, { usage, complete, costMicros }: Figures, chain: Chain): LedgerRequest {
  const counted = usage === null ? 0 : countedTokens(usage, rootOf(chain).accounting);
  const chargedTokens = Math.max(request.chargedTokens, counted);
  const known = Math.max(request.chargedCostMicros ?? 0, costMicros ?? 0);
  const chargedCostMicros = request.chargedCostMicros === null && costMicros === null ? null : known;
  return {
    ...request,
    status: 'unknown',
    complete: request.complete || complete,
    usage: largerUsage(request.usage, usage),
    chargedTokens,
    chargedCostMicros,
    unpriced: true,
    overshoot: isAboveHold(request, chargedTokens, chargedCostMicros),
    discrepancy: request.discrepancy || isReleasedByProof(request),
  };
}

/** An incomplete answer reports what it consumed so far; the report that says more is kept, one that says nothing is not. */
function largerUsage(kept: Usage | null, given: Usage | null): Usage | null {
  if (!isMeasured(given)) return kept;
  return kept === null || countedTokens(given, 'all') >= countedTokens(kept, 'all') ? given : kept;
}

function releasedAs(request: LedgerRequest, proof: string): LedgerRequest {
  const chargedCostMicros = request.chargedCostMicros === null ? null : 0;
  return {
    ...request,
    status: 'released',
    proof,
    chargedTokens: 0,
    chargedCostMicros,
    unpriced: false,
    overshoot: false,
  };
}

function refuseSettlement(before: LedgerRequest, after: LedgerRequest): NotSettled | undefined {
  if (before.status === 'reported') return isSameOutcome(before, after) ? unchanged : conflict;
  return before.status === after.status && isSameOutcome(before, after) ? unchanged : undefined;
}

function refuseReconciliation(before: LedgerRequest, after: LedgerRequest): NotSettled | undefined {
  if (before.status === 'reserved') return conflict;
  return before.status === after.status && isSameOutcome(before, after) ? unchanged : undefined;
}

const unchanged: NotSettled = Object.freeze({ settled: false, reason: 'unchanged' });
const conflict: NotSettled = Object.freeze({ settled: false, reason: 'conflict' });

function isSameOutcome(before: LedgerRequest, after: LedgerRequest): boolean {
  return (
    isSameUsage(before.usage, after.usage) &&
    before.complete === after.complete &&
    before.chargedTokens === after.chargedTokens &&
    before.chargedCostMicros === after.chargedCostMicros
  );
}

function entryTypeOf(request: LedgerRequest): EntryType {
  return request.status === 'released' ? 'corrected' : 'settled';
}

function isOpen(request: LedgerRequest): boolean {
  return request.status === 'reserved' || request.status === 'unknown';
}

function isReleasedByProof(request: LedgerRequest): boolean {
  return request.status === 'released' && request.proof !== 'not_billed';
}

function isAboveHold({ estimate }: LedgerRequest, tokens: number, costMicros: number | null): boolean {
  return (
    tokens > estimate.tokens ||
    (costMicros !== null && estimate.costMicros !== null && costMicros > estimate.costMicros)
  );
}
