import { type Context, one, run, type Transaction } from '@stint/storage';
import { applied, appliedBefore, type CommandResult } from './commands.js';
import { WorkItemsError } from './errors.js';
import { writeEvent } from './events.js';
import { isEnded } from './items.js';
import { workItemLimits } from './limits.js';
import { lockItem } from './lock.js';
import { wakeCoordinator } from './mailbox.js';
import { closeQuestion, listOpenQuestions } from './questions.js';
import type { Message, WorkItem } from './records.js';
import { settleItem } from './settle-item.js';
import { boundedText, cutText } from './text.js';

const nextMessageSeq = 'SELECT COALESCE(MAX(seq), 0) + 1 AS seq FROM work_messages WHERE item_id = ?';
const insertMessage = `INSERT INTO work_messages (id, item_id, seq, role, text, client_message_id, coordinator_turn_id,
  created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const insertClientMessage = `INSERT INTO work_client_messages (item_id, client_message_id, target, record_id)
  VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const selectClientMessage =
  'SELECT target, record_id FROM work_client_messages WHERE item_id = ? AND client_message_id = ?';

export interface PostMessageInput {
  readonly itemId: string;
  readonly text: string;
  /** The same id again is the same message; with another target it is an error. */
  readonly clientMessageId: string;
}

/**
 * A person's message to the Coordinator; it answers the Coordinator's open question if there is one. In a draft it is
 * kept for the start. Throws `item_finished` for a done or cancelled item.
 */
export function* postMessage(ctx: Context, input: PostMessageInput): Transaction<CommandResult> {
  boundedText('text', input.text, workItemLimits.messageBytes);
  const item = yield* lockItem(ctx, input.itemId);
  const messageId = ctx.newId();
  if (!(yield* claimClientMessage(ctx, { ...input, target: 'coordinator', recordId: messageId }))) return appliedBefore;
  refuseEnded(item, 'say something to it');
  for (const question of yield* listOpenQuestions(ctx, item.id)) {
    if (question.actionId === null) yield* closeQuestion(ctx, question, input.text);
  }
  yield* postAsPerson(ctx, item, { id: messageId, text: input.text, clientMessageId: input.clientMessageId });
  return applied;
}

/** Writes a person's message and wakes the Coordinator of a started item. */
export function* postAsPerson(
  ctx: Context,
  item: WorkItem,
  message: { readonly id: string; readonly text: string; readonly clientMessageId: string | null },
): Transaction<void> {
  yield* writeMessage(ctx, { ...message, itemId: item.id, role: 'user' });
  if (item.startedAt !== null) {
    const sourceKey = `message:${message.id}`;
    const payload = { messageId: message.id };
    yield* wakeCoordinator(ctx, { itemId: item.id, kind: 'message', sourceKey, payload });
  }
  yield* settleItem(ctx, item.id);
}

/**
 * Takes a client's id for a record. False: the same client said the same before, and nothing more is to be done.
 * Throws `client_message_conflict` when the id was used for another target.
 */
export function* claimClientMessage(
  _ctx: Context,
  claim: {
    readonly itemId: string;
    readonly clientMessageId: string;
    readonly target: string;
    readonly recordId: string;
  },
): Transaction<boolean> {
  boundedText('clientMessageId', claim.clientMessageId, workItemLimits.idBytes);
  const { itemId, clientMessageId, target, recordId } = claim;
  if ((yield* run(insertClientMessage, [itemId, clientMessageId, target, recordId])) === 1) return true;
  const first = yield* one<{ target: string }>(selectClientMessage, [itemId, clientMessageId]);
  if (first?.target === target) return false;
  throw new WorkItemsError(
    'client_message_conflict',
    `Message id ${clientMessageId} was used for ${first?.target ?? 'another target'}; give the one to ${target} an id of its own`,
  );
}

/** Throws `item_finished` for an item that is done or cancelled. */
export function refuseEnded(item: WorkItem, wish: string): void {
  if (!isEnded(item)) return;
  const next =
    item.finalResult === null ? `resume it first: stint resume ${item.id}` : 'make a new item that follows it';
  const state = item.finalResult === null ? 'cancelled' : 'done';
  throw new WorkItemsError('item_finished', `Work item ${item.id} is ${state}; to ${wish}, ${next}`);
}

/** Writes a message with the next number of its item. The Coordinator's words are cut to the bound, a person's are not. */
export function* writeMessage(
  ctx: Context,
  message: {
    readonly id?: string;
    readonly itemId: string;
    readonly role: Message['role'];
    readonly text: string;
    readonly clientMessageId?: string | null;
    readonly coordinatorTurnId?: string;
  },
): Transaction<string> {
  const id = message.id ?? ctx.newId();
  const next = yield* one<{ seq: number }>(nextMessageSeq, [message.itemId]);
  const text = cutText(message.text, workItemLimits.messageBytes);
  yield* run(insertMessage, [
    id,
    message.itemId,
    Number(next?.seq ?? 1),
    message.role,
    text,
    message.clientMessageId ?? null,
    message.coordinatorTurnId ?? null,
    ctx.now,
  ]);
  yield* writeEvent(ctx, { itemId: message.itemId, type: `message.${message.role}`, text });
  return id;
}
