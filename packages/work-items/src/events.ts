import { all, type Context, notify, one, run, type Transaction } from '@stint/storage';
import { workItemLimits } from './limits.js';
import type { WorkEvent } from './records.js';
import { type StoredRow, toWorkEvent } from './rows.js';
import { cutText } from './text.js';

/** Channel that every change of a work item notifies after its commit. */
export const workChannel = 'work';

const advanceItem = 'UPDATE work_items SET event_seq = event_seq + 1, updated_at = ? WHERE id = ?';
const insertEvent = `INSERT INTO work_events (item_id, seq, type, action_id, run_id, text, at)
  SELECT id, event_seq, ?, ?, ?, ?, ? FROM work_items WHERE id = ?`;
const selectEvents = 'SELECT * FROM work_events WHERE item_id = ? AND seq > ? ORDER BY seq LIMIT ?';
const selectBoardEvents = 'SELECT * FROM work_events WHERE board_seq > ? ORDER BY board_seq LIMIT ?';

const selectFresh = 'SELECT item_id FROM work_events WHERE board_seq IS NULL LIMIT 1';
const lockBoard = 'SELECT seq FROM work_board WHERE id = 1 FOR NO KEY UPDATE';
const numberFresh = `UPDATE work_events SET board_seq = CAST(? AS BIGINT) + fresh.place
  FROM (SELECT item_id, seq, ROW_NUMBER() OVER (ORDER BY item_id, seq) AS place FROM work_events
    WHERE board_seq IS NULL ORDER BY item_id, seq LIMIT ?) AS fresh
  WHERE work_events.item_id = fresh.item_id AND work_events.seq = fresh.seq`;
const advanceBoard = 'UPDATE work_board SET seq = seq + ? WHERE id = 1';
const selectBoardSeq = 'SELECT seq FROM work_board WHERE id = 1';

export interface NewEvent {
  readonly itemId: string;
  readonly type: string;
  readonly text: string;
  readonly actionId?: string | null;
  readonly runId?: string | null;
}

/**
 * Writes an event with the next number of its item, under the item's lock: a reader who has seen number n of an item has
 * missed none before it. It takes no lock that another item's writer meets; {@link numberEvents} orders events of all items.
 */
export function* writeEvent(ctx: Context, event: NewEvent): Transaction<void> {
  yield* run(advanceItem, [ctx.now, event.itemId]);
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

/** True if there are events that have no board number yet. */
export function* hasFreshEvents(_ctx: Context): Transaction<boolean> {
  return (yield* one(selectFresh)) !== undefined;
}

/**
 * Gives committed events their board numbers, those of one item in the order of the item. Whoever follows the board calls
 * it, in a transaction of its own, until it answers 0: numbers are given out after the commit and one caller at a time, so
 * that a reader who has seen board number n has missed none before it. Only followers meet at the board's lock.
 *
 * @param options.limit most events numbered. @default 500
 */
export function* numberEvents(_ctx: Context, options: { readonly limit?: number } = {}): Transaction<number> {
  const board = yield* one<{ seq: number }>(lockBoard);
  const numbered = yield* run(numberFresh, [Number(board?.seq ?? 0), options.limit ?? 500]);
  if (numbered > 0) yield* run(advanceBoard, [numbered]);
  return numbered;
}

/**
 * Events of all items after board number `since`, oldest first; those that {@link numberEvents} has not seen are left out.
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

/** The last board number given out; 0 before the first. */
export function* lastBoardSeq(_ctx: Context): Transaction<number> {
  const row = yield* one<{ seq: number }>(selectBoardSeq);
  return Number(row?.seq ?? 0);
}
