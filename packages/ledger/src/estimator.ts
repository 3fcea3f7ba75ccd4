import { all, type Context, type Transaction } from '@stint/storage';
import type { Usage } from '@stint/provider-hooks';
import { type Estimate, type EstimatedRequest, type EstimateOptions, estimateRequest } from './estimate.js';

const mostModels = 256;
/** More than that is no matter of tokenizers, but context that the provider keeps, or pictures: it would only make holds absurd. */
const highestRatio = 4;

/** Estimates requests and learns from what they really took; learning only raises. */
export interface Estimator {
  estimate(request: EstimatedRequest): Estimate;
  /** Tells what a request that was estimated really took. */
  observe(model: string, estimate: Estimate, usage: Usage): void;
  /** The learned ratio of a model, 1 or above. */
  ratio(model: string): number;
}

/** An estimator that keeps, for each model, the highest ratio of actual to estimated input that it saw, at most 4. */
export function createEstimator(options: EstimateOptions = {}): Estimator {
  const ratios = new Map<string, number>();
  const ratio = (model: string): number => ratios.get(model) ?? Math.max(1, options.inputRatio ?? 1);
  return {
    ratio,
    estimate: (request) => estimateRequest(request, { ...options, inputRatio: ratio(request.model) }),
    observe(model, estimate, usage) {
      const actual = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
      const seen = estimate.inputTokens === 0 ? 1 : (ratio(model) * actual) / estimate.inputTokens;
      const learned = Math.min(seen, highestRatio);
      if (learned > ratio(model) && (ratios.has(model) || ratios.size < mostModels)) ratios.set(model, learned);
    },
  };
}

/** How good the estimates of one model were, over its reported requests. */
export interface EstimateReport {
  readonly model: string;
  readonly requests: number;
  readonly estimatedTokens: number;
  readonly chargedTokens: number;
  /** Requests charged above their hold. */
  readonly overshoots: number;
}

const selectReport = `SELECT model, COUNT(*) AS requests, CAST(SUM(estimate_tokens) AS BIGINT) AS "estimatedTokens",
  CAST(SUM(charged_tokens) AS BIGINT) AS "chargedTokens", CAST(SUM(overshoot) AS BIGINT) AS overshoots
  FROM ledger_requests WHERE status = 'reported' AND account IN (SELECT account FROM ledger_paths WHERE ancestor = ?)
  GROUP BY model ORDER BY model`;

/** Compares holds with charges, by model, over an account and all beneath it. Reads the account's whole history: a report, not for the hot path. */
export function* estimateReport(_ctx: Context, account: string): Transaction<readonly EstimateReport[]> {
  return yield* all<EstimateReport>(selectReport, [account]);
}
