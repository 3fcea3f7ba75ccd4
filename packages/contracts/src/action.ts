import * as z from 'zod';
import { CONTRACT_LIMITS, DTO_LIMITS } from './limits.js';
import { countSchema, idSchema, lineSchema, reasonSchema, textSchema, timeSchema } from './scalars.js';
import { outcomeSchema, runDetailSchema, runSummarySchema } from './run.js';
import { actionKindSchema, actionStatusSchema, workspaceModeSchema } from './statuses.js';

const dependenciesSchema = z.array(idSchema).max(CONTRACT_LIMITS.maxActions);

/** What is to be done in one Action. */
export const briefSchema = z.object({ objective: textSchema, approach: textSchema, expectedResult: textSchema });
export type Brief = Readonly<z.infer<typeof briefSchema>>;

/** What an Action took. Its requests and tokens are those of its Runs. */
export const actionStatisticsSchema = z.object({
  runs: countSchema,
  requests: countSchema,
  tokens: countSchema,
  loops: countSchema,
  toolCalls: countSchema,
  failedToolCalls: countSchema,
});
export type ActionStatistics = Readonly<z.infer<typeof actionStatisticsSchema>>;

/** One step of the plan. Bodies (`brief`, `outcome`) are null when the budget of the whole DTO made no room for them. */
export const actionSummarySchema = z.object({
  id: idSchema,
  slug: idSchema,
  kind: actionKindSchema,
  status: actionStatusSchema,
  workspaceMode: workspaceModeSchema,
  checkpoint: z.boolean(),
  generation: countSchema,
  attempt: countSchema,
  /** Slugs of Actions of the same item. */
  dependencies: dependenciesSchema,
  /** One line for lists and graphs: the beginning of the objective. */
  headline: lineSchema,
  brief: briefSchema.nullable(),
  attempts: z.object({ used: countSchema, maximum: countSchema.nullable(), exhausted: z.boolean() }),
  /** What a person is asked; null once it is answered. */
  question: textSchema.nullable(),
  reason: reasonSchema.nullable(),
  latestRun: runSummarySchema.nullable(),
  outcome: outcomeSchema.nullable(),
  /** null when it was compacted away. */
  statistics: actionStatisticsSchema.nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  truncated: z.boolean(),
});
export type ActionSummary = Readonly<z.infer<typeof actionSummarySchema>>;

/** One Action with its attempts, newest first. */
export const actionDetailSchema = actionSummarySchema.extend({
  itemId: idSchema,
  runs: z.array(runDetailSchema).max(DTO_LIMITS.maxRunsPerAction),
  omittedRunCount: countSchema,
  pendingInputs: z.array(lineSchema).max(64),
});
export type ActionDetail = Readonly<z.infer<typeof actionDetailSchema>>;
