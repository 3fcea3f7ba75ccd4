import * as z from 'zod';
import { actionDetailSchema } from './action.js';
import { eventPageSchema } from './event.js';
import { DTO_LIMITS } from './limits.js';
import {
  answerQuestionInputSchema,
  createInputSchema,
  extendBudgetInputSchema,
  getActionInputSchema,
  getInputSchema,
  itemCommandInputSchema,
  listDirectoriesInputSchema,
  listInputSchema,
  noInputSchema,
  postMessageInputSchema,
  readEventsInputSchema,
  resolveOperationInputSchema,
  resolveTurnInputSchema,
  resumeBudgetInputSchema,
  retryActionInputSchema,
} from './operation-inputs.js';
import { countSchema, idSchema, reasonSchema } from './scalars.js';
import { directoryListingSchema, settingsSchema } from './settings.js';
import { workItemDetailSchema, workItemSummarySchema } from './work-item.js';

/** One page of the board, newest first. */
export const workItemPageSchema = z.object({
  storeId: idSchema,
  items: z.array(workItemSummarySchema).max(DTO_LIMITS.maxItemsPerPage),
  totalCount: countSchema,
  /** null = this was the last page. */
  nextCursor: z.string().max(512).nullable(),
});
export type WorkItemPage = Readonly<z.infer<typeof workItemPageSchema>>;

/**
 * Answer to every command: the item as it is now. `conflict` is set when the command was made on a revision that has moved or no longer
 * applies; then nothing was changed and `item` holds the current values.
 */
export const commandResultSchema = z.object({
  item: workItemDetailSchema,
  conflict: reasonSchema.nullable(),
});
export type CommandResult = Readonly<z.infer<typeof commandResultSchema>>;

/** Role of an operation: a query changes nothing and may be asked again; a command acts. */
export type OperationRole = 'query' | 'command';

/**
 * Who may ask for it. `owner` = the user the agent belongs to, by whatever client. `person` = that user in person: never a model, a tool, or a process that
 * descends from one.
 */
export type WhoMay = 'owner' | 'person';

interface OperationDefinition<I extends z.ZodType, O extends z.ZodType> {
  readonly input: I;
  readonly output: O;
  readonly role: OperationRole;
  readonly whoMay: WhoMay;
}

function query<I extends z.ZodType, O extends z.ZodType>(input: I, output: O): OperationDefinition<I, O> {
  return Object.freeze({ input, output, role: 'query', whoMay: 'owner' });
}

function command<I extends z.ZodType>(input: I): OperationDefinition<I, typeof commandResultSchema> {
  return Object.freeze({ input, output: commandResultSchema, role: 'command', whoMay: 'person' });
}

/** Every operation a browser can ask an agent for. What is not here does not pass the bridge. */
export const operations = Object.freeze({
  list: query(listInputSchema, workItemPageSchema),
  get: query(getInputSchema, workItemDetailSchema),
  get_action: query(getActionInputSchema, actionDetailSchema),
  read_events: query(readEventsInputSchema, eventPageSchema),
  get_settings: query(noInputSchema, settingsSchema),
  list_directories: query(listDirectoriesInputSchema, directoryListingSchema),
  create: command(createInputSchema),
  start: command(itemCommandInputSchema),
  pause: command(itemCommandInputSchema),
  cancel: command(itemCommandInputSchema),
  resume: command(itemCommandInputSchema),
  retry_action: command(retryActionInputSchema),
  answer_question: command(answerQuestionInputSchema),
  post_message: command(postMessageInputSchema),
  extend_budget: command(extendBudgetInputSchema),
  resume_budget: command(resumeBudgetInputSchema),
  resolve_operation: command(resolveOperationInputSchema),
  resolve_turn: command(resolveTurnInputSchema),
});

export type OperationName = keyof typeof operations;
/** What the caller of an operation sends. */
export type OperationInput<N extends OperationName> = Readonly<z.infer<(typeof operations)[N]['input']>>;
/** What the operation answers with. */
export type OperationOutput<N extends OperationName> = Readonly<z.infer<(typeof operations)[N]['output']>>;

/** True for the name of an operation in the allow-list; names of inherited properties are not. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
