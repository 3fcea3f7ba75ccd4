import { DTO_LIMITS, type Message, type MessagePage } from '@stint/contracts';
import type { ItemRecords, MessageRecord } from './records.js';
import type { TextGate } from './texts.js';

/** The newest messages, oldest first. */
export function toMessagePage(records: Pick<ItemRecords, 'messages' | 'messageCount'>, gate: TextGate): MessagePage {
  const newest = records.messages.slice(-DTO_LIMITS.maxMessagesPerPage);
  const messages = newest.map((message) => toMessage(message, gate));
  return messagePageOf(messages, records.messageCount);
}

/** Counts what is not in the page. `messageCount` is that of the whole conversation. */
export function messagePageOf(messages: Message[], messageCount: number): MessagePage {
  const oldest = messages[0];
  const omittedMessageCount = Math.max(0, messageCount - messages.length);
  const hasOlder = oldest !== undefined && oldest.seq > 1 && omittedMessageCount > 0;
  return { messages, omittedMessageCount, before: hasOlder ? oldest.seq : null };
}

/** One message, redacted and bounded. */
export function toMessage(message: MessageRecord, gate: TextGate): Message {
  const { text, truncated } = gate.show(message.text, DTO_LIMITS.maxTextBytes);
  return {
    id: message.id,
    seq: message.seq,
    author: AUTHORS[message.role] ?? 'system',
    text,
    actionId: null,
    clientMessageId: message.clientMessageId,
    state: 'done',
    createdAt: message.createdAt,
    truncated,
  };
}

const AUTHORS: Readonly<Record<string, Message['author']>> = { user: 'person', coordinator: 'coordinator' };
