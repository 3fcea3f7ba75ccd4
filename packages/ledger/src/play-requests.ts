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
    tokens: 1 + (amount % 400),
    cost: amount % 11 === 0 ? null : (amount * 7) % 1200,
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
    complete: false,
    status: 'reserved',
  });
}

function compareRefusal(
  play: PlayState,
  asked: ModelAsked,
  { expected, result }: { readonly expected: ModelRefusal; readonly result: ReserveResult },
): void {
  assert.ok(!result.allowed, `the store admitted what the model refuses: ${expected.code}`);
  const { code, account: refusing, heldByOthers } = result.reason;
  assert.deepEqual(
    { code, refusing, heldByOthers: heldByOthers === true },
    { code: expected.code, refusing: expected.account, heldByOthers: expected.heldByOthers === true },
  );
  if (expected.scope !== undefined) assert.equal(result.reason.scope, expected.scope);
  if (!play.model.stopsFor(expected, asked)) return;
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

/** Half of the settlements are above their hold. */
async function settleOne(play: PlayState, [, owner, , amount]: Step, request: ModelRequest): Promise<void> {
  const tokens = amount % 2 === 0 ? amount % 100 : request.held.tokens + (amount % 150);
  const isComplete = amount % 5 !== 0;
  const settlement = { usage: used(tokens), complete: isComplete, costMicros: tokens * 2 };
  const result = await play.ledger(owner).settleRequest(request.id, settlement);
  if (request.status === 'released' && tokens === 0) return assertUnchanged(result);
  const isFinal = tokens > 0 && (isComplete || request.status === 'released');
  const before = { ...request };
  if (isFinal) Object.assign(request, { status: 'reported', tokens, cost: tokens * 2, usage: tokens, complete: true });
  else becomeUnknown(request, tokens, isComplete);
  if (JSON.stringify(before) === JSON.stringify(request)) return assertUnchanged(result);
  assert.ok(result.settled);
  assert.deepEqual(
    [result.status, result.chargedTokens, result.chargedCostMicros],
    [request.status, request.tokens, request.cost],
  );
  stopOverspent(play, request);
  const again = await play.ledger(owner).settleRequest(request.id, settlement);
  if (isFinal) assertUnchanged(again);
}

function becomeUnknown(request: ModelRequest, tokens: number, isComplete: boolean): void {
  request.status = 'unknown';
  request.usage = Math.max(request.usage, tokens);
  request.complete ||= isComplete;
  request.tokens = Math.max(request.tokens, tokens);
  request.cost = Math.max(request.cost ?? 0, tokens * 2);
}

function stopOverspent(play: PlayState, request: ModelRequest): void {
  const { held } = request;
  const isAbove =
    request.tokens > held.tokens || (held.cost !== null && request.cost !== null && request.cost > held.cost);
  if (!isAbove || request.status === 'released') return;
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
  if (isReleased) Object.assign(request, { status: 'released', tokens: 0, cost: request.cost === null ? null : 0 });
}

export async function unknown(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['reserved']);
  if (request === undefined) return;
  await play.ledger(step[1]).markRequestUnknown(request.id);
  request.status = 'unknown';
}

/** A process dies: another one recovers what it had reserved. */
export async function crash(play: PlayState, [, owner]: Step): Promise<void> {
  const index = owner % 3;
  const { owners, open } = play.options;
  await owners[index]?.close();
  owners[index] = await open();
  await play.ledger(index + 1).recoverRequests();
  for (const request of play.model.requests) {
    if (request.owner === index && request.status === 'reserved') request.status = 'unknown';
  }
}

export async function reconcile(play: PlayState, step: Step): Promise<void> {
  const request = play.requestAt(step, ['unknown', 'reserved']);
  if (request === undefined) return;
  const result = await play.ledger(step[1]).reconcileRequest(request.id, 'not_billed', person);
  assert.equal(result.settled, request.status === 'unknown');
  if (result.settled) Object.assign(request, { status: 'released', tokens: 0, cost: request.cost === null ? null : 0 });
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
