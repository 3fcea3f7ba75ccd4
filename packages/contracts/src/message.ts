import * as z from 'zod';
import { DTO_LIMITS } from './limits.js';
import { countSchema, idSchema, openEnum, textSchema, timeSchema } from './scalars.js';

/** One message of the conversation between a person and the Coordinator. */
export const messageSchema = z.object({
  id: idSchema,
  seq: countSchema,
  author: openEnum(['person', 'coordinator', 'system']),
  text: textSchema,
  /** The Action it is addressed to or speaks of; null = the item. */
  actionId: idSchema.nullable(),
  clientMessageId: idSchema.nullable(),
  /** `thinking` is a placeholder of a Coordinator turn that has not ended. */
  state: openEnum(['done', 'thinking', 'failed']),
  createdAt: timeSchema,
  truncated: z.boolean(),
});
export type Message = Readonly<z.infer<typeof messageSchema>>;

/** The newest messages, oldest first. `get` with `messagesBefore` = `before` reads the ones before them. */
export const messagePageSchema = z.object({
  messages: z.array(messageSchema).max(DTO_LIMITS.maxMessagesPerPage),
  omittedMessageCount: countSchema,
  /** The seq to ask before for older ones; null = nothing is older. */
  before: countSchema.nullable(),
});
export type MessagePage = Readonly<z.infer<typeof messagePageSchema>>;
