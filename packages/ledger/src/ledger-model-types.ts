/** What the model of the ledger's rules keeps: plain lists and numbers. */

export interface ModelLimits {
  maxRequests?: number;
  maxTokens?: number;
  maxCostMicros?: number;
  maxConcurrentRequests?: number;
  maxRunRequests?: number;
  maxAttempts?: number;
  maxConsecutiveFailures?: number;
  protectedTokens?: number;
  /** The protection is never more than this part of `maxTokens`. */
  protectedPercent?: number;
  /** Tokens of each hour of UTC. */
  hourTokens?: number;
}

export interface ModelStop {
  readonly code: string;
  readonly tokens: number;
  readonly cost: number | null;
  readonly kind: string;
  readonly aborts: boolean;
}

export interface ModelAccount {
  readonly id: string;
  readonly parent: string | null;
  status: 'open' | 'stopped' | 'closed';
  stop: ModelStop | null;
  revision: number;
  limits: ModelLimits;
  /** Failures in a row of the one driver, and the end of its backoff. */
  failures: number;
  backoffUntil: number;
  /** The one subject. */
  subject: ModelSubject;
}

export interface ModelSubject {
  attempts: number;
  additions: number;
  generation: number;
  lastRun: string | null;
  deferrals: number;
  waitUntil: number;
}

export interface ModelRequest {
  readonly id: string;
  readonly account: string;
  readonly kind: string;
  readonly run: string | null;
  readonly driver: boolean;
  readonly attempts: boolean;
  readonly owner: number;
  /** Where it counts in windows. */
  readonly bookedAt: number;
  readonly held: { readonly tokens: number; readonly cost: number | null };
  tokens: number;
  cost: number | null;
  /** All tokens of the usage, and those of them that were read from a cache. */
  usage: number;
  cached: number;
  complete: boolean;
  status: 'reserved' | 'reported' | 'unknown' | 'released';
  /** The cost is not a measured one. */
  unpriced: boolean;
  overshoot: boolean;
  /** Released by the provider's word, and billed after all. */
  discrepancy: boolean;
  isProven: boolean;
}

/** What is asked for. */
export interface ModelAsked {
  readonly account: string;
  readonly kind: string;
  readonly tokens: number;
  readonly cost: number | null;
  readonly run?: string | null;
  /** Asked on behalf of the driver. */
  readonly driver?: boolean;
  /** An attempt of this run at the subject, that may continue another run's. */
  readonly attempt?: { readonly run: string; readonly continues: string | null } | null;
}

export interface ModelRefusal {
  readonly code: string;
  readonly account: string;
  readonly scope?: 'account' | 'kind' | undefined;
  readonly heldByOthers?: boolean;
  readonly retryAfter?: number;
  /** The account is stopped already. */
  readonly stopped?: boolean;
}

export interface ModelSums {
  requests: number;
  tokens: number;
  costMicros: number;
  heldTokens: number;
  open: number;
  unknown: number;
  unmeasured: number;
  unpriced: number;
}
