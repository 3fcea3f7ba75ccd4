import { type Context, one, type Transaction } from '@stint/storage';
import { WorkItemsError } from './errors.js';
import type { Action, Run, WorkItem } from './records.js';
import { type StoredRow, toAction, toRun, toWorkItem } from './rows.js';

const lockItemRow = 'SELECT * FROM work_items WHERE id = ? FOR NO KEY UPDATE';
const lockFreeItemRow = `${lockItemRow} SKIP LOCKED`;
const lockActionRow = 'SELECT * FROM work_actions WHERE id = ? FOR NO KEY UPDATE';
const lockRunRow = 'SELECT * FROM work_runs WHERE id = ? FOR NO KEY UPDATE';

/** Locks an item. First lock of every body that changes anything of the item. */
export function* findItemLocked(_ctx: Context, itemId: string): Transaction<WorkItem | undefined> {
  const row = yield* one<StoredRow>(lockItemRow, [itemId]);
  return row === undefined ? undefined : toWorkItem(row);
}

/**
 * Locks an item for a claim, which may as well take another one: undefined at once while someone else changes it. A claim that
 * has locked one item and found it taken waits for no other, so two claims cannot wait for each other.
 */
export function* findFreeItemLocked(_ctx: Context, itemId: string): Transaction<WorkItem | undefined> {
  const row = yield* one<StoredRow>(lockFreeItemRow, [itemId]);
  return row === undefined ? undefined : toWorkItem(row);
}

/** Like {@link findItemLocked}; throws `item_not_found`. */
export function* lockItem(ctx: Context, itemId: string): Transaction<WorkItem> {
  const item = yield* findItemLocked(ctx, itemId);
  if (item === undefined) throw new WorkItemsError('item_not_found', `No work item ${itemId} in this store`);
  return item;
}

/** Locks an Action; its item is locked already. */
export function* findActionLocked(_ctx: Context, actionId: string): Transaction<Action | undefined> {
  const row = yield* one<StoredRow>(lockActionRow, [actionId]);
  return row === undefined ? undefined : toAction(row);
}

/** Like {@link findActionLocked}; throws `action_not_found`, also for an Action of another item. */
export function* lockAction(ctx: Context, itemId: string, actionId: string): Transaction<Action> {
  const action = yield* findActionLocked(ctx, actionId);
  if (action === undefined || action.itemId !== itemId) {
    throw new WorkItemsError('action_not_found', `Work item ${itemId} has no Action ${actionId}`);
  }
  return action;
}

/** Locks a Run; its item and Action are locked already. */
export function* findRunLocked(_ctx: Context, runId: string): Transaction<Run | undefined> {
  const row = yield* one<StoredRow>(lockRunRow, [runId]);
  return row === undefined ? undefined : toRun(row);
}
