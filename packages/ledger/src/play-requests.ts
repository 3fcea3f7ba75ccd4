/** Steps about requests. */
import assert from 'node:assert/strict';
import type { ModelAsked, ModelRefusal, ModelRequest } from './ledger-model.js';
import { driver, person, type PlayState, type Step, subject, used } from './play-state.js';
import type { ReserveInput, ReserveResult } from './reserve.js';
import type { SettleResult } from './settle.js';

function askedBy(play: PlayState, [, , target, amount]: Step): ModelAsked {
  const account = play.accountAt(target);
  const runAt = (index: number): string => `${play.options.prefix}.run${index}`;
  const { lastRun } = account.subject;
  return {
    account: account.id,
    kind: amount % 4 === 0 ? 'coordinator' : 'action',
    tokens: amount % 8 === 5 ? 0 : amount % 400,
    cost: amount % 11 === 0 ? null : amount % 8 === 5 ? 0 : (amount * 7) % 1200,
    run: amount % 3 === 0 ? runAt(amount % 4) : null,
    driver: amount % 2 === 0,
    attempt: amount % 5 < 3 ? { run: runAt((amount >> 3) % 6), continues: amount % 7 === 0 ? lastRun : null } : null,
  };
}

function inputOf(id: string, asked: ModelAsked): ReserveInput {
  const { account, kind, tokens, cost, run, attempt } = asked;
  return {
    id,
    account,
    kind,
    model: 'simulated:default',
    estimate: { tokens, costMicros: cost },
    ...(run == null ? {} : { run }),
    ...(asked.driver === true ? { driver } : {}),
    ...(attempt == null
      ? {}
      : {
          attempt: {
            subject,
            run: attempt.run,
            ...(attempt.continues === null ? {} : { continues: attempt.continues }),
          },
        }),
  };
}

export async function reserve(play: PlayState, step: Step): Promise<void> {
  const asked = askedBy(play, step);
  play.requests += 1;
  const id = `${play.options.prefix}-${String(play.requests).padStart(4, '0')}`;
  const expected = play.model.refusal(asked);
  const result = await play.ledger(step[1]).reserveRequest(inputOf(id, asked));
  if (expected !== undefined) return compareRefusal(play, asked, { expected, result });
  assert.deepEqual(result, { allowed: true, id });
  const bookedAt = play.model.bookingTime(asked.account);
  const { account, kind, tokens, cost } = asked;
  play.model.beginAttempt(asked);
  play.model.requests.push({
    id,
    account,
    kind,
    run: asked.run ?? null,
    driver: asked.driver === true,
    attempts: asked.attempt != null,
    owner: step[1] % 3,
    bookedAt,
    held: { tokens, cost },
    tokens,
    cost,
    usage: 0,
    cached: 0,
    complete: false,
    status: 'reserved',
    unpriced: cost === null,
    overshoot: false,
    discrepancy: false,
    isProven: false,
  });
}

function compareRefusal(
  play: PlayState,
  asked: ModelAsked,
  { expected, result }: { readonly expected: ModelRefusal; readonly result: ReserveResult },
): void {
  assert.ok(!result.allowed, `the store admitted what the model refuses: ${expected.code}`);
  const { code, account: refusing, heldByOthers, retryAfter, stopped } = result.reason;
  const stops = play.model.stopsFor(expected, asked);
  assert.deepEqual(
    { code, refusing, heldByOthers: heldByOthers === true, retryAfter, stopped: stopped === true },
    {
      code: expected.code,
      refusing: expected.account,
      heldByOthers: expected.heldByOthers === true,
      retryAfter: expected.retryAfter,
      stopped: stops || expected.stopped === true,
    },
  );
  if (expected.scope !== undefined) assert.equal(result.reason.scope, expected.scope);
  if (!stops) return;
  const stop = { code: expected.code, tokens: asked.tokens, cost: asked.cost, kind: asked.kind, aborts: false };
  if (expected.account !== asked.account && play.model.isFull(expected)) play.model.stop(expected.account, stop);
  play.model.stop(asked.account, stop);
}

export async function settle(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['reserved', 'unknown']);
  if (request !== undefined) await settleOne(play, step, request);
}

/** Late usage, for whatever request, in whatever state. */
export async function late(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['unknown', 'released']);
  if (request !== undefined) await settleOne(play, step, request);
}

/** What a usage comes to: some is read from a cache, some has no price. */
interface ModelFigures {
  readonly total: number;
  readonly cached: number;
  readonly charged: number;
  readonly cost: number | null;
}

/** Half of the settlements are above their hold. */
function figuresBy(play: PlayState, amount: number, request: ModelRequest): ModelFigures {
  const total = amount % 2 === 0 ? amount % 100 : request.held.tokens + (amount % 150);
  const cached = amount % 3 === 0 ? Math.floor(total / 2) : 0;
  const charged = play.model.chargesCached ? total : total - cached;
  return { total, cached, charged, cost: amount % 17 === 0 ? null : total * 2 };
}

async function settleOne(play: PlayState, [, owner, , amount]: Step, request: ModelRequest): Promise<void> {
  const figures = figuresBy(play, amount, request);
  const isComplete = amount % 5 !== 0;
  const usage = used(figures.total, figures.cached);
  const settlement = { usage, complete: isComplete, costMicros: figures.cost };
  const result = await play.ledger(owner).settleRequest(request.id, settlement);
  if (request.status === 'released' && figures.total === 0) return assertUnchanged(result);
  const isFinal = figures.total > 0 && (isComplete || request.status === 'released');
  const before = outcomeOf(request);
  if (isFinal) becomeReported(request, figures);
  else becomeUnknown(request, figures, isComplete);
  if (before === outcomeOf(request)) return assertUnchanged(result);
  request.overshoot = isAboveHold(request);
  assert.ok(result.settled);
  await play.compareRequest(request);
  stopOverspent(play, request);
  const again = await play.ledger(owner).settleRequest(request.id, settlement);
  if (isFinal) assertUnchanged(again);
}

function outcomeOf({ status, tokens, cost, usage, cached, complete }: ModelRequest): string {
  return JSON.stringify([status, tokens, cost, usage, cached, complete]);
}

function becomeReported(request: ModelRequest, { total, cached, charged, cost }: ModelFigures): void {
  request.discrepancy ||= request.isProven;
  request.unpriced = cost === null;
  Object.assign(request, { status: 'reported', tokens: charged, cost: cost ?? request.held.cost, complete: true });
  Object.assign(request, { usage: total, cached });
}

function becomeUnknown(request: ModelRequest, figures: ModelFigures, isComplete: boolean): void {
  const { total, cached, charged, cost } = figures;
  request.status = 'unknown';
  request.unpriced = true;
  if (total > 0 && total >= request.usage) Object.assign(request, { usage: total, cached });
  request.complete ||= isComplete;
  request.tokens = Math.max(request.tokens, charged);
  request.cost = request.cost === null && cost === null ? null : Math.max(request.cost ?? 0, cost ?? 0);
}

function isAboveHold({ held, tokens, cost }: ModelRequest): boolean {
  return tokens > held.tokens || (held.cost !== null && cost !== null && cost > held.cost);
}

function stopOverspent(play: PlayState, request: ModelRequest): void {
  if (!request.overshoot) return;
  for (const account of play.model.chain(request.account)) {
    const { tokens, costMicros } = play.model.sums(account.id);
    const { maxTokens, maxCostMicros } = account.limits;
    const least = { tokens: 1, cost: 0, kind: request.kind, aborts: false };
    if (maxTokens !== undefined && tokens > maxTokens)
      play.model.stop(account.id, { code: 'tokens_exhausted', ...least });
    else if (maxCostMicros !== undefined && costMicros > maxCostMicros)
      play.model.stop(account.id, { code: 'cost_exhausted', ...least });
  }
}

export async function release(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['reserved', 'unknown', 'reported', 'released']);
  if (request === undefined) return;
  const isOpen = request.status === 'reserved' || request.status === 'unknown';
  const isReleased = await play.ledger(step[1]).releaseRequest(request.id, 'refused');
  assert.equal(isReleased, isOpen && request.usage === 0);
  if (isReleased) await becomeReleased(play, request, true);
}

async function becomeReleased(play: PlayState, request: ModelRequest, isProven: boolean): Promise<void> {
  Object.assign(request, { status: 'released', tokens: 0, cost: request.cost === null ? null : 0, isProven });
  Object.assign(request, { unpriced: false, overshoot: false });
  await play.compareRequest(request);
}

export async function unknown(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['reserved']);
  if (request === undefined) return;
  await play.ledger(step[1]).markRequestUnknown(request.id);
  Object.assign(request, { status: 'unknown', unpriced: true });
  await play.compareRequest(request);
}

/** A process dies: another one recovers what it had reserved. */
export async function crash(play: PlayState, [, owner]: Step): Promise<void> {
  const index = owner % 3;
  const { owners, open } = play.options;
  await owners[index]?.close();
  owners[index] = await open();
  await play.ledger(index + 1).recoverRequests();
  for (const request of play.model.requests) {
    if (request.owner === index && request.status === 'reserved')
      Object.assign(request, { status: 'unknown', unpriced: true });
  }
}

export async function reconcile(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['unknown', 'reserved']);
  if (request === undefined) return;
  const result = await play.ledger(step[1]).reconcileRequest(request.id, 'not_billed', person);
  assert.equal(result.settled, request.status === 'unknown');
  if (result.settled) await becomeReleased(play, request, false);
}

/** The same id again holds nothing twice, and with other facts it is told as such. */
export async function repeat(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['reserved', 'unknown', 'reported', 'released']);
  if (request === undefined) return;
  const { id, account, kind, held, run } = request;
  const isSame = step[3] % 2 === 0;
  const input = inputOf(id, { account, kind, run, driver: request.driver, tokens: held.tokens, cost: held.cost });
  const attempt = request.attempts ? { attempt: { subject, run: 'any' } } : {};
  const asked = { ...input, ...attempt, ...(isSame ? {} : { model: 'simulated:other' }) };
  const result = await play.ledger(step[1]).reserveRequest(asked);
  assert.ok(!result.allowed);
  assert.equal(result.reason.code, isSame ? 'request_already_reserved' : 'request_conflict');
}

function assertUnchanged(result: SettleResult): void {
  assert.deepEqual(result, { settled: false, reason: 'unchanged' });
}
