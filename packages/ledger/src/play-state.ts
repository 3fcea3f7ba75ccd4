/** The store and the model that a play compares. */
import assert from 'node:assert/strict';
import type { Usage } from '@stint/provider-hooks';
import type { Database } from '@stint/storage';
import { createLedger, type Ledger } from './ledger.js';
import { LedgerModel } from './ledger-model.js';
import type { ModelAccount, ModelLimits, ModelRequest } from './ledger-model-types.js';
import type { Actor, Limits, TokenAccounting } from './types.js';

/** What is done, by whom, to what, and how much: each from 0 to 999. */
export type Step = readonly [action: number, owner: number, target: number, amount: number];

export interface PlayOptions {
  /** Begins every id, so that many plays share one store. */
  readonly prefix: string;
  /** Opens the store as a process of its own. */
  readonly open: () => Promise<Database>;
  /** Three processes' databases; a crash replaces one. */
  readonly owners: Database[];
  /** The clock of all three, which steps set; give them a lease that no jump of it ends. */
  readonly time: { now: number };
}

export const person: Actor = { kind: 'person', id: 'player' };
export const driver = 'planner';
export const subject = 'step';

/** 2026-03-10T12:00:00Z */
const noon = Date.UTC(2026, 2, 10, 12);

export class PlayState {
  readonly model = new LedgerModel();
  readonly options: PlayOptions;
  requests = 0;

  constructor(options: PlayOptions) {
    this.options = options;
    this.setTime(noon);
  }

  setTime(now: number): void {
    this.options.time.now = now;
    this.model.now = now;
  }

  /**
   * root; two beneath it; two beneath the first. What is drawn: whether tokens read from a cache are charged, how much of a limit may be
   * protected, and which limit is 0, if any.
   */
  async createTree([action, owner, target, amount]: Step): Promise<void> {
    this.model.chargesCached = owner % 2 === 0;
    const percent = amount % 4 === 0 ? {} : { protectedPercent: 5 + (amount % 12) };
    const denied = target % 2 === 0 ? action % 5 : null;
    const unlessDenied = (index: number, limit: number): number => (denied === index ? 0 : limit);
    await this.#create('root', null, {
      maxTokens: 1600,
      maxCostMicros: 5000,
      maxRequests: 8,
      hourTokens: 1500,
      maxRunRequests: 4,
    });
    await this.#create('left', 'root', {
      maxTokens: 1199,
      protectedTokens: 200,
      ...percent,
      maxConcurrentRequests: 4,
      maxAttempts: 3,
    });
    await this.#create('right', 'root', {
      maxRequests: unlessDenied(0, 3),
      maxRunRequests: 2,
      hourTokens: unlessDenied(1, 700),
    });
    await this.#create('leaf', 'left', {
      maxTokens: unlessDenied(2, 600),
      maxCostMicros: unlessDenied(3, 1500),
      maxConsecutiveFailures: 2,
    });
    await this.#create('bare', 'left', denied === 4 ? { maxTokens: 0 } : {});
  }

  async #create(name: string, parent: string | null, limits: ModelLimits): Promise<void> {
    const id = `${this.options.prefix}.${name}`;
    const above = parent === null ? null : `${this.options.prefix}.${parent}`;
    const { protectedTokens, protectedPercent, hourTokens, ...rest } = limits;
    const percent = protectedPercent === undefined ? {} : { maxPercent: protectedPercent };
    const given: Limits = {
      ...rest,
      ...(protectedTokens === undefined ? {} : { protected: { coordinator: { tokens: protectedTokens, ...percent } } }),
      ...(hourTokens === undefined ? {} : { windows: [{ per: 'hour', maxTokens: hourTokens }] }),
    };
    const accounting: TokenAccounting = this.model.chargesCached ? 'all' : 'without_cache_reads';
    const place = above === null ? { accounting } : { parent: above };
    await this.ledger(0).createAccount({ id, ...place, limits: given });
    this.model.accounts.push({
      id,
      parent: above,
      status: 'open',
      stop: null,
      revision: 1,
      limits,
      failures: 0,
      backoffUntil: 0,
      subject: { attempts: 0, additions: 0, generation: 0, lastRun: null, deferrals: 0, waitUntil: 0 },
    });
  }

  ledger(owner: number): Ledger {
    return createLedger(this.options.owners[owner % 3] as Database);
  }

  accountAt(target: number): ModelAccount {
    return this.model.accounts[target % this.model.accounts.length] as ModelAccount;
  }

  requestAt([, , target]: Step, statuses: readonly ModelRequest['status'][]): ModelRequest | undefined {
    const found = this.model.requests.filter(({ status }) => statuses.includes(status));
    return found[target % Math.max(1, found.length)];
  }

  async compare(account: ModelAccount): Promise<void> {
    const ledger = this.ledger(0);
    const { usage, status, revision, limits, failures, windows } = await ledger.snapshotAccount(account.id);
    const { requests, tokens, costMicros, heldTokens, open, unknown, unmeasured, unpriced } = usage;
    assert.deepEqual(
      { requests, tokens, costMicros, heldTokens, open, unknown, unmeasured, unpriced },
      this.model.sums(account.id),
      `sums of ${account.id}`,
    );
    const hour = account.limits.hourTokens === undefined ? undefined : windows['hour|UTC'];
    assert.deepEqual(
      [status, revision, limits.maxTokens, failures[driver]?.failures ?? 0, hour?.tokens],
      [
        account.status,
        account.revision,
        account.limits.maxTokens,
        account.failures,
        hour && this.model.hourTokens(account.id, hour.startsAt),
      ],
      account.id,
    );
    const { attempts, maximum, generation, retryAfter } = await ledger.readAttempts(account.id, subject);
    const expected = account.subject;
    assert.deepEqual(
      [attempts, maximum, generation, retryAfter],
      [expected.attempts, this.model.maxAttempts(account.id), expected.generation, expected.waitUntil],
      `attempts at ${account.id}`,
    );
  }

  async compareRequest({
    id,
    status,
    tokens,
    cost,
    complete,
    unpriced,
    overshoot,
    discrepancy,
  }: ModelRequest): Promise<void> {
    const request = await this.ledger(0).readRequest(id);
    assert.deepEqual(
      [request?.status, request?.chargedTokens, request?.chargedCostMicros, request?.complete],
      [status, tokens, cost, complete],
      id,
    );
    const flags = { unpriced: request?.unpriced, overshoot: request?.overshoot, discrepancy: request?.discrepancy };
    assert.deepEqual(flags, { unpriced, overshoot, discrepancy }, `flags of ${id}`);
  }

  /** Compares every account and request, then verifies and replays the journal. */
  async prove(): Promise<void> {
    for (const account of this.model.accounts) await this.compare(account);
    for (const request of this.model.requests) await this.compareRequest(request);
    const ledger = this.ledger(0);
    const root = this.model.accounts[0]?.id ?? '';
    for (const proof of [await ledger.verifyAccount(root), await ledger.replayAccount(root)]) {
      assert.ok(proof.ok, proof.ok ? '' : proof.misfit.problem);
    }
  }
}

export function used(tokens: number, cached = 0): Usage {
  return {
    inputTokens: tokens - cached,
    outputTokens: 0,
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    totalTokens: tokens,
  };
}
