import * as z from 'zod';
import { CONTRACT_LIMITS, DTO_LIMITS } from './limits.js';
import { boundedText, countSchema, idSchema, personText } from './scalars.js';

const limitSchema = countSchema.nullable().optional();
const additionSchema = z.int().min(1).optional();

/** A budget a person gives when an item is created. Absent = the agent's default; null = no cap of its own; 0 = deny all. */
export const budgetInputSchema = z.strictObject({
  maxRequests: limitSchema,
  maxTokens: limitSchema,
  maxCostMicros: limitSchema,
});
export type BudgetInput = Readonly<z.infer<typeof budgetInputSchema>>;

export const listInputSchema = z.strictObject({
  /** The `nextCursor` of the page before; absent = the first page. */
  cursor: z.string().max(512).optional(),
  limit: z.int().min(1).max(DTO_LIMITS.maxItemsPerPage).optional(),
});

export const getInputSchema = z.strictObject({
  itemId: idSchema,
  /** The Action whose body is kept longest when the byte budget is short. */
  currentActionId: idSchema.optional(),
  /** Read messages older than this seq. */
  messagesBefore: countSchema.optional(),
});

export const getActionInputSchema = z.strictObject({ itemId: idSchema, actionId: idSchema });

export const readEventsInputSchema = z.strictObject({ itemId: idSchema, since: countSchema });

export const createInputSchema = z.strictObject({
  /** The same id again answers with the item made the first time. */
  clientMessageId: idSchema,
  /** Absent = made from the goal. */
  title: personText(CONTRACT_LIMITS.maxTitleBytes).optional(),
  goal: personText(CONTRACT_LIMITS.maxGoalBytes),
  /** One text a criterion; the agent gives the ids. */
  acceptanceCriteria: z.array(personText(CONTRACT_LIMITS.maxCriterionBytes)).max(CONTRACT_LIMITS.maxCriteria),
  workDir: boundedText(CONTRACT_LIMITS.maxWorkDirBytes).nullable(),
  /** null = ask before anything is delivered. */
  deliveryTarget: z.enum(['response', 'workspace_files']).nullable(),
  /** `provider:name`; absent = the agent's default. */
  model: personText(CONTRACT_LIMITS.maxModelBytes).optional(),
  budget: budgetInputSchema.optional(),
  /** true = plan and work now; false = keep as a draft. */
  start: z.boolean(),
});

/** A command on an item, made while it showed this `revision`. */
export const itemCommandInputSchema = z.strictObject({ itemId: idSchema, expectedRevision: countSchema });

export const retryActionInputSchema = z.strictObject({
  itemId: idSchema,
  actionId: idSchema,
  expectedGeneration: countSchema,
});

export const answerQuestionInputSchema = z.strictObject({
  itemId: idSchema,
  /** The `questionId` of the need that is answered. */
  questionId: idSchema,
  /** The Action that asks; null = the Coordinator. */
  actionId: idSchema.nullable(),
  text: personText(CONTRACT_LIMITS.maxMessageBytes),
  /** The same id again is the same answer. */
  clientMessageId: idSchema,
});

export const postMessageInputSchema = z.strictObject({
  itemId: idSchema,
  text: personText(CONTRACT_LIMITS.maxMessageBytes),
  /** The same id again is the same message. */
  clientMessageId: idSchema,
});

export const extendBudgetInputSchema = z.strictObject({
  itemId: idSchema,
  /** `control.revision` the person saw. */
  expectedBudgetRevision: countSchema,
  /** What is added to each limit; at least one. */
  additions: z
    .strictObject({
      maxRequests: additionSchema,
      maxTokens: additionSchema,
      maxCostMicros: additionSchema,
      maxRunRequests: additionSchema,
      maxAttempts: additionSchema,
      maxConsecutiveFailures: additionSchema,
    })
    .refine((additions) => Object.values(additions).some((value) => value !== undefined), {
      error: 'must name at least one limit',
    }),
});

export const resumeBudgetInputSchema = z.strictObject({ itemId: idSchema, expectedBudgetRevision: countSchema });

export const resolveOperationInputSchema = z.strictObject({
  itemId: idSchema,
  operationId: idSchema,
  /** What the person found: the effect is there, or it is not. */
  effect: z.enum(['applied', 'no_effect']),
});

export const resolveTurnInputSchema = z.strictObject({
  itemId: idSchema,
  turnId: idSchema,
  resolution: z.discriminatedUnion('kind', [
    /** Send it again; the unknown one stays charged. */
    z.strictObject({ kind: z.literal('retry') }),
    /** The provider's bill says so much. */
    z.strictObject({ kind: z.literal('usage'), inputTokens: countSchema, outputTokens: countSchema }),
    /** The provider's bill does not have it. */
    z.strictObject({ kind: z.literal('not_billed') }),
  ]),
});

export const listDirectoriesInputSchema = z.strictObject({
  /** null = where the agent's user starts. */
  path: boundedText(CONTRACT_LIMITS.maxWorkDirBytes).nullable(),
  showHidden: z.boolean().optional(),
});

export const noInputSchema = z.strictObject({});
