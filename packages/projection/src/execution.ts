import {
  type Amount,
  type Attempts,
  type BudgetLimits,
  DTO_LIMITS,
  type ExecutionControl,
  type ExecutionStatistics,
  type StopReason,
} from '@stint/contracts';
import type { AccountRecord, ActionCounts, StopReasonRecord, TotalsRecord } from './records.js';

const MAX_KINDS = 16;

/**
 * The budget of one item. `charged` = spent + held + unknown, in each of requests, tokens and money. Money is null where requests are charged whose price nobody knows and nothing else is: unknown
 * is never shown as 0.
 */
export function toExecutionControl(account: AccountRecord): ExecutionControl {
  const { usage } = account;
  const stop = account.stopReason ?? account.blockedBy?.stopReason ?? null;
  return {
    account: account.account,
    revision: account.revision,
    version: [account.version[0], account.version[1]],
    status: account.blockedBy === null ? account.status : account.blockedBy.status,
    limits: toLimits(account.limits),
    charged: chargedOf(usage),
    spent: spentOf(usage),
    held: amount(usage.open, usage.heldTokens, usage.heldCostMicros, usage),
    unknown: amount(usage.unknown, usage.unknownTokens ?? 0, usage.unknownCostMicros ?? 0, usage),
    left: { ...account.remaining },
    breakdown: toBreakdown(account),
    inFlight: account.inFlight,
    unmeasuredRequests: usage.unpriced,
    stopReason: stop === null ? null : toStopReason(stop),
    consecutiveFailures: Math.max(0, ...Object.values(account.failures).map(({ failures }) => failures)),
    retryAfter: account.retryAfter,
    attempts: account.subjects.slice(0, DTO_LIMITS.maxOpenSubjects).map(toAttempts),
    omittedAttemptCount: Math.max(0, account.subjects.length - DTO_LIMITS.maxOpenSubjects),
  };
}

/** What an item took. Tokens and requests are the ledger's, so that Coordinator and unknown requests are in; loops and calls are counted over Runs. */
export function toExecutionStatistics(
  account: AccountRecord,
  actionCounts: ReadonlyMap<string, ActionCounts>,
): ExecutionStatistics {
  let runs = 0;
  let loops = 0;
  let toolCalls = 0;
  let failedToolCalls = 0;
  for (const counts of actionCounts.values()) {
    runs += counts.runs;
    loops += counts.loops;
    toolCalls += counts.toolCalls;
    failedToolCalls += counts.failedToolCalls;
  }
  return {
    total: chargedOf(account.usage),
    byKind: toBreakdown(account),
    unmeasuredRequests: account.usage.unpriced,
    runs,
    loops,
    toolCalls,
    failedToolCalls,
  };
}

/** Attempts of one Action. */
export function toAttempts(subject: AccountRecord['subjects'][number]): Attempts {
  const { attempts: used, maximum } = subject;
  return { subject: subject.subject, used, maximum, exhausted: maximum !== null && used >= maximum };
}

function toLimits(limits: AccountRecord['limits']): BudgetLimits {
  return {
    maxRequests: limits.maxRequests ?? null,
    maxTokens: limits.maxTokens ?? null,
    maxCostMicros: limits.maxCostMicros ?? null,
    maxRunRequests: limits.maxRunRequests ?? null,
    maxAttempts: limits.maxAttempts ?? null,
    maxConsecutiveFailures: limits.maxConsecutiveFailures ?? null,
  };
}

function chargedOf(totals: TotalsRecord): Amount {
  return amount(totals.requests, totals.tokens, totals.costMicros, totals);
}

function spentOf(totals: TotalsRecord): Amount {
  return amount(
    totals.requests - totals.open - totals.unknown,
    totals.tokens - totals.heldTokens - (totals.unknownTokens ?? 0),
    totals.costMicros - totals.heldCostMicros - (totals.unknownCostMicros ?? 0),
    totals,
  );
}

function amount(requests: number, tokens: number, costMicros: number, { unpriced }: TotalsRecord): Amount {
  const isCostKnown = costMicros > 0 || unpriced === 0 || requests === 0;
  return {
    requests: Math.max(0, requests),
    tokens: Math.max(0, tokens),
    costMicros: isCostKnown ? Math.max(0, costMicros) : null,
  };
}

function toBreakdown(account: AccountRecord): ExecutionControl['breakdown'] {
  return Object.entries(account.breakdown)
    .slice(0, MAX_KINDS)
    .map(([kind, totals]) => ({ kind, ...chargedOf(totals) }));
}

function toStopReason(stop: StopReasonRecord): StopReason {
  return {
    code: stop.code,
    message: describeStop(stop),
    account: stop.account,
    limit: LIMIT_OF_STOP[stop.code] ?? null,
    estimate:
      stop.estimate === undefined ? null : { tokens: stop.estimate.tokens, costMicros: stop.estimate.costMicros },
    at: stop.at,
  };
}

const LIMIT_OF_STOP: Readonly<Record<string, keyof BudgetLimits>> = {
  requests_exhausted: 'maxRequests',
  tokens_exhausted: 'maxTokens',
  cost_exhausted: 'maxCostMicros',
  failures_exhausted: 'maxConsecutiveFailures',
};

function describeStop({ code, limit, estimate }: StopReasonRecord): string {
  const cap = limit === undefined ? '' : ` of ${limit}`;
  switch (code) {
    case 'requests_exhausted':
      return `The limit${cap} requests was reached. Raise it unless that is done, then resume.`;
    case 'tokens_exhausted':
      return `The limit${cap} tokens was too small for the next request${estimate === undefined ? '' : ` of about ${estimate.tokens}`}. Raise it unless that is done, then resume.`;
    case 'cost_exhausted':
      return `The limit${limit === undefined ? '' : ` of ${dollars(limit)}`} was too small for the next request. Raise it unless that is done, then resume.`;
    case 'failures_exhausted':
      return 'The model failed too often in a row. Look at the last error, then resume.';
    case 'paused':
      return 'Paused by a person. Resume to go on.';
    case 'cancelled':
      return 'Cancelled by a person.';
    default:
      return `No request is admitted: ${code.replaceAll('_', ' ')}.`;
  }
}

function dollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(micros % 10_000 === 0 ? 2 : 6)}`;
}
