import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { readOutlines } from './action-outlines.js';
import { workItemLimits } from './limits.js';
import { type DerivedStatus, deriveStatus, type StatusInput } from './derive-status.js';
import { writeEvent } from './events.js';
import { lockItem } from './lock.js';
import type { ItemStatus } from './records.js';
import { type StoredRow, toQuestion } from './rows.js';
import { cutText } from './text.js';

const countOpenMailbox = "SELECT COUNT(*) AS count FROM work_mailbox WHERE item_id = ? AND status <> 'done'";
const countThinking = "SELECT COUNT(*) AS count FROM work_coordinator_turns WHERE item_id = ? AND status = 'thinking'";
const selectOpenQuestions = "SELECT * FROM work_questions WHERE item_id = ? AND status = 'asked' ORDER BY asked_at, id";
const updateStatus = `UPDATE work_items SET status = ?, attention_code = ?, attention_message = ?,
  attention_command = ?, attention_ref = ?, updated_at = ? WHERE id = ?`;

/**
 * Derives the item's status and stores it if it changed, with an event. The only writer of `work_items.status`; the
 * last step of every body that changed an input of {@link deriveStatus}.
 */
export function* settleItem(ctx: Context, itemId: string): Transaction<ItemStatus> {
  const item = yield* lockItem(ctx, itemId);
  const derived = deriveStatus(yield* readStatusInput(ctx, itemId));
  if (derived.status === item.status && sameAttention(derived.attention, item.attention)) return item.status;
  const { attention } = derived;
  yield* run(updateStatus, [
    derived.status,
    attention?.code ?? null,
    attention === null ? null : cutText(attention.message, workItemLimits.lineBytes),
    attention?.command ?? null,
    attention?.ref ?? null,
    ctx.now,
    itemId,
  ]);
  yield* writeEvent(ctx, { itemId, type: `item.${derived.status}`, text: attention?.message ?? derived.status });
  return derived.status;
}

/** Reads what {@link deriveStatus} needs. */
export function* readStatusInput(ctx: Context, itemId: string): Transaction<StatusInput> {
  const item = yield* lockItem(ctx, itemId);
  const mailbox = yield* one<{ count: number }>(countOpenMailbox, [itemId]);
  const thinking = yield* one<{ count: number }>(countThinking, [itemId]);
  const questions = yield* all<StoredRow>(selectOpenQuestions, [itemId]);
  return {
    item,
    actions: yield* readOutlines(ctx, itemId),
    thinking: Number(thinking?.count ?? 0) > 0,
    openMailboxCount: Number(mailbox?.count ?? 0),
    openQuestions: questions.map(toQuestion),
  };
}

function sameAttention(a: DerivedStatus['attention'], b: DerivedStatus['attention']): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.code === b.code &&
    a.command === b.command &&
    a.ref === b.ref &&
    cutText(a.message, workItemLimits.lineBytes) === b.message
  );
}
