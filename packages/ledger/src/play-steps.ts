/** Plays steps against a store and the model, and compares them after each. A step is four numbers, so that any generator can draw it. */
import assert from 'node:assert/strict';
import type { Database } from '@stint/storage';
import { createLedger, type Ledger } from './ledger.js';
import { LedgerModel, type ModelAccount, type ModelLimits, type ModelRequest } from './ledger-model.js';
import type { Usage } from '@stint/provider-hooks';
import type { SettleResult } from './settle.js';
import type { Actor, Limits } from './types.js';

/** What is done, by whom, to what, and how much: each from 0 to 999. */
export type Step = readonly [action: number, owner: number, target: number, amount: number];

export interface PlayOptions {
  /** Begins every id, so that many plays share one store. */
  readonly prefix: string;
  /** Opens the store as a process of its own. */
  readonly open: () => Promise<Database>;
  /** Three processes' databases; a crash replaces one. */
  readonly owners: Database[];
}

const person: Actor = { kind: 'person', id: 'player' };
const actions = [
  'reserve',
  'reserve',
  'reserve',
  'reserve',
  'settle',
  'settle',
  'release',
  'unknown',
  'late',
  'stop',
  'extend',
  'lower',
  'resume',
  'resume',
  'crash',
  'reconcile',
  'repeat',
  'close',
] as const;

/** @throws AssertionError at the first step after which store and model differ */
export async function playSteps(steps: readonly Step[], options: PlayOptions): Promise<void> {
  const play = new Play(options);
  await play.createTree();
  for (const [index, step] of steps.entries()) {
    try {
      await play.step(step);
    } catch (error) {
      throw new Error(`step ${index} ${JSON.stringify(step)} (${actionOf(step)})`, { cause: error });
    }
  }
  await play.prove();
}

function actionOf([action]: Step): (typeof actions)[number] {
  return actions[action % actions.length] as (typeof actions)[number];
}

class Play {
  readonly #model = new LedgerModel();
  readonly #options: PlayOptions;
  #requests = 0;

  constructor(options: PlayOptions) {
    this.#options = options;
  }

  /** root; two beneath it; two beneath the first. */
  async createTree(): Promise<void> {
    await this.#create('root', null, { maxTokens: 1600, maxCostMicros: 5000, maxRequests: 30 });
    await this.#create('left', 'root', { maxTokens: 1100, protectedTokens: 200, maxConcurrentRequests: 4 });
    await this.#create('right', 'root', { maxRequests: 12 });
    await this.#create('leaf', 'left', { maxTokens: 600, maxCostMicros: 1500 });
    await this.#create('bare', 'left', {});
  }

  async step(step: Step): Promise<void> {
    await this[actionOf(step)](step);
    await this.#compare(this.#model.accounts[step[3] % this.#model.accounts.length] as ModelAccount);
  }

  /** Compares every account, then verifies and replays the journal. */
  async prove(): Promise<void> {
    for (const account of this.#model.accounts) await this.#compare(account);
    const ledger = this.#ledger(0);
    const root = this.#model.accounts[0]?.id ?? '';
    for (const proof of [await ledger.verifyAccount(root), await ledger.replayAccount(root)]) {
      assert.ok(proof.ok, proof.ok ? '' : proof.misfit.problem);
    }
  }

  async reserve([, owner, target, amount]: Step): Promise<void> {
    const account = this.#accountAt(target);
    const asked = {
      account: account.id,
      kind: amount % 4 === 0 ? 'coordinator' : 'action',
      tokens: 1 + (amount % 400),
      cost: amount % 11 === 0 ? null : (amount * 7) % 1200,
    };
    this.#requests += 1;
    const id = `${this.#options.prefix}-${String(this.#requests).padStart(4, '0')}`;
    const expected = this.#model.refusal(asked);
    const estimate = { tokens: asked.tokens, costMicros: asked.cost };
    const result = await this.#ledger(owner).reserveRequest({
      id,
      account: account.id,
      kind: asked.kind,
      model: 'simulated:default',
      estimate,
    });
    if (expected === undefined) {
      assert.deepEqual(result, { allowed: true, id });
      const held = { tokens: asked.tokens, cost: asked.cost };
      this.#model.requests.push({
        ...held,
        id,
        account: account.id,
        kind: asked.kind,
        owner: owner % 3,
        held,
        usage: 0,
        complete: false,
        status: 'reserved',
      });
      return;
    }
    assert.ok(!result.allowed, 'the store admitted what the model refuses');
    const { code, account: refusing, heldByOthers } = result.reason;
    assert.deepEqual(
      { code, refusing, heldByOthers: heldByOthers === true },
      { code: expected.code, refusing: expected.account, heldByOthers: expected.heldByOthers === true },
    );
    if (expected.scope !== undefined) assert.equal(result.reason.scope, expected.scope);
    this.#stopAfter(expected, asked);
  }

  async settle(step: Step): Promise<void> {
    const request = this.#requestAt(step, ['reserved', 'unknown']);
    if (request !== undefined) await this.#settle(step, request);
  }

  /** Late usage, for whatever request, in whatever state. */
  async late(step: Step): Promise<void> {
    const request = this.#requestAt(step, ['unknown', 'released']);
    if (request !== undefined) await this.#settle(step, request);
  }

  async #settle([, owner, , amount]: Step, request: ModelRequest): Promise<void> {
    const tokens = amount % 2 === 0 ? amount % 100 : request.held.tokens + (amount % 150);
    const isComplete = amount % 5 !== 0;
    const result = await this.#ledger(owner).settleRequest(request.id, {
      usage: used(tokens),
      complete: isComplete,
      costMicros: tokens * 2,
    });
    if (request.status === 'released' && tokens === 0) return assertUnchanged(result);
    const isFinal = tokens > 0 && (isComplete || request.status === 'released');
    const before = { ...request };
    if (isFinal)
      Object.assign(request, { status: 'reported', tokens, cost: tokens * 2, usage: tokens, complete: true });
    else this.#becomeUnknown(request, tokens, isComplete);
    if (JSON.stringify(before) === JSON.stringify(request)) return assertUnchanged(result);
    assert.ok(result.settled);
    assert.deepEqual(
      [result.status, result.chargedTokens, result.chargedCostMicros],
      [request.status, request.tokens, request.cost],
    );
    this.#stopOverspent(request);
  }

  #becomeUnknown(request: ModelRequest, tokens: number, isComplete: boolean): void {
    request.status = 'unknown';
    request.usage = Math.max(request.usage, tokens);
    request.complete ||= isComplete;
    request.tokens = Math.max(request.tokens, tokens);
    request.cost = Math.max(request.cost ?? 0, tokens * 2);
  }

  async release(step: Step): Promise<void> {
    const request = this.#requestAt(step, ['reserved', 'unknown', 'reported']);
    if (request === undefined) return;
    const isReleased = await this.#ledger(step[1]).releaseRequest(request.id, 'refused');
    assert.equal(isReleased, request.status !== 'reported');
    if (isReleased) Object.assign(request, { status: 'released', tokens: 0, cost: request.cost === null ? null : 0 });
  }

  async unknown(step: Step): Promise<void> {
    const request = this.#requestAt(step, ['reserved']);
    if (request === undefined) return;
    await this.#ledger(step[1]).markRequestUnknown(request.id);
    request.status = 'unknown';
  }

  async stop([, owner, target]: Step): Promise<void> {
    const account = this.#accountAt(target);
    const { stopped } = await this.#ledger(owner).stopAccount(account.id, { code: 'paused', actor: person });
    assert.equal(stopped, account.status === 'open');
    const wasLimit = account.status === 'stopped' && account.stop?.isResource === true;
    if (wasLimit && account.stop !== null) {
      account.revision += 1;
      account.stop.isResource = false;
      account.stop = { ...account.stop, isResource: false, code: account.stop.code };
    }
    this.#model.stop(account.id, { code: 'paused', tokens: 0, cost: null, kind: '', isResource: false });
  }

  async extend([, owner, target, amount]: Step): Promise<void> {
    const account = this.#accountAt(target);
    const names = (['maxTokens', 'maxRequests', 'maxCostMicros'] as const).filter(
      (name) => account.limits[name] !== undefined,
    );
    const name = names[amount % Math.max(1, names.length)];
    if (name === undefined) return;
    const revision = amount % 7 === 0 ? account.revision + 1 : account.revision;
    const result = await this.#ledger(owner).extendAccount(account.id, {
      revision,
      additions: { [name]: 1 + amount },
      actor: person,
    });
    assert.equal(result.changed, revision === account.revision);
    if (!result.changed) return;
    account.limits[name] = (account.limits[name] ?? 0) + 1 + amount;
    account.revision += 1;
  }

  async lower([, owner, target, amount]: Step): Promise<void> {
    const account = this.#accountAt(target);
    const limit = account.limits.maxTokens;
    if (limit === undefined) return;
    const wanted = Math.max(0, limit - (amount % 200));
    const lowering = this.#ledger(owner).lowerAccount(account.id, {
      revision: account.revision,
      limits: { maxTokens: wanted },
      actor: person,
    });
    if (wanted < this.#model.sums(account.id).tokens) return assert.rejects(lowering, { code: 'invalid_limits' });
    assert.ok((await lowering).changed);
    account.limits.maxTokens = wanted;
    account.revision += 1;
  }

  async resume([, owner, target]: Step): Promise<void> {
    const account = this.#accountAt(target);
    const result = await this.#ledger(owner).resumeAccount(account.id, { revision: account.revision, actor: person });
    if (account.status !== 'stopped' || account.stop === null) return assert.equal(result.resumed, false);
    const { stop } = account;
    const asked = { account: account.id, kind: stop.kind, tokens: stop.tokens, cost: stop.cost };
    const refusal = stop.code === 'paused' ? undefined : this.#model.refusal(asked, true);
    assert.equal(result.resumed, refusal === undefined);
    if (refusal !== undefined) return;
    Object.assign(account, { status: 'open', stop: null, revision: account.revision + 1 });
  }

  /** A process dies: another one recovers what it had reserved. */
  async crash([, owner]: Step): Promise<void> {
    const index = owner % 3;
    const { owners, open } = this.#options;
    await owners[index]?.close();
    owners[index] = await open();
    await this.#ledger(index + 1).recoverRequests();
    for (const request of this.#model.requests) {
      if (request.owner === index && request.status === 'reserved') request.status = 'unknown';
    }
  }

  async reconcile(step: Step): Promise<void> {
    const request = this.#requestAt(step, ['unknown', 'reserved']);
    if (request === undefined) return;
    const result = await this.#ledger(step[1]).reconcileRequest(request.id, 'not_billed', person);
    assert.equal(result.settled, request.status === 'unknown');
    if (result.settled)
      Object.assign(request, { status: 'released', tokens: 0, cost: request.cost === null ? null : 0 });
  }

  /** The same id again holds nothing twice. */
  async repeat(step: Step): Promise<void> {
    const request = this.#requestAt(step, ['reserved', 'unknown', 'reported', 'released']);
    if (request === undefined) return;
    const { id, account, kind, held } = request;
    const estimate = { tokens: held.tokens, costMicros: held.cost };
    const result = await this.#ledger(step[1]).reserveRequest({
      id,
      account,
      kind,
      model: 'simulated:default',
      estimate,
    });
    assert.ok(!result.allowed && result.reason.code === 'request_already_reserved');
  }

  async close([, owner, target, amount]: Step): Promise<void> {
    const account = this.#accountAt(target);
    if (amount % 4 !== 0 || account.parent === null) return;
    assert.equal(await this.#ledger(owner).closeAccount(account.id), account.status !== 'closed');
    if (account.status === 'closed') return;
    Object.assign(account, { status: 'closed', revision: account.revision + 1 });
  }

  #stopAfter(
    refusal: { code: string; account: string },
    asked: { account: string; kind: string; tokens: number; cost: number | null },
  ): void {
    if (!this.#model.stopsFor(refusal, asked)) return;
    const stop = { code: refusal.code, tokens: asked.tokens, cost: asked.cost, kind: asked.kind, isResource: true };
    if (refusal.account !== asked.account && this.#model.isFull(refusal))
      this.#model.stop(refusal.account, { ...stop });
    this.#model.stop(asked.account, { ...stop });
  }

  #stopOverspent(request: ModelRequest): void {
    const { held } = request;
    const isAbove =
      request.tokens > held.tokens || (held.cost !== null && request.cost !== null && request.cost > held.cost);
    if (!isAbove || request.status === 'released') return;
    for (const account of this.#model.chain(request.account)) {
      const { tokens, costMicros } = this.#model.sums(account.id);
      const { maxTokens, maxCostMicros } = account.limits;
      const least = { tokens: 1, cost: 0, kind: request.kind, isResource: true };
      if (maxTokens !== undefined && tokens > maxTokens)
        this.#model.stop(account.id, { code: 'tokens_exhausted', ...least });
      else if (maxCostMicros !== undefined && costMicros > maxCostMicros)
        this.#model.stop(account.id, { code: 'cost_exhausted', ...least });
    }
  }

  async #compare(account: ModelAccount): Promise<void> {
    const { usage, status, revision, limits } = await this.#ledger(0).snapshotAccount(account.id);
    const { requests, tokens, costMicros, heldTokens, open, unknown } = usage;
    assert.deepEqual(
      { requests, tokens, costMicros, heldTokens, open, unknown },
      this.#model.sums(account.id),
      `sums of ${account.id}`,
    );
    assert.deepEqual(
      [status, revision, limits.maxTokens],
      [account.status, account.revision, account.limits.maxTokens],
      account.id,
    );
  }

  async #create(name: string, parent: string | null, limits: ModelLimits): Promise<void> {
    const id = `${this.#options.prefix}.${name}`;
    const above = parent === null ? null : `${this.#options.prefix}.${parent}`;
    const { protectedTokens, ...rest } = limits;
    const given: Limits =
      protectedTokens === undefined ? rest : { ...rest, protected: { coordinator: { tokens: protectedTokens } } };
    await this.#ledger(0).createAccount({ id, ...(above === null ? {} : { parent: above }), limits: given });
    this.#model.accounts.push({ id, parent: above, status: 'open', stop: null, revision: 1, limits });
  }

  #ledger(owner: number): Ledger {
    return createLedger(this.#options.owners[owner % 3] as Database);
  }

  #accountAt(target: number): ModelAccount {
    return this.#model.accounts[target % this.#model.accounts.length] as ModelAccount;
  }

  #requestAt([, , target]: Step, statuses: readonly ModelRequest['status'][]): ModelRequest | undefined {
    const found = this.#model.requests.filter(({ status }) => statuses.includes(status));
    return found[target % Math.max(1, found.length)];
  }
}

function assertUnchanged(result: SettleResult): void {
  assert.deepEqual(result, { settled: false, reason: 'unchanged' });
}

function used(tokens: number): Usage {
  return {
    inputTokens: tokens,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    totalTokens: tokens,
  };
}
