import * as z from 'zod';
import { actionSummarySchema } from './action.js';
import { executionControlSchema, executionStatisticsSchema } from './execution.js';
import { goalCountsSchema, goalProgressSchema } from './goal-progress.js';
import { CONTRACT_LIMITS, DTO_LIMITS } from './limits.js';
import { messagePageSchema } from './message.js';
import { outputSchema } from './run.js';
import {
  boundedText,
  countSchema,
  idSchema,
  lineSchema,
  openEnum,
  reasonSchema,
  textSchema,
  timeSchema,
} from './scalars.js';
import { coordinatorStatusSchema, deliveryTargetSchema, workItemStatusSchema } from './statuses.js';
import { operationSummarySchema, turnSummarySchema } from './turn.js';

/** All fences of an item. A command carries the one it was made on; a moved one is answered with the current values. */
export const revisionsSchema = z.object({
  revision: countSchema,
  planRevision: countSchema,
  resultsRevision: countSchema,
  coordinatorRevision: countSchema,
  /** Moves with every change that is shown; orders DTOs of one item. */
  progressRevision: countSchema,
});
export type Revisions = Readonly<z.infer<typeof revisionsSchema>>;

/** Why a person is asked. */
export const needKindSchema = openEnum([
  'question',
  'unknown_operation',
  'unknown_turn',
  'interrupted_delivery',
  'failed_action',
  'exhausted',
  'resource_limit',
  'refused_decision',
  'provider',
  'coordinator_failed',
  'budget',
  'paused',
  'idle',
]);

/** Something only a person can give, and the command that gives it. */
export const needSchema = z.object({
  kind: needKindSchema,
  /** What is asked, or what happened. */
  text: textSchema,
  /** The `stint` command that frees the item. */
  command: lineSchema,
  /** Identity of what is asked; `answer_question` sends it back. null where nothing is answered. */
  questionId: idSchema.nullable(),
  actionId: idSchema.nullable(),
  runId: idSchema.nullable(),
  turnId: idSchema.nullable(),
  operationId: idSchema.nullable(),
  since: timeSchema.nullable(),
});
export type Need = Readonly<z.infer<typeof needSchema>>;

/** What the WorkItem ended with. */
export const finalResultSchema = z.object({
  summary: textSchema,
  criteria: z
    .array(
      z.object({
        id: idSchema,
        text: boundedText(CONTRACT_LIMITS.maxCriterionBytes),
        status: openEnum(['passed', 'failed', 'unmet']),
        evidenceRunIds: z.array(idSchema).max(DTO_LIMITS.maxEvidenceRunIds),
        evidence: lineSchema,
      }),
    )
    .max(CONTRACT_LIMITS.maxCriteria),
  outputs: z.array(outputSchema).max(DTO_LIMITS.maxResponses),
  responses: z
    .array(z.object({ runId: idSchema, text: boundedText(DTO_LIMITS.maxResponseBytes) }))
    .max(DTO_LIMITS.maxResponses),
  residualRisks: z.array(lineSchema).max(DTO_LIMITS.maxResidualRisks),
  omittedCount: countSchema,
  completedAt: timeSchema,
});
export type FinalResult = Readonly<z.infer<typeof finalResultSchema>>;

const actionCountsSchema = z.object({
  total: countSchema,
  completed: countSchema,
  running: countSchema,
  waiting: countSchema,
  failed: countSchema,
});

/** One WorkItem as the board shows it. */
export const workItemSummarySchema = z.object({
  id: idSchema,
  title: boundedText(CONTRACT_LIMITS.maxTitleBytes),
  status: workItemStatusSchema,
  reason: reasonSchema.nullable(),
  revisions: revisionsSchema,
  createdAt: timeSchema,
  updatedAt: timeSchema,
  model: boundedText(CONTRACT_LIMITS.maxModelBytes).nullable(),
  deliveryTarget: deliveryTargetSchema.nullable(),
  /** Last part of the work directory's path; null without one. */
  workDirName: lineSchema.nullable(),
  /** null without criteria. */
  goalProgress: goalCountsSchema.nullable(),
  actions: actionCountsSchema,
  coordinator: coordinatorStatusSchema,
  needCount: countSchema,
  /** The first of the needs. */
  need: needSchema.nullable(),
  statistics: executionStatisticsSchema,
  control: executionControlSchema,
  lastEventSeq: countSchema,
});
export type WorkItemSummary = Readonly<z.infer<typeof workItemSummarySchema>>;

/** What a person asked for. */
export const contractSchema = z.object({
  title: boundedText(CONTRACT_LIMITS.maxTitleBytes),
  goal: boundedText(CONTRACT_LIMITS.maxGoalBytes),
  acceptanceCriteria: z
    .array(z.object({ id: idSchema, text: boundedText(CONTRACT_LIMITS.maxCriterionBytes) }))
    .max(CONTRACT_LIMITS.maxCriteria),
  omittedCriteriaCount: countSchema,
  deliveryTarget: deliveryTargetSchema.nullable(),
  /** The work directory as the person chose it: the one absolute path a DTO may hold. */
  workDir: boundedText(CONTRACT_LIMITS.maxWorkDirBytes).nullable(),
  model: boundedText(CONTRACT_LIMITS.maxModelBytes).nullable(),
});
export type Contract = Readonly<z.infer<typeof contractSchema>>;

/** One WorkItem whole, at most 512 KiB; every cut is counted. */
export const workItemDetailSchema = z.object({
  id: idSchema,
  storeId: idSchema,
  status: workItemStatusSchema,
  reason: reasonSchema.nullable(),
  revisions: revisionsSchema,
  createdAt: timeSchema,
  updatedAt: timeSchema,
  contract: contractSchema,
  /** null without criteria. */
  goalProgress: goalProgressSchema.nullable(),
  coordinator: z.object({
    status: coordinatorStatusSchema,
    /** What the Coordinator asks; null once it is answered. */
    question: textSchema.nullable(),
    since: timeSchema.nullable(),
  }),
  actions: z.array(actionSummarySchema).max(CONTRACT_LIMITS.maxActions),
  omittedActionCount: countSchema,
  conversation: messagePageSchema,
  needs: z.array(needSchema).max(DTO_LIMITS.maxNeeds),
  omittedNeedCount: countSchema,
  /** Turns and operations whose outcome nobody knows. */
  unknownTurns: z.array(turnSummarySchema).max(DTO_LIMITS.maxNeeds),
  unknownOperations: z.array(operationSummarySchema).max(DTO_LIMITS.maxNeeds),
  statistics: executionStatisticsSchema,
  control: executionControlSchema,
  finalResult: finalResultSchema.nullable(),
  lastEventSeq: countSchema,
  maskedSecretCount: countSchema,
  /** True if anything was cut to keep the byte budget. */
  truncated: z.boolean(),
});
export type WorkItemDetail = Readonly<z.infer<typeof workItemDetailSchema>>;
