/** Steps about requests. */
import assert from 'node:assert/strict';
import type { ModelAsked, ModelRefusal, ModelRequest } from './ledger-model-types.js';
import { driver, person, type PlayState, type Step, subject } from './play-state.js';
import type { ReserveInput, ReserveResult } from './reserve.js';

/** Nothing, some, or just what fits or one more. */
function tokensBy(play: PlayState, [, owner, target, amount]: Step, kind: string): number {
  if (amount % 8 === 5) return 0;
  const room = amount % 8 === 3 ? play.model.room(play.accountAt(target).id, kind) : null;
  return room === null ? amount % 400 : room + (owner % 2);
}

function askedBy(play: PlayState, step: Step): ModelAsked {
  const [, , target, amount] = step;
  const account = play.accountAt(target);
  const kind = amount % 4 === 0 ? 'coordinator' : amount % 9 === 1 ? 'constructor' : 'action';
  const runAt = (index: number): string => `${play.options.prefix}.run${index}`;
  const { lastRun } = account.subject;
  return {
    account: account.id,
    kind,
    tokens: tokensBy(play, step, kind),
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
