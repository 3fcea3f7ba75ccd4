import * as z from 'zod';
import { CONTRACT_LIMITS, DTO_LIMITS } from './limits.js';
import { countSchema, idSchema, lineSchema, openEnum, reasonSchema, textSchema, timeSchema } from './scalars.js';
import { runStatusSchema } from './statuses.js';
import { operationSummarySchema, turnSummarySchema } from './turn.js';

/** What a Run hands over as proof: a text, or a reference to a file, test, link, pull request or commit. */
export const evidenceSchema = z.object({
  kind: openEnum(['text', 'file', 'test', 'link', 'pr', 'commit']),
  value: lineSchema,
});
export type Evidence = Readonly<z.infer<typeof evidenceSchema>>;

/** A Run's judgement of one acceptance criterion. */
export const criterionCheckSchema = z.object({
  criterionId: idSchema,
  status: openEnum(['passed', 'failed', 'deferred', 'not_applicable']),
  evidence: lineSchema,
});
export type CriterionCheck = Readonly<z.infer<typeof criterionCheckSchema>>;

/** Something a Run made: a response in text, files in the workspace, and so on. */
export const outputSchema = z.object({ kind: z.string().max(64), value: textSchema });
export type Output = Readonly<z.infer<typeof outputSchema>>;

/** What a completed Run handed over. */
export const outcomeSchema = z.object({
  summary: textSchema,
  evidence: z.array(evidenceSchema).max(64),
  checks: z.array(criterionCheckSchema).max(CONTRACT_LIMITS.maxCriteria),
  outputs: z.array(outputSchema).max(DTO_LIMITS.maxResponses),
  residualRisks: z.array(lineSchema).max(DTO_LIMITS.maxResidualRisks),
  omittedCount: countSchema,
});
export type Outcome = Readonly<z.infer<typeof outcomeSchema>>;

/** One attempt at an Action, without its turns. */
export const runSummarySchema = z.object({
  id: idSchema,
  actionId: idSchema,
  attempt: countSchema,
  generation: countSchema,
  status: runStatusSchema,
  startedAt: timeSchema,
  endedAt: timeSchema.nullable(),
  reason: reasonSchema.nullable(),
  loops: countSchema,
  toolCalls: countSchema,
  failedToolCalls: countSchema,
});
export type RunSummary = Readonly<z.infer<typeof runSummarySchema>>;

/** One attempt at an Action with outcome, turns and operations; the newest are kept when some are cut. */
export const runDetailSchema = runSummarySchema.extend({
  outcome: outcomeSchema.nullable(),
  turns: z.array(turnSummarySchema).max(DTO_LIMITS.maxTurnsPerRun),
  omittedTurnCount: countSchema,
  operations: z.array(operationSummarySchema).max(DTO_LIMITS.maxTurnsPerRun),
  omittedOperationCount: countSchema,
  truncated: z.boolean(),
});
export type RunDetail = Readonly<z.infer<typeof runDetailSchema>>;
