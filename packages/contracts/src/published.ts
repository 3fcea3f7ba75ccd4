import type * as z from 'zod';
import { actionDetailSchema } from './action.js';
import { eventPageSchema, eventSchema, progressSchema } from './event.js';
import {
  agentFrameSchema,
  bridgeToAgentFrameSchema,
  bridgeToBrowserFrameSchema,
  browserFrameSchema,
} from './frames.js';
import { commandResultSchema, operations, workItemPageSchema } from './operations.js';
import { runDetailSchema } from './run.js';
import { directoryListingSchema, settingsSchema } from './settings.js';
import { turnDetailSchema } from './turn.js';
import { workItemDetailSchema, workItemSummarySchema } from './work-item.js';

/** `in` = read strictly by the newer side (requests); `out` = read leniently by both sides (DTOs). */
export type Direction = 'in' | 'out';

export interface PublishedSchema {
  readonly schema: z.ZodType;
  readonly direction: Direction;
}

const out = (schema: z.ZodType): PublishedSchema => ({ schema, direction: 'out' });
const incoming = (schema: z.ZodType): PublishedSchema => ({ schema, direction: 'in' });

/** Every schema that is a promise to other versions, by the name of its file in `schemas/`. */
export function publishedSchemas(): Readonly<Record<string, PublishedSchema>> {
  const inputs = Object.entries(operations).map(([name, { input }]) => [`input-${name}`, incoming(input)] as const);
  return {
    'work-item-summary': out(workItemSummarySchema),
    'work-item-detail': out(workItemDetailSchema),
    'work-item-page': out(workItemPageSchema),
    'action-detail': out(actionDetailSchema),
    'run-detail': out(runDetailSchema),
    'turn-detail': out(turnDetailSchema),
    event: out(eventSchema),
    'event-page': out(eventPageSchema),
    progress: out(progressSchema),
    settings: out(settingsSchema),
    'directory-listing': out(directoryListingSchema),
    'command-result': out(commandResultSchema),
    'frame-agent': out(agentFrameSchema),
    'frame-bridge-to-browser': out(bridgeToBrowserFrameSchema),
    'frame-browser': incoming(browserFrameSchema),
    'frame-bridge-to-agent': incoming(bridgeToAgentFrameSchema),
    ...Object.fromEntries(inputs),
  };
}
