import { all, type Context, notify, one, run, type Transaction } from '@stint/storage';
import { workItemLimits } from './limits.js';
import type { WorkEvent } from './records.js';
import { type StoredRow, toWorkEvent } from './rows.js';
import { cutText } from './text.js';

/** Channel that every change of a work item notifies after its commit. */
export const workChannel = 'work';

const advanceItem = 'UPDATE work_items SET event_seq = event_seq + 1, updated_at = ? WHERE id = ?';
const advanceBoard = 'UPDATE work_board SET seq = seq + 1 WHERE id = 1';
const insertEvent = `INSERT INTO work_events (item_id, seq, board_seq, type, action_id, run_id, text, at)
  SELECT i.id, i.event_seq, b.seq, ?, ?, ?, ?, ? FROM work_items i, work_board b WHERE i.id = ? AND b.id = 1`;
const selectEvents = 'SELECT * FROM work_events WHERE item_id = ? AND seq > ? ORDER BY seq LIMIT ?';
const selectBoardEvents = 'SELECT * FROM work_events WHERE board_seq > ? ORDER BY board_seq LIMIT ?';

const selectBoardSeq = 'SELECT seq FROM work_board WHERE id = 1';

export interface NewEvent {
  readonly itemId: string;
  readonly type: string;
  readonly text: string;
  readonly actionId?: string | null;
  readonly runId?: string | null;
}

/**
 * Writes an event. Its numbers are taken here, under the item's lock and then the board's, so that a reader who has
 * seen number n has missed none before it. Call it after the row locks of the transaction: the board is the last.
 */
export function* writeEvent(ctx: Context, event: NewEvent): Transaction<void> {
  yield* run(advanceItem, [ctx.now, event.itemId]);
  yield* run(advanceBoard);
  const line = cutText(event.text, workItemLimits.lineBytes);
  yield* run(insertEvent, [event.type, event.actionId ?? null, event.runId ?? null, line, ctx.now, event.itemId]);
  yield* notify(workChannel);
}

/**
 * Events of one item after `since`, oldest first.
 *
 * @param options.limit most events answered. @default 200
 */
export function* readEvents(
  _ctx: Context,
  options: { readonly itemId: string; readonly since: number; readonly limit?: number },
): Transaction<readonly WorkEvent[]> {
  const rows = yield* all<StoredRow>(selectEvents, [options.itemId, options.since, options.limit ?? 200]);
  return rows.map(toWorkEvent);
}

/**
 * Events of all items after board number `since`, oldest first.
 *
 * @param options.limit most events answered. @default 200
 */
export function* readBoardEvents(
  _ctx: Context,
  options: { readonly since: number; readonly limit?: number },
): Transaction<readonly WorkEvent[]> {
  const rows = yield* all<StoredRow>(selectBoardEvents, [options.since, options.limit ?? 200]);
  return rows.map(toWorkEvent);
}

/** Board number of the last event of all items; 0 before the first. */
export function* lastBoardSeq(_ctx: Context): Transaction<number> {
  const row = yield* one<{ seq: number }>(selectBoardSeq);
  return Number(row?.seq ?? 0);
}
