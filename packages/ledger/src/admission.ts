/**
 * The decision whether a request may leave. Pure: the same accounts, request and facts give the same answer, live, on resume and in a replay.
 *
 * Invariants:
 * 1. An admission never brings charged + held of any account of the chain over one of its limits.
 * 2. Each check runs from the asking account up to the root before the next check begins.
 * 3. A refusal stops the asking account only if no hold that settles could cure it; an ancestor only if it is full itself.
 */
import { ownValue } from './names.js';
import type { AttemptState } from './subjects.js';
import { noTotals, sumOfKinds } from './totals.js';
import type { AccountView, AskedAmount, RefusalReason, Totals, WindowLimit } from './types.js';
import { bookingTime, bucketAt, windowBounds, type WindowBounds } from './windows.js';

export interface AskedRequest {
  readonly kind: string;
  readonly driver?: string;
  /** Named in the refusal of a model without a price. */
  readonly model?: string;
  readonly estimate: AskedAmount;
}

/** What admission needs beside the accounts. */
export interface AdmissionFacts {
  readonly now: number;
  /** Where the request counts in windows: what `bookingTime` answers, `now` unless the clock jumped back. */
  readonly bookedAt: number;
  /** Requests that the run has made; null without a run. */
  readonly runRequests: number | null;
  /** The attempt that this request would begin; null if it begins none. */
  readonly attempt: { readonly number: number; readonly maximum: number | null; readonly retryAfter: number } | null;
}

/** What admission needs beside the accounts; live and in a replay. */
export function admissionFacts(
  chain: readonly AccountView[],
  now: number,
  { runRequests, attempt }: { readonly runRequests: number | null; readonly attempt: AttemptState | null },
): AdmissionFacts {
  const begins = attempt?.begins === true;
  return {
    now,
    bookedAt: bookingTime(chain, now),
    runRequests,
    attempt: begins ? { number: attempt.number, maximum: attempt.maximum, retryAfter: attempt.retryAfter } : null,
  };
}

export type Decision =
  | { readonly admitted: true }
  | {
      readonly admitted: false;
      readonly reason: RefusalReason;
      /** The asking account is to be stopped. */
      readonly stopsAsking: boolean;
      /** The full ancestor is to be stopped too. */
      readonly stopsFull: boolean;
    };

interface Admission {
  /** Leaf first. */
  readonly accounts: readonly { readonly view: AccountView; readonly sum: Totals }[];
  readonly request: AskedRequest;
  readonly facts: AdmissionFacts;
}

type Level = Admission['accounts'][number];
type Check = (level: Level, admission: Admission) => Decision | undefined;

/** The order of the checks is a promise: callers see the first reason that applies. */
const checks: readonly Check[] = [
  checkStopped,
  checkClosed,
  checkBackoff,
  checkRun,
  checkAttempt,
  checkRequests,
  checkTokens,
  checkCost,
  checkConcurrency,
  checkWindows,
];

/**
 * Decides about one request over an account and its ancestors.
 * @param chain root first, asking account last
 */
export function decideAdmission(chain: readonly AccountView[], request: AskedRequest, facts: AdmissionFacts): Decision {
  const accounts = chain.map((view) => ({ view, sum: sumOfKinds(view.kinds) })).reverse();
  const admission: Admission = { accounts, request, facts };
  for (const check of checks) {
    for (const level of accounts) {
      const refusal = check(level, admission);
      if (refusal !== undefined) return refusal;
    }
  }
  return { admitted: true };
}

function checkStopped({ view }: Level): Decision | undefined {
  if (view.status !== 'stopped') return undefined;
  const stop = view.stopReason;
  return refuse({
    code: stop?.code ?? 'stopped',
    account: view.id,
    stopped: true,
    ...(stop?.limit === undefined ? {} : { limit: stop.limit }),
    ...(stop?.estimate === undefined ? {} : { estimate: stop.estimate }),
    message: `Account ${view.id} is stopped (${stop?.code ?? 'stopped'}). A person can resume it.`,
  });
}

function checkClosed({ view }: Level): Decision | undefined {
  if (view.status !== 'closed') return undefined;
  return refuse({
    code: 'account_closed',
    account: view.id,
    message: `Account ${view.id} is closed; use another account.`,
  });
}

function checkBackoff({ view }: Level, { request, facts }: Admission): Decision | undefined {
  const driver = request.driver === undefined ? undefined : ownValue(view.drivers, request.driver);
  if (driver === undefined || driver.retryAfter <= facts.now) return undefined;
  return refuse({
    code: 'backing_off',
    account: view.id,
    scope: 'driver',
    retryAfter: driver.retryAfter,
    message: `Driver ${request.driver} failed ${driver.failures} times in a row; wait until ${isoTime(driver.retryAfter)}.`,
  });
}

function checkRun({ view }: Level, { facts }: Admission): Decision | undefined {
  const limit = view.limits.maxRunRequests ?? null;
  if (limit === null || facts.runRequests === null || facts.runRequests < limit) return undefined;
  return refuse({
    code: 'run_requests_exhausted',
    account: view.id,
    scope: 'run',
    limit,
    message: `The run has made ${facts.runRequests} of ${limit} requests that account ${view.id} allows a run.`,
  });
}

function checkAttempt({ view }: Level, { accounts, facts }: Admission): Decision | undefined {
  const { attempt } = facts;
  if (attempt === null || view !== accounts[0]?.view) return undefined;
  if (attempt.retryAfter > facts.now) {
    const message = `The subject was deferred; wait until ${isoTime(attempt.retryAfter)}.`;
    return refuse({ code: 'backing_off', account: view.id, scope: 'subject', retryAfter: attempt.retryAfter, message });
  }
  if (attempt.maximum === null || attempt.number <= attempt.maximum) return undefined;
  return refuse({
    code: 'attempts_exhausted',
    account: view.id,
    scope: 'subject',
    limit: attempt.maximum,
    message: `The subject has used its ${attempt.maximum} attempts; a person can add attempts or start the count anew.`,
  });
}

function checkRequests(level: Level, { accounts, request }: Admission): Decision | undefined {
  const limit = level.view.limits.maxRequests ?? null;
  if (limit === null || level.sum.requests + 1 + protectedFor(level, request.kind, 'requests', limit) <= limit)
    return undefined;
  const isFull = level.sum.requests + 1 > limit;
  return refuse(
    {
      code: 'requests_exhausted',
      account: level.view.id,
      scope: isFull ? 'account' : 'kind',
      limit,
      estimate: request.estimate,
      message: `Account ${level.view.id} has made ${level.sum.requests} of ${limit} requests${isFull ? '' : protectedNote(request.kind)}.`,
    },
    { asking: isFull, full: isFull && level !== accounts[0] },
  );
}

function checkTokens(level: Level, admission: Admission): Decision | undefined {
  const limit = level.view.limits.maxTokens ?? null;
  return limit === null
    ? undefined
    : checkAmount(level, admission, { name: 'tokens', limit, asked: admission.request.estimate.tokens });
}

function checkCost(level: Level, admission: Admission): Decision | undefined {
  const limit = level.view.limits.maxCostMicros ?? null;
  if (limit === null) return undefined;
  const asked = admission.request.estimate.costMicros;
  return asked === null
    ? refuseUnpriced(level, admission)
    : checkAmount(level, admission, { name: 'costMicros', limit, asked });
}

function refuseUnpriced({ view }: Level, { request }: Admission): Decision {
  const message = `No price is known for the model ${request.model ?? ''} and account ${view.id} caps money. Correct the name, add the price to the price book, or set a fallback price.`;
  return refuse({ code: 'price_unknown', account: view.id, message });
}

interface Amount {
  readonly name: 'tokens' | 'costMicros';
  readonly limit: number;
  readonly asked: number;
}

function checkAmount(
  level: Level,
  { accounts, request }: Admission,
  { name, limit, asked }: Amount,
): Decision | undefined {
  const charged = level.sum[name];
  const held = name === 'tokens' ? level.sum.heldTokens : level.sum.heldCostMicros;
  const kept = protectedFor(level, request.kind, name, limit);
  const isAny = limit > 0;
  if (isAny && charged + asked + kept <= limit) return undefined;
  const fitsWithoutHolds = isAny && charged - held + asked <= limit;
  const fitsWithoutProtection = isAny && charged + asked <= limit;
  const heldByOthers = fitsWithoutHolds && !fitsWithoutProtection;
  return refuse(
    {
      code: name === 'tokens' ? 'tokens_exhausted' : 'cost_exhausted',
      account: level.view.id,
      scope: fitsWithoutProtection ? 'kind' : 'account',
      limit,
      ...(heldByOthers ? { heldByOthers } : {}),
      estimate: request.estimate,
      message: `Account ${level.view.id} has charged ${charged} of ${limit} ${name} (${held} held); ${asked} more do not fit${
        fitsWithoutProtection ? protectedNote(request.kind) : ''
      }.`,
    },
    { asking: !fitsWithoutHolds, full: !fitsWithoutHolds && charged - held >= limit && level !== accounts[0] },
  );
}

/** What the limit keeps for kinds other than the asking one: their protection less what they were charged. */
function protectedFor(level: Level, asking: string, name: 'requests' | 'tokens' | 'costMicros', limit: number): number {
  const protections = level.view.limits.protected ?? {};
  let kept = 0;
  for (const kind of Object.keys(protections)) {
    const protection = protections[kind];
    if (kind === asking || protection === undefined) continue;
    const most = percentOf(limit, protection.maxPercent ?? 100);
    const charged = (ownValue(level.view.kinds, kind) ?? noTotals)[name];
    kept += Math.max(0, Math.min(protection[name] ?? 0, most) - charged);
  }
  return kept;
}

/** Rounded down, exactly: a fraction would be off by one for some limits. */
function percentOf(limit: number, percent: number): number {
  return Math.floor(limit / 100) * percent + Math.floor(((limit % 100) * percent) / 100);
}

function checkConcurrency({ view, sum }: Level): Decision | undefined {
  const limit = view.limits.maxConcurrentRequests ?? null;
  if (limit === null || sum.open < limit) return undefined;
  return refuse({
    code: 'concurrency_exhausted',
    account: view.id,
    limit,
    ...(limit === 0 ? {} : { heldByOthers: true }),
    message: `Account ${view.id} has ${sum.open} of ${limit} requests in flight.`,
  });
}

function checkWindows(level: Level, admission: Admission): Decision | undefined {
  for (const window of level.view.limits.windows ?? []) {
    const refusal = checkWindow(level, window, admission);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkWindow(level: Level, window: WindowLimit, admission: Admission): Decision | undefined {
  const { view } = level;
  const { request, facts } = admission;
  const bucket = bucketAt(view, window, facts.bookedAt);
  const { tokens, costMicros } = request.estimate;
  const bounds = windowBounds(window, facts.bookedAt);
  const refusal = (limit: number): Decision =>
    refuse({
      code: 'window_exhausted',
      account: view.id,
      scope: 'window',
      limit,
      retryAfter: bounds.endsAt,
      message: windowMessage(view, window, bounds, facts.now),
    });
  if (isOver(window.maxRequests, bucket?.requests, 1)) return refusal(window.maxRequests as number);
  if (isOver(window.maxTokens, bucket?.tokens, tokens)) return refusal(window.maxTokens as number);
  if (window.maxCostMicros === undefined) return undefined;
  if (costMicros === null) return refuseUnpriced(level, admission);
  return isOver(window.maxCostMicros, bucket?.costMicros, costMicros) ? refusal(window.maxCostMicros) : undefined;
}

/** A bucket that lies ahead was begun by a clock that was wrong: waiting for its end may take a year, so the message tells what else helps. */
function windowMessage(
  { id }: AccountView,
  { per }: WindowLimit,
  { startsAt, endsAt }: WindowBounds,
  now: number,
): string {
  const next = `the next begins ${isoTime(endsAt)}`;
  if (startsAt <= now) return `Account ${id} has used its ${per}'s share; ${next}.`;
  return `Account ${id} has used its share of the ${per} that begins ${isoTime(startsAt)}, which a clock that was ahead began; ${next}. To go on before, a person extends the caps of this window.`;
}

function isOver(limit: number | undefined, charged: number | undefined, asked: number): boolean {
  return limit !== undefined && (limit === 0 || (charged ?? 0) + asked > limit);
}

function protectedNote(kind: string): string {
  return `; the rest is protected for kinds other than '${kind}'`;
}

function refuse(
  reason: RefusalReason,
  stops: { asking: boolean; full: boolean } = { asking: false, full: false },
): Decision {
  return { admitted: false, reason, stopsAsking: stops.asking, stopsFull: stops.full };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
