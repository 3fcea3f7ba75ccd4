/**
 * The ledger's rules as simply as they can be said: lists in memory, every sum counted from the start, no shared code with the ledger.
 * Property tests compare a store with it after each step.
 */

export interface ModelLimits {
  maxRequests?: number;
  maxTokens?: number;
  maxCostMicros?: number;
  maxConcurrentRequests?: number;
  protectedTokens?: number;
}

export interface ModelAccount {
  readonly id: string;
  readonly parent: string | null;
  status: 'open' | 'stopped' | 'closed';
  stop: { code: string; tokens: number; cost: number | null; kind: string; isResource: boolean } | null;
  revision: number;
  limits: ModelLimits;
}

export interface ModelRequest {
  readonly id: string;
  readonly account: string;
  readonly kind: string;
  readonly owner: number;
  readonly held: { readonly tokens: number; readonly cost: number | null };
  tokens: number;
  cost: number | null;
  usage: number;
  complete: boolean;
  status: 'reserved' | 'reported' | 'unknown' | 'released';
}

export interface ModelRefusal {
  readonly code: string;
  readonly account: string;
  readonly scope?: 'account' | 'kind' | undefined;
  readonly heldByOthers?: boolean;
}

export interface ModelSums {
  requests: number;
  tokens: number;
  costMicros: number;
  heldTokens: number;
  open: number;
  unknown: number;
}

export class LedgerModel {
  readonly accounts: ModelAccount[] = [];
  readonly requests: ModelRequest[] = [];

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

  /** Counts the requests of an account and of all beneath it. */
  sums(id: string, kind?: string): ModelSums {
    const sums = { requests: 0, tokens: 0, costMicros: 0, heldTokens: 0, open: 0, unknown: 0 };
    for (const request of this.requests) {
      if (kind !== undefined && request.kind !== kind) continue;
      if (!this.chain(request.account).some((account) => account.id === id)) continue;
      sums.requests += 1;
      sums.tokens += request.tokens;
      sums.costMicros += request.cost ?? 0;
      if (request.status === 'unknown' && !request.complete) sums.unknown += 1;
      if (request.status !== 'reserved') continue;
      sums.heldTokens += request.tokens;
      sums.open += 1;
    }
    return sums;
  }

  heldCost(id: string): number {
    const held = this.requests.filter(
      (request) => request.status === 'reserved' && this.chain(request.account).some((account) => account.id === id),
    );
    return held.reduce((sum, request) => sum + (request.cost ?? 0), 0);
  }

  /** The refusal of a request, or undefined if it is to be admitted. Changes nothing. */
  refusal(
    asked: { account: string; kind: string; tokens: number; cost: number | null },
    assumeOpen = false,
  ): ModelRefusal | undefined {
    const chain = this.chain(asked.account);
    for (const account of chain) {
      if (assumeOpen && account.id === asked.account) continue;
      if (account.status === 'stopped') return { code: account.stop?.code ?? '', account: account.id };
    }
    for (const account of chain) {
      if (account.status === 'closed') return { code: 'account_closed', account: account.id };
    }
    for (const { id, limits } of chain) {
      if (limits.maxRequests !== undefined && this.sums(id).requests >= limits.maxRequests) {
        return { code: 'requests_exhausted', account: id, scope: 'account' };
      }
    }
    for (const { id, limits } of chain) {
      const { tokens, heldTokens } = this.sums(id);
      const kept =
        asked.kind === 'coordinator'
          ? 0
          : Math.max(0, (limits.protectedTokens ?? 0) - this.sums(id, 'coordinator').tokens);
      const refused = over('tokens_exhausted', id, {
        limit: limits.maxTokens,
        charged: tokens,
        held: heldTokens,
        asked: asked.tokens,
        kept,
      });
      if (refused !== undefined) return refused;
    }
    for (const { id, limits } of chain) {
      if (limits.maxCostMicros === undefined) continue;
      if (asked.cost === null) return { code: 'price_unknown', account: id };
      const facts = {
        limit: limits.maxCostMicros,
        charged: this.sums(id).costMicros,
        held: this.heldCost(id),
        asked: asked.cost,
        kept: 0,
      };
      const refused = over('cost_exhausted', id, facts);
      if (refused !== undefined) return refused;
    }
    for (const { id, limits } of chain) {
      if (limits.maxConcurrentRequests !== undefined && this.sums(id).open >= limits.maxConcurrentRequests) {
        return { code: 'concurrency_exhausted', account: id, heldByOthers: limits.maxConcurrentRequests > 0 };
      }
    }
    return undefined;
  }

  /** True if a refusal for lack of room (not one for being stopped) stops the asking account: no hold that settles could cure it. */
  stopsFor(refusal: ModelRefusal, asked: { tokens: number; cost: number | null }): boolean {
    const { limits } = this.account(refusal.account);
    const { tokens, heldTokens, costMicros } = this.sums(refusal.account);
    if (refusal.scope === undefined) return false;
    if (refusal.code === 'requests_exhausted') return true;
    if (refusal.code === 'tokens_exhausted') return tokens - heldTokens + asked.tokens > (limits.maxTokens ?? 0);
    if (refusal.code !== 'cost_exhausted') return false;
    return costMicros - this.heldCost(refusal.account) + (asked.cost ?? 0) > (limits.maxCostMicros ?? 0);
  }

  /** True if the refusing ancestor is full itself. */
  isFull(refusal: ModelRefusal): boolean {
    const { limits } = this.account(refusal.account);
    const { tokens, heldTokens, costMicros } = this.sums(refusal.account);
    if (refusal.code === 'requests_exhausted') return true;
    if (refusal.code === 'tokens_exhausted') return tokens - heldTokens >= (limits.maxTokens ?? 0);
    return costMicros - this.heldCost(refusal.account) >= (limits.maxCostMicros ?? 0);
  }

  stop(id: string, stop: NonNullable<ModelAccount['stop']>): void {
    const account = this.account(id);
    if (account.status !== 'open') return;
    account.status = 'stopped';
    account.stop = stop;
    account.revision += 1;
  }
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
  if (limit === undefined || charged + asked + kept <= limit) return undefined;
  const fitsUnprotected = charged + asked <= limit;
  const heldByOthers = !fitsUnprotected && charged - held + asked <= limit;
  return { code, account, scope: fitsUnprotected ? 'kind' : 'account', ...(heldByOthers ? { heldByOthers } : {}) };
}
