import { all, type Context, type Transaction } from '@stint/storage';
import type { Action } from './records.js';
import { type StoredRow, toActionOutline } from './rows.js';

/** Without briefs and outcomes, which are large: a transaction that looks over a whole plan costs a row of names each. */
const selectOutlines = `SELECT id, item_id, slug, kind, status, attention_code, attention_message, attention_ref,
  dependencies, checkpoint FROM work_actions WHERE item_id = ? ORDER BY ordinal`;

/** What the state of a plan hangs on. */
export type ActionOutline = Pick<
  Action,
  'id' | 'itemId' | 'slug' | 'kind' | 'status' | 'attention' | 'dependencies' | 'checkpoint'
>;

/** All Actions of an item in outline. Under the item's lock they stand still: every change of an Action takes it first. */
export function* readOutlines(_ctx: Context, itemId: string): Transaction<readonly ActionOutline[]> {
  return (yield* all<StoredRow>(selectOutlines, [itemId])).map(toActionOutline);
}
