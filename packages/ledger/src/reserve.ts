import { type Context, one, run, type Transaction } from '@stint/storage';
import { type AdmissionFacts, admissionFacts, type Decision, decideAdmission } from './admission.js';
import { beginAttempt, planAttempt } from './attempts.js';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';
import { checkId, checkWord } from './names.js';
import { type LedgerRequest, readRequest } from './requests.js';
import { stopWithin } from './stop.js';
import type { AttemptInput, AttemptState } from './subjects.js';
import { contributionOf } from './totals.js';
import { addToChain, appendEntry, type Chain, leafOf, lockAccount, saveChain } from './tree.js';
import type { AskedAmount, RefusalReason, StopReason } from './types.js';

export interface ReserveInput {
  /** The caller's id of the request, unique for ever: the provider turn's. Time-ordered ids (UUIDv7) keep the store fast. */
  readonly id: string;
  readonly account: string;
  /** A free word; protection is per kind. */
  readonly kind: string;
  /** Counted against `maxRunRequests`. A run belongs to one tree of accounts. */
  readonly run?: string;
  /** Whose failures in a row are counted. */
  readonly driver?: string;
  readonly retryOf?: string;
  readonly attempt?: AttemptInput;
  /** `provider:name` */
  readonly model: string;
  readonly estimate: AskedAmount;
  readonly priceVersion?: string;
}

export type ReserveResult =
  | { readonly allowed: true; readonly id: string }
  | { readonly allowed: false; readonly reason: RefusalReason };

const selectRunOrdinal =
  'SELECT run_ordinal FROM ledger_requests WHERE run = ? AND run IS NOT NULL ORDER BY run_ordinal DESC LIMIT 1';
const insertRequest = `INSERT INTO ledger_requests (id, account, kind, run, run_ordinal, driver, subject, retry_of, model, price_version,
  estimate_tokens, estimate_cost, charged_tokens, charged_cost, status, unpriced, owner, reserved_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?) ON CONFLICT DO NOTHING`;

/**
 * Admits a request and holds its estimate, or refuses it with a reason. Commit the transaction in both cases: a refusal may stop the account,
 * and that stop is to be kept although nothing is sent.
 * @throws LedgerError `invalid_input`, `invalid_estimate`
 */
export function* reserveRequest(ctx: Context, input: ReserveInput): Transaction<ReserveResult> {
  checkReserveInput(input);
  const chain = yield* lockAccount(input.account);
  if (chain === undefined) return refuseUnknownAccount(input);
  const runRequests = yield* countRunRequests(input.run);
  const attempt = yield* planAttempt(chain, input.attempt);
  const facts = admissionFacts(chain, ctx.now, { runRequests, attempt });
  const decision = decideAdmission(chain, input, facts);
  if (!decision.admitted) return yield* refuseRequest(ctx, chain, input, decision);
  const inserted = yield* insertHold(ctx, input, facts);
  if (!inserted) return yield* refuseKnownId(input);
  yield* beginAttempt(ctx, chain, attempt);
  yield* bookHold(ctx, chain, { input, attempt, bookedAt: facts.bookedAt });
  yield* saveChain(chain);
  return { allowed: true, id: input.id };
}

/** The run's highest ordinal: one index seek, whatever the run's length. A run belongs to one tree, whose lock makes it exact. */
function* countRunRequests(runId: string | undefined): Transaction<number | null> {
  if (runId === undefined) return null;
  const row = yield* one<{ run_ordinal: number }>(selectRunOrdinal, [runId]);
  return row?.run_ordinal ?? 0;
}

function* insertHold(
  ctx: Context,
  input: ReserveInput,
  { runRequests, bookedAt }: AdmissionFacts,
): Transaction<boolean> {
  const { tokens, costMicros } = input.estimate;
  const changed = yield* run(insertRequest, [
    input.id,
    input.account,
    input.kind,
    input.run ?? null,
    runRequests === null ? null : runRequests + 1,
    input.driver ?? null,
    input.attempt?.subject ?? null,
    input.retryOf ?? null,
    input.model,
    input.priceVersion ?? null,
    tokens,
    costMicros,
    tokens,
    costMicros,
    costMicros === null ? 1 : 0,
    ctx.owner,
    bookedAt,
  ]);
  return changed === 1;
}

interface Hold {
  readonly input: ReserveInput;
  readonly attempt: AttemptState | null;
  readonly bookedAt: number;
}

function* bookHold(ctx: Context, chain: Chain, hold: Hold): Transaction<void> {
  const { input, bookedAt } = hold;
  const { tokens, costMicros } = input.estimate;
  const delta = contributionOf({
    status: 'reserved',
    chargedTokens: tokens,
    chargedCostMicros: costMicros,
    complete: false,
    unpriced: costMicros === null,
  });
  addToChain(chain, input.kind, delta, bookedAt);
  yield* appendEntry(ctx, chain, {
    type: 'reserved',
    request: input.id,
    kind: input.kind,
    delta,
    details: detailsOf(hold, ctx.now),
  });
}

/** What the line of an admission says beside the sums: all that a replay needs to decide again. */
export interface ReservedDetails {
  /** Present if the subject's row changed by it. */
  readonly attempt?: AttemptInput;
  /** Where the request counts in windows, if that is not the line's time. */
  readonly bookedAt?: number;
  readonly driver?: string;
  readonly run?: string;
}

function detailsOf({ input, attempt, bookedAt }: Hold, now: number): ReservedDetails | undefined {
  const begun = attempt?.begun == null ? undefined : attempt.input;
  if (begun === undefined && bookedAt === now && input.driver === undefined && input.run === undefined)
    return undefined;
  return {
    ...(begun === undefined ? {} : { attempt: begun }),
    ...(bookedAt === now ? {} : { bookedAt }),
    ...(input.driver === undefined ? {} : { driver: input.driver }),
    ...(input.run === undefined ? {} : { run: input.run }),
  };
}

/** Refuses; a known id is told as such whatever the accounts' state, since the first answer about it stands. */
function* refuseRequest(
  ctx: Context,
  chain: Chain,
  input: ReserveInput,
  decision: Exclude<Decision, { admitted: true }>,
): Transaction<ReserveResult> {
  const known = yield* readRequest(input.id);
  if (known !== undefined) return answerKnown(input, known);
  if (!decision.stopsAsking) return { allowed: false, reason: decision.reason };
  const full = chain.find((account) => account.id === decision.reason.account);
  if (decision.stopsFull && full !== undefined)
    yield* stopWithin(ctx, chain, full, stopReasonOf(ctx, input, decision.reason));
  yield* stopWithin(ctx, chain, leafOf(chain), stopReasonOf(ctx, input, decision.reason));
  yield* saveChain(chain);
  return { allowed: false, reason: { ...decision.reason, stopped: true } };
}

/** A limit's stop keeps what was refused, so that a resume can ask again for the same. */
function stopReasonOf(ctx: Context, input: ReserveInput, reason: RefusalReason): StopReason {
  return {
    code: reason.code,
    account: reason.account,
    at: ctx.now,
    aborts: false,
    ...(reason.limit === undefined ? {} : { limit: reason.limit }),
    estimate: input.estimate,
    kind: input.kind,
  };
}

function* refuseKnownId(input: ReserveInput): Transaction<ReserveResult> {
  const known = yield* readRequest(input.id);
  if (known === undefined)
    throw new LedgerError('ledger_unavailable', `Request ${input.id} could neither be inserted nor read.`);
  return answerKnown(input, known);
}

function answerKnown(input: ReserveInput, known: LedgerRequest): ReserveResult {
  const code = isSamePayload(input, known) ? 'request_already_reserved' : 'request_conflict';
  const message =
    code === 'request_already_reserved'
      ? `Request ${input.id} was reserved before (now ${known.status}); it is not to be sent again under this id.`
      : `Request ${input.id} was reserved before with other facts; use a new id.`;
  return { allowed: false, reason: { code, account: known.account, message } };
}

function isSamePayload(input: ReserveInput, known: LedgerRequest): boolean {
  return (
    input.account === known.account &&
    input.kind === known.kind &&
    input.model === known.model &&
    input.estimate.tokens === known.estimate.tokens &&
    input.estimate.costMicros === known.estimate.costMicros &&
    (input.run ?? null) === known.run &&
    (input.driver ?? null) === known.driver &&
    (input.attempt?.subject ?? null) === known.subject &&
    (input.retryOf ?? null) === known.retryOf &&
    (input.priceVersion ?? null) === known.priceVersion
  );
}

function refuseUnknownAccount(input: ReserveInput): ReserveResult {
  const message = `There is no account '${input.account}'. Create it first.`;
  return { allowed: false, reason: { code: 'account_unknown', account: input.account, message } };
}

function checkReserveInput(input: ReserveInput): void {
  checkId('id', input.id);
  checkId('account', input.account);
  checkWord('kind', input.kind);
  checkId('model', input.model);
  for (const name of ['run', 'driver', 'retryOf', 'priceVersion'] as const) {
    if (input[name] !== undefined) checkId(name, input[name]);
  }
  const { tokens, costMicros } = input.estimate;
  if (isCount(tokens) && (costMicros === null || isCount(costMicros))) return;
  throw new LedgerError(
    'invalid_estimate',
    `The estimate of request ${input.id} is ${tokens} tokens and ${costMicros} micros; both must be integers from 0 (cost may be null).`,
  );
}
