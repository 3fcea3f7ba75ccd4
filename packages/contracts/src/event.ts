import * as z from 'zod';
import { countSchema, idSchema, lineSchema, timeSchema, boundedText } from './scalars.js';
import { executionControlSchema } from './execution.js';
import { DTO_LIMITS } from './limits.js';
import { workItemSummarySchema } from './work-item.js';

/**
 * Something that happened to a WorkItem and is stored. `seq` grows by one within an item. An event type the reader does not know still
 * moves its cursor and is shown by `type` and `text`.
 */
export const eventSchema = z.object({
  storeId: idSchema,
  itemId: idSchema,
  seq: countSchema,
  at: timeSchema,
  /** Noun and verb, such as `action.completed`. */
  type: z.string().min(1).max(64),
  actionId: idSchema.nullable(),
  runId: idSchema.nullable(),
  text: lineSchema,
  /** The item as it is now; null when the event is an old one that is read again. */
  summary: workItemSummarySchema.nullable(),
});
export type Event = Readonly<z.infer<typeof eventSchema>>;

/**
 * What is going on this moment; not stored, may be skipped, and the newest for the same `itemId` and `actionId` replaces the ones before.
 */
export const progressSchema = z.object({
  storeId: idSchema,
  itemId: idSchema,
  /** null = the Coordinator. */
  actionId: idSchema.nullable(),
  runId: idSchema.nullable(),
  at: timeSchema,
  /** One line: what runs. */
  activity: lineSchema,
  /** The end of what the model wrote in this turn. */
  liveText: boundedText(DTO_LIMITS.maxLiveTextBytes),
  /** Budget figures, ordered by their `version`; null = not moved. */
  control: executionControlSchema.nullable(),
});
export type Progress = Readonly<z.infer<typeof progressSchema>>;

/** Events after `since`; `resync` = too many were missed or the store is another one: read the item again. */
export const eventPageSchema = z.object({
  storeId: idSchema,
  events: z.array(eventSchema).max(DTO_LIMITS.maxEventsPerPage),
  resync: z.boolean(),
});
export type EventPage = Readonly<z.infer<typeof eventPageSchema>>;
