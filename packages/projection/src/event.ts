import { cutToBytes, type Event, type WorkItemSummary } from '@stint/contracts';
import type { EventRecord } from './records.js';
import { createRedactor, type RedactionOptions } from './redact.js';
import { TextGate } from './texts.js';

const MAX_TYPE_BYTES = 64;

/** What an event is made from. */
export interface EventSources {
  readonly storeId: string;
  readonly event: EventRecord;
  /** The item as it is now; null for an old event that is read again. */
  readonly summary: WorkItemSummary | null;
}

/** One stored event. Costs the same however many came before it. */
export function toEvent({ storeId, event, summary }: EventSources, redaction: RedactionOptions): Event {
  return {
    storeId,
    itemId: event.itemId,
    seq: event.seq,
    at: event.at,
    type: cutToBytes(event.type, MAX_TYPE_BYTES),
    actionId: event.actionId,
    runId: event.runId,
    text: new TextGate(createRedactor(redaction)).line(event.text),
    summary,
  };
}
