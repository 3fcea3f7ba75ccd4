/** Steps about accounts, drivers, subjects and the clock. */
import assert from 'node:assert/strict';
import { modelBackoffMs } from './ledger-model.js';
import type { ModelAccount } from './ledger-model-types.js';
import { driver, person, type PlayState, type Step, subject } from './play-state.js';

export async function stop(play: PlayState, [, owner, target]: Step): Promise<void> {
  const account = play.accountAt(target);
  const { stopped } = await play.ledger(owner).stopAccount(account.id, { code: 'paused', actor: person });
  assert.equal(stopped, account.status === 'open');
  play.model.stop(account.id, { code: 'paused', tokens: 0, cost: null, kind: '', aborts: true });
}

export async function extend(play: PlayState, [, owner, target, amount]: Step): Promise<void> {
  const account = play.accountAt(target);
  const names = (['maxTokens', 'maxRequests', 'maxCostMicros', 'maxConsecutiveFailures', 'hourTokens'] as const).filter(
    (name) => account.limits[name] !== undefined,
  );
  const name = names[amount % Math.max(1, names.length)];
  if (name === undefined) return;
  const revision = amount % 7 === 0 ? account.revision + 1 : account.revision;
  const additions =
    name === 'hourTokens' ? { windows: [{ per: 'hour' as const, maxTokens: 1 + amount }] } : { [name]: 1 + amount };
  const result = await play.ledger(owner).extendAccount(account.id, { revision, additions, actor: person });
  assert.equal(result.changed, revision === account.revision);
  if (!result.changed) return;
  account.limits[name] = (account.limits[name] ?? 0) + 1 + amount;
  account.revision += 1;
}

export async function lower(play: PlayState, [, owner, target, amount]: Step): Promise<void> {
  const account = play.accountAt(target);
  const name = amount % 3 === 0 ? 'hourTokens' : 'maxTokens';
  const limit = account.limits[name];
  if (limit === undefined) return;
  const wanted = amount % 13 === 0 ? 0 : Math.max(0, limit - (amount % 200));
  const limits =
    name === 'hourTokens' ? { windows: [{ per: 'hour' as const, maxTokens: wanted }] } : { maxTokens: wanted };
  const lowering = play.ledger(owner).lowerAccount(account.id, { revision: account.revision, limits, actor: person });
  if (wanted < leastOf(play, account, name)) return assert.rejects(lowering, { code: 'invalid_limits' });
  assert.ok((await lowering).changed);
  account.limits[name] = wanted;
  account.revision += 1;
}

/** What is charged already, in all or in the hour that a request of the account alone would be booked in. */
function leastOf(play: PlayState, account: ModelAccount, name: 'maxTokens' | 'hourTokens'): number {
  if (name === 'maxTokens') return play.model.sums(account.id).tokens;
  const hours = play.model.requests
    .filter((request) => play.model.isUnder(request, account.id))
    .map(({ bookedAt }) => bookedAt);
  return play.model.hourTokens(account.id, Math.max(play.model.now, ...hours.map((at) => at - (at % 3_600_000))));
}

export async function resume(play: PlayState, [, owner, target]: Step): Promise<void> {
  const account = play.accountAt(target);
  const result = await play.ledger(owner).resumeAccount(account.id, { revision: account.revision, actor: person });
  if (account.status !== 'stopped' || account.stop === null) return assert.equal(result.resumed, false);
  const { code, kind, tokens, cost } = account.stop;
  const isLimit = ['tokens_exhausted', 'requests_exhausted', 'cost_exhausted'].includes(code);
  const isFailing = account.failures >= play.model.maxFailures(account.id);
  const isRefused = isLimit && play.model.refusal({ account: account.id, kind, tokens, cost }, true) !== undefined;
  assert.equal(result.resumed, !isFailing && !isRefused);
  if (!result.resumed) return;
  Object.assign(account, { status: 'open', stop: null, revision: account.revision + 1, backoffUntil: 0 });
}

export async function close(play: PlayState, [, owner, target, amount]: Step): Promise<void> {
  const account = play.accountAt(target);
  if (amount % 4 !== 0 || account.parent === null) return;
  assert.equal(await play.ledger(owner).closeAccount(account.id), account.status !== 'closed');
  if (account.status === 'closed') return;
  Object.assign(account, { status: 'closed', revision: account.revision + 1 });
}

export async function fail(play: PlayState, [, owner, target]: Step): Promise<void> {
  const account = play.accountAt(target);
  const result = await play.ledger(owner).recordFailure(account.id, driver);
  account.failures += 1;
  account.backoffUntil = play.model.now + modelBackoffMs(account.failures);
  assert.deepEqual([result.failures, result.retryAfter], [account.failures, account.backoffUntil]);
  if (account.failures < play.model.maxFailures(account.id)) return assert.equal(result.stopped, false);
  assert.equal(result.stopped, account.status === 'open');
  play.model.stop(account.id, { code: 'failures_exhausted', tokens: 0, cost: null, kind: '', aborts: false });
}

export async function succeed(play: PlayState, [, owner, target]: Step): Promise<void> {
  const account = play.accountAt(target);
  assert.equal(await play.ledger(owner).recordSuccess(account.id, driver), account.failures > 0);
  Object.assign(account, { failures: 0, backoffUntil: 0 });
}

/** Puts the attempt at work off, or one that is not at work, which changes nothing. */
export async function defer(play: PlayState, [, owner, target, amount]: Step): Promise<void> {
  const account = play.accountAt(target);
  const { subject: state } = account;
  const run = amount % 5 === 0 || state.lastRun === null ? 'nobody' : state.lastRun;
  const waitUntil = await play.ledger(owner).deferAttempt(account.id, { subject, run });
  if (run !== 'nobody') {
    state.deferrals += 1;
    if (state.deferrals <= 10) state.attempts = Math.max(0, state.attempts - 1);
    state.lastRun = null;
    state.waitUntil = play.model.now + modelBackoffMs(state.deferrals);
  }
  assert.equal(waitUntil, state.waitUntil);
}

export async function giveAttempts(play: PlayState, [, owner, target, amount]: Step): Promise<void> {
  const { id, subject: state } = play.accountAt(target);
  const ledger = play.ledger(owner);
  if (amount % 2 === 0) {
    await ledger.addAttempts(id, { subject, additions: 1, actor: person });
    state.additions += 1;
    return;
  }
  await ledger.restartAttempts(id, { subject, actor: person });
  const generation = state.generation + 1;
  Object.assign(state, { attempts: 0, additions: 0, generation, lastRun: null, deferrals: 0, waitUntil: 0 });
}

/** The clock goes on by up to a quarter of an hour, or jumps back by up to two. */
export async function tick(play: PlayState, [, , target, amount]: Step): Promise<void> {
  play.setTime(play.model.now + (target % 6 === 0 ? -amount * 7200 : amount * 900));
}
