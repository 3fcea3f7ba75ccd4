/** `costMicros` everywhere is in millionths of a dollar; tokens and requests are counts; times are integer milliseconds UTC. */

/** How long one window lasts in the calendar of its zone. */
export type WindowPeriod = 'minute' | 'hour' | 'day';

/** A cap for each minute, hour or day of a calendar. A request counts in the bucket in which it was reserved. */
export interface WindowLimit {
  readonly per: WindowPeriod;
  /** IANA time zone. @default 'UTC' */
  readonly zone?: string;
  readonly maxRequests?: number;
  readonly maxTokens?: number;
  readonly maxCostMicros?: number;
}

/** What other kinds may not touch. What the kind itself was charged is taken off. */
export interface Protection {
  readonly requests?: number;
  readonly tokens?: number;
  readonly costMicros?: number;
  /** Never more than this share of the account's own limit, 1 to 100. @default 100 */
  readonly maxPercent?: number;
}

/** Limits of one account. Absent or null: no cap of its own, the parent's still binds. 0: deny all. */
export interface Limits {
  /** Provider requests, retries included; exactly this many are admitted. */
  readonly maxRequests?: number | null;
  /** Charged tokens; reaching it exactly is admitted. */
  readonly maxTokens?: number | null;
  /** Charged money. */
  readonly maxCostMicros?: number | null;
  /** Requests of one run. */
  readonly maxRunRequests?: number | null;
  /** Attempts at one subject. */
  readonly maxAttempts?: number | null;
  /** Failures in a row of one driver. */
  readonly maxConsecutiveFailures?: number | null;
  /** Open reservations. */
  readonly maxConcurrentRequests?: number | null;
  readonly windows?: readonly WindowLimit[] | null;
  readonly protected?: Readonly<Record<string, Protection>> | null;
}

/** Which tokens a token cap counts: all of them, or all but those read from the provider's prompt cache. */
export type TokenAccounting = 'all' | 'without_cache_reads';

/** Who acts. Only a person raises a budget; an import may bring the provider's bill. */
export interface Actor {
  readonly kind: 'person' | 'import' | 'system';
  readonly id: string;
}

export type AccountStatus = 'open' | 'stopped' | 'closed';
export type RequestStatus = 'reserved' | 'reported' | 'unknown' | 'released';

/** What an admission asks for. */
export interface AskedAmount {
  readonly tokens: number;
  /** null: no price is known. */
  readonly costMicros: number | null;
}

/** Why a request was refused. Callers branch on `code`; `message` is for people. */
export type RefusalCode =
  | 'account_closed'
  | 'account_unknown'
  | 'attempts_exhausted'
  | 'backing_off'
  | 'concurrency_exhausted'
  | 'cost_exhausted'
  | 'ledger_unavailable'
  | 'price_unknown'
  | 'request_already_reserved'
  | 'request_conflict'
  | 'requests_exhausted'
  | 'run_requests_exhausted'
  | 'tokens_exhausted'
  | 'window_exhausted'
  | (string & {});

export interface RefusalReason {
  /** A code of this package, or the code that a caller gave to `stopAccount` (as `cancelled`). */
  readonly code: RefusalCode;
  /** The account that refuses: the one that is full, stopped or closed. */
  readonly account: string;
  readonly limit?: number;
  /** `kind`: only what is protected for other kinds is in the way. */
  readonly scope?: 'account' | 'kind' | 'run' | 'driver' | 'subject' | 'window';
  /** True when only holds in flight are in the way: waiting may help. */
  readonly heldByOthers?: boolean;
  /** Not before this time. */
  readonly retryAfter?: number;
  /** The refused estimate. */
  readonly estimate?: AskedAmount;
  /** True when the account is stopped (by this refusal or before). */
  readonly stopped?: boolean;
  readonly message: string;
}

/** Why an account is stopped. The first reason stands until a resume. */
export interface StopReason {
  readonly code: string;
  /** The account that is full; another than the stopped one if an ancestor is. */
  readonly account: string;
  readonly at: number;
  /** True when requests in flight are to be aborted (a person's stop); a limit's stop lets them end. */
  readonly aborts: boolean;
  readonly actor?: Actor;
  readonly limit?: number;
  readonly estimate?: AskedAmount;
  readonly kind?: string;
  readonly details?: unknown;
}

/** Sums over the requests of one kind. `tokens` and `costMicros` are what is charged, holds included. */
export interface Totals {
  readonly requests: number;
  readonly tokens: number;
  readonly costMicros: number;
  /** The part of `tokens` that open reservations hold. */
  readonly heldTokens: number;
  readonly heldCostMicros: number;
  /** Open reservations. */
  readonly open: number;
  /** Requests whose outcome nobody knows. */
  readonly unknown: number;
  /** The part of `tokens` that unknown requests are charged. */
  readonly unknownTokens: number;
  readonly unknownCostMicros: number;
  /** Complete answers without usage: charged at their hold. */
  readonly unmeasured: number;
  /** Requests whose charged cost is not a measured one: `costMicros` is then "at least". */
  readonly unpriced: number;
}

/** What a window's current bucket was charged. */
export interface WindowTotals {
  readonly startsAt: number;
  readonly requests: number;
  readonly tokens: number;
  readonly costMicros: number;
}

/** Failures in a row of one driver. */
export interface DriverFailures {
  readonly failures: number;
  readonly retryAfter: number;
}

/** One account as admission sees it. */
export interface AccountView {
  readonly id: string;
  readonly status: AccountStatus;
  readonly limits: Limits;
  readonly kinds: Readonly<Record<string, Totals>>;
  readonly windows: Readonly<Record<string, WindowTotals>>;
  readonly drivers: Readonly<Record<string, DriverFailures>>;
  readonly stopReason: StopReason | null;
}
