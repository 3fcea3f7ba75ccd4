/**
 * The ledger's rules as simply as they can be said: lists in memory, every sum counted from the start, no shared code with the ledger.
 * Property tests compare a store with it after each step.
 */
import type {
  ModelAccount,
  ModelAsked,
  ModelRefusal,
  ModelRequest,
  ModelStop,
  ModelSubject,
  ModelSums,
} from './ledger-model-types.js';

const hourMs = 3_600_000;
const noSums: ModelSums = {
  requests: 0,
  tokens: 0,
  costMicros: 0,
  heldTokens: 0,
  open: 0,
  unknown: 0,
  unmeasured: 0,
  unpriced: 0,
};

/** The wait after the n-th failure or deferral in a row. */
export function modelBackoffMs(count: number): number {
  return [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000][Math.min(count, 9) - 1] ?? 0;
}

export class LedgerModel {
  readonly accounts: ModelAccount[] = [];
  readonly requests: ModelRequest[] = [];
  now = 0;
  /** False: tokens read from a cache are not charged. */
  chargesCached = true;

  account(id: string): ModelAccount {
    const account = this.accounts.find((each) => each.id === id);
    if (account === undefined) throw new Error(`the model has no account ${id}`);
    return account;
  }

  /** The account and its ancestors, leaf first. */
  chain(id: string): ModelAccount[] {
    const account = this.account(id);
    return account.parent === null ? [account] : [account, ...this.chain(account.parent)];
  }

  isUnder(request: ModelRequest, id: string): boolean {
    return this.chain(request.account).some((account) => account.id === id);
  }

  /** Counts the requests of an account and of all beneath it. */
  sums(id: string, kind?: string): ModelSums {
    const sums = { ...noSums };
    for (const request of this.requests) {
      if (kind !== undefined && request.kind !== kind) continue;
      if (!this.isUnder(request, id)) continue;
      sums.requests += 1;
      sums.tokens += request.tokens;
      sums.costMicros += request.cost ?? 0;
      if (request.status === 'unknown' && !request.complete) sums.unknown += 1;
      if (request.status === 'unknown' && request.complete) sums.unmeasured += 1;
      if (request.unpriced && request.status !== 'released') sums.unpriced += 1;
      if (request.status !== 'reserved') continue;
      sums.heldTokens += request.tokens;
      sums.open += 1;
    }
    return sums;
  }

  heldCost(id: string): number {
    const held = this.requests.filter((request) => request.status === 'reserved' && this.isUnder(request, id));
    return held.reduce((sum, request) => sum + (request.cost ?? 0), 0);
  }

  /** The tokens of an hour, counted where requests were booked. */
  hourTokens(id: string, at: number): number {
    const inHour = this.requests.filter(
      (request) => this.isUnder(request, id) && Math.floor(request.bookedAt / hourMs) === Math.floor(at / hourMs),
    );
    return inHour.reduce((sum, request) => sum + request.tokens, 0);
  }

  /** Now, but never before an hour that a window of the chain has requests in. */
  bookingTime(id: string): number {
    let latest = this.now;
    for (const account of this.chain(id)) {
      if (account.limits.hourTokens === undefined) continue;
      for (const request of this.requests) {
        if (this.isUnder(request, account.id))
          latest = Math.max(latest, Math.floor(request.bookedAt / hourMs) * hourMs);
      }
    }
    return latest;
  }

  /** The refusal of a request, or undefined if it is to be admitted. Changes nothing. */
  refusal(asked: ModelAsked, assumeOpen = false): ModelRefusal | undefined {
    return (
      this.#refusalByStatus(asked, assumeOpen) ??
      this.#refusalByTurn(asked) ??
      this.#refusalByTokens(asked) ??
      this.#refusalByCost(asked) ??
      this.#refusalByRate(asked)
    );
  }

  #refusalByStatus({ account: asking }: ModelAsked, assumeOpen: boolean): ModelRefusal | undefined {
    const chain = this.chain(asking);
    for (const account of chain) {
      if (assumeOpen && account.id === asking) continue;
      if (account.status === 'stopped') return { code: account.stop?.code ?? '', account: account.id, stopped: true };
    }
    const closed = chain.find(({ status }) => status === 'closed');
    return closed === undefined ? undefined : { code: 'account_closed', account: closed.id };
  }

  /** Backoffs, runs, attempts and counts of requests. */
  #refusalByTurn(asked: ModelAsked): ModelRefusal | undefined {
    const chain = this.chain(asked.account);
    const backingOff = asked.driver === true ? chain.find(({ backoffUntil }) => backoffUntil > this.now) : undefined;
    if (backingOff !== undefined)
      return { code: 'backing_off', account: backingOff.id, retryAfter: backingOff.backoffUntil };
    const made = this.requests.filter(({ run }) => run !== null && run === asked.run).length;
    for (const { id, limits } of chain) {
      if (asked.run != null && limits.maxRunRequests !== undefined && made >= limits.maxRunRequests)
        return { code: 'run_requests_exhausted', account: id };
    }
    const attempt = this.#refusalByAttempt(asked);
    if (attempt !== undefined) return attempt;
    for (const { id, limits } of chain) {
      if (limits.maxRequests !== undefined && this.sums(id).requests >= limits.maxRequests)
        return { code: 'requests_exhausted', account: id, scope: 'account' };
    }
    return undefined;
  }

  #refusalByAttempt({ account, attempt }: ModelAsked): ModelRefusal | undefined {
    const { subject } = this.account(account);
    if (attempt == null || !beginsAttempt(subject, attempt)) return undefined;
    if (subject.waitUntil > this.now) return { code: 'backing_off', account, retryAfter: subject.waitUntil };
    const maximum = this.maxAttempts(account);
    return maximum !== null && subject.attempts >= maximum ? { code: 'attempts_exhausted', account } : undefined;
  }

  maxAttempts(id: string): number | null {
    const limits = this.chain(id).map(({ limits: { maxAttempts } }) => maxAttempts ?? Number.POSITIVE_INFINITY);
    const lowest = Math.min(...limits);
    return lowest === Number.POSITIVE_INFINITY ? null : lowest + this.account(id).subject.additions;
  }

  #refusalByTokens(asked: ModelAsked): ModelRefusal | undefined {
    for (const { id, limits } of this.chain(asked.account)) {
      const { tokens, heldTokens } = this.sums(id);
      const kept = asked.kind === 'coordinator' ? 0 : this.#protectedTokens(id);
      const facts = { limit: limits.maxTokens, charged: tokens, held: heldTokens, asked: asked.tokens, kept };
      const refused = over('tokens_exhausted', id, facts);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  /** The most tokens that a request of a kind may ask for; null without a limit. */
  room(account: string, kind: string): number | null {
    const rooms = this.chain(account).flatMap(({ id, limits: { maxTokens } }) =>
      maxTokens === undefined
        ? []
        : [maxTokens - this.sums(id).tokens - (kind === 'coordinator' ? 0 : this.#protectedTokens(id))],
    );
    return rooms.length === 0 ? null : Math.max(0, Math.min(...rooms));
  }

  /** What other kinds may not touch: a share of the limit at most, less what the protected kind was charged. */
  #protectedTokens(id: string): number {
    const { maxTokens = 0, protectedTokens = 0, protectedPercent = 100 } = this.account(id).limits;
    const most = Math.floor((maxTokens * protectedPercent) / 100);
    return Math.max(0, Math.min(protectedTokens, most) - this.sums(id, 'coordinator').tokens);
  }

  #refusalByCost(asked: ModelAsked): ModelRefusal | undefined {
    for (const { id, limits } of this.chain(asked.account)) {
      if (limits.maxCostMicros === undefined) continue;
      if (asked.cost === null) return { code: 'price_unknown', account: id };
      const charged = this.sums(id).costMicros;
      const facts = { limit: limits.maxCostMicros, charged, held: this.heldCost(id), asked: asked.cost, kept: 0 };
      const refused = over('cost_exhausted', id, facts);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  #refusalByRate(asked: ModelAsked): ModelRefusal | undefined {
    const chain = this.chain(asked.account);
    for (const { id, limits } of chain) {
      if (limits.maxConcurrentRequests !== undefined && this.sums(id).open >= limits.maxConcurrentRequests)
        return { code: 'concurrency_exhausted', account: id, heldByOthers: limits.maxConcurrentRequests > 0 };
    }
    const at = this.bookingTime(asked.account);
    for (const { id, limits } of chain) {
      const { hourTokens: limit } = limits;
      if (limit === undefined || (limit > 0 && this.hourTokens(id, at) + asked.tokens <= limit)) continue;
      return { code: 'window_exhausted', account: id, retryAfter: (Math.floor(at / hourMs) + 1) * hourMs };
    }
    return undefined;
  }

  /** What an admission does to the subject. */
  beginAttempt({ account, attempt }: ModelAsked): void {
    const { subject } = this.account(account);
    if (attempt == null || subject.lastRun === attempt.run) return;
    if (beginsAttempt(subject, attempt)) subject.attempts += 1;
    if (subject.lastRun !== null) subject.deferrals = 0;
    subject.lastRun = attempt.run;
  }

  /** True if a refusal for lack of room (not one for being stopped) stops the asking account: no hold that settles could cure it. */
  stopsFor(refusal: ModelRefusal, asked: { tokens: number; cost: number | null }): boolean {
    const { limits } = this.account(refusal.account);
    const { tokens, heldTokens, costMicros } = this.sums(refusal.account);
    if (refusal.scope === undefined) return false;
    if (refusal.code === 'requests_exhausted') return true;
    if (refusal.code === 'tokens_exhausted') return !fits(tokens - heldTokens + asked.tokens, limits.maxTokens);
    if (refusal.code !== 'cost_exhausted') return false;
    return !fits(costMicros - this.heldCost(refusal.account) + (asked.cost ?? 0), limits.maxCostMicros);
  }

  /** True if the refusing ancestor is full itself. */
  isFull(refusal: ModelRefusal): boolean {
    const { limits } = this.account(refusal.account);
    const { tokens, heldTokens, costMicros } = this.sums(refusal.account);
    if (refusal.code === 'requests_exhausted') return true;
    if (refusal.code === 'tokens_exhausted') return tokens - heldTokens >= (limits.maxTokens ?? 0);
    return costMicros - this.heldCost(refusal.account) >= (limits.maxCostMicros ?? 0);
  }

  /** The first stop stands; a later one that aborts makes it abort too. */
  stop(id: string, stop: ModelStop): void {
    const account = this.account(id);
    if (account.status === 'open') {
      account.status = 'stopped';
      account.stop = stop;
      account.revision += 1;
    } else if (account.status === 'stopped' && account.stop !== null && stop.aborts && !account.stop.aborts) {
      account.stop = { ...account.stop, aborts: true };
      account.revision += 1;
    }
  }

  maxFailures(id: string): number {
    const limits = this.chain(id).map(({ limits: { maxConsecutiveFailures } }) => maxConsecutiveFailures);
    return Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY));
  }
}

function beginsAttempt(
  { lastRun }: ModelSubject,
  { run, continues }: { readonly run: string; readonly continues: string | null },
): boolean {
  return lastRun !== run && (continues === null || lastRun !== continues);
}

function over(
  code: string,
  account: string,
  {
    limit,
    charged,
    held,
    asked,
    kept,
  }: { limit: number | undefined; charged: number; held: number; asked: number; kept: number },
): ModelRefusal | undefined {
  if (limit === undefined || fits(charged + asked + kept, limit)) return undefined;
  const fitsUnprotected = fits(charged + asked, limit);
  const heldByOthers = !fitsUnprotected && fits(charged - held + asked, limit);
  return { code, account, scope: fitsUnprotected ? 'kind' : 'account', ...(heldByOthers ? { heldByOthers } : {}) };
}

/** A limit of 0 denies also what is nothing. */
function fits(amount: number, limit = 0): boolean {
  return limit > 0 && amount <= limit;
}
