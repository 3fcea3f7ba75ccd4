import * as z from 'zod';
import { CONTRACT_LIMITS, DTO_LIMITS } from './limits.js';
import { boundedText, countSchema, idSchema, lineSchema, openEnum } from './scalars.js';
import { deliveryTargetSchema } from './statuses.js';

const runIdsSchema = z.array(idSchema).max(DTO_LIMITS.maxEvidenceRunIds);

/** One acceptance criterion and what the Runs say of it. */
export const criterionProgressSchema = z.object({
  id: idSchema,
  text: boundedText(CONTRACT_LIMITS.maxCriterionBytes),
  /** `unmet` = no Run has judged it; `failed` = the latest judgement is against it. */
  status: openEnum(['passed', 'failed', 'unmet']),
  /** Runs whose check agrees with `status`. */
  evidenceRunIds: runIdsSchema,
  /** Runs whose check says otherwise. */
  conflictingRunIds: runIdsSchema,
  /** One line of the evidence given, '' if none. */
  evidence: lineSchema,
});
export type CriterionProgress = Readonly<z.infer<typeof criterionProgressSchema>>;

/** An Action that keeps the goal from being reached. */
export const blockerSchema = z.object({
  actionId: idSchema,
  kind: openEnum(['waiting', 'failed']),
  reason: lineSchema,
});
export type Blocker = Readonly<z.infer<typeof blockerSchema>>;

/** Counts alone: what a summary carries. They are true before any cut. */
export const goalCountsSchema = z.object({
  completed: countSchema,
  total: countSchema,
  remaining: countSchema,
});
export type GoalCounts = Readonly<z.infer<typeof goalCountsSchema>>;

/** How far the acceptance criteria are met. Criteria that are not passed come first. */
export const goalProgressSchema = goalCountsSchema.extend({
  contractRevision: countSchema,
  criteria: z.array(criterionProgressSchema).max(CONTRACT_LIMITS.maxCriteria),
  omittedCriteriaCount: countSchema,
  /** Ids of criteria not passed. */
  remainingCriteria: z.array(idSchema).max(CONTRACT_LIMITS.maxCriteria),
  evidenceRunIds: runIdsSchema,
  blockers: z.array(blockerSchema).max(DTO_LIMITS.maxBlockers),
  omittedBlockerCount: countSchema,
  delivery: z.object({
    target: deliveryTargetSchema.nullable(),
    status: openEnum(['passed', 'unmet']),
    evidenceRunIds: runIdsSchema,
  }),
});
export type GoalProgress = Readonly<z.infer<typeof goalProgressSchema>>;
