import * as z from 'zod';
import { DTO_LIMITS } from './limits.js';
import { amountSchema, countSchema, idSchema, lineSchema, timeSchema } from './scalars.js';

/**
 * What the work took. Requests, tokens and money come from the ledger (Coordinator and unknown ones included), so
 * `total` = sum of `byKind`; loops and tool calls are counted over Runs.
 */
export const executionStatisticsSchema = z.object({
  total: amountSchema,
  byKind: z.array(amountSchema.extend({ kind: z.string().max(64) })).max(16),
  /** Settled requests whose cost is not known; with them `total.costMicros` reads "at least". */
  unmeasuredRequests: countSchema,
  runs: countSchema,
  /** Provider turns of Runs. */
  loops: countSchema,
  toolCalls: countSchema,
  failedToolCalls: countSchema,
});
export type ExecutionStatistics = Readonly<z.infer<typeof executionStatisticsSchema>>;

/** Limits of an account. null = no cap of its own; 0 = deny all. */
export const budgetLimitsSchema = z.object({
  maxRequests: countSchema.nullable(),
  maxTokens: countSchema.nullable(),
  maxCostMicros: countSchema.nullable(),
  maxRunRequests: countSchema.nullable(),
  maxAttempts: countSchema.nullable(),
  maxConsecutiveFailures: countSchema.nullable(),
});
export type BudgetLimits = Readonly<z.infer<typeof budgetLimitsSchema>>;

/** What remains under each limit; null = no limit. */
export const amountLeftSchema = z.object({
  requests: countSchema.nullable(),
  tokens: countSchema.nullable(),
  costMicros: countSchema.nullable(),
});
export type AmountLeft = Readonly<z.infer<typeof amountLeftSchema>>;

/** Why an account admits nothing. `account` is the one that is full, which may be an ancestor. */
export const stopReasonSchema = z.object({
  code: z.string().max(128),
  message: lineSchema,
  account: idSchema,
  /** The limit that was reached, as named in `BudgetLimits`; null if it was a person or failures. */
  limit: z.string().max(64).nullable(),
  /** The estimate that was refused. */
  estimate: z.object({ tokens: countSchema, costMicros: countSchema.nullable() }).nullable(),
  at: timeSchema.nullable(),
});
export type StopReason = Readonly<z.infer<typeof stopReasonSchema>>;

/** Attempts of one open subject (an Action). */
export const attemptsSchema = z.object({
  subject: idSchema,
  used: countSchema,
  /** Effective maximum, a person's additions included; null = none. */
  maximum: countSchema.nullable(),
  exhausted: z.boolean(),
});
export type Attempts = Readonly<z.infer<typeof attemptsSchema>>;

/** The budget of one WorkItem: what may be spent, what is, what is held, what nobody knows, what is left. */
export const executionControlSchema = z.object({
  account: idSchema,
  /** Moves only with administration; the fence of `extend_budget` and `resume_budget`. */
  revision: countSchema,
  /** Orders budget figures: [data revision, reservations of dead owners]. A lower one never replaces a higher one. */
  version: z.tuple([countSchema, countSchema]),
  status: z.string().max(32),
  limits: budgetLimitsSchema,
  /** Everything that counts against the limits: spent + held + unknown. */
  charged: amountSchema,
  spent: amountSchema,
  held: amountSchema,
  unknown: amountSchema,
  left: amountLeftSchema,
  breakdown: z.array(amountSchema.extend({ kind: z.string().max(64) })).max(16),
  /** Requests on their way now. */
  inFlight: countSchema,
  /** Settled requests whose cost is not known. */
  unmeasuredRequests: countSchema,
  stopReason: stopReasonSchema.nullable(),
  /** Failures in a row of the driver that has most. */
  consecutiveFailures: countSchema,
  /** No request before this time; null = now. */
  retryAfter: timeSchema.nullable(),
  attempts: z.array(attemptsSchema).max(DTO_LIMITS.maxOpenSubjects),
  omittedAttemptCount: countSchema,
});
export type ExecutionControl = Readonly<z.infer<typeof executionControlSchema>>;
