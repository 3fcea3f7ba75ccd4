import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { type CheckedContract, checkContract, type ContractInput } from './contract.js';
import { invalidField } from './errors.js';
import { writeEvent } from './events.js';
import { workItemLimits } from './limits.js';
import type { ItemStatus, WorkItem } from './records.js';
import { type StoredRow, toWorkItem } from './rows.js';
import { boundedText } from './text.js';

const insertItem = `INSERT INTO work_items (id, status, title, goal, criteria, criteria_issued, delivery_target,
  work_dir, workspace_key, model, attachments, origin_session_id, on_unknown_request, max_attempts, creation_key,
  revision, plan_revision, results_revision, coordinator_revision, event_seq, created_at, updated_at)
  VALUES (?, 'draft', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, ?, ?) ON CONFLICT DO NOTHING`;
const countCreated = 'UPDATE work_board SET item_count = item_count + 1 WHERE id = 1';
const selectCount = 'SELECT item_count FROM work_board WHERE id = 1';
const selectByCreationKey = 'SELECT id FROM work_items WHERE creation_key = ?';
const selectItem = 'SELECT * FROM work_items WHERE id = ?';
const selectIdRange = `SELECT id FROM work_items WHERE id >= ? AND (CAST(? AS TEXT) IS NULL OR id < ?)
  ORDER BY id LIMIT ?`;
const selectActionIdRange = `SELECT id FROM work_actions WHERE id >= ? AND (CAST(? AS TEXT) IS NULL OR id < ?)
  ORDER BY id LIMIT ?`;
const selectPage = 'SELECT * FROM work_items WHERE (CAST(? AS TEXT) IS NULL OR id < ?) ORDER BY id DESC LIMIT ?';
const selectPageByStatus = `SELECT * FROM work_items WHERE (CAST(? AS TEXT) IS NULL OR id < ?) AND status = ?
  ORDER BY id DESC LIMIT ?`;

export interface CreateWorkItemInput extends ContractInput {
  /** @default a new UUIDv7 */
  readonly id?: string;
  /** The same id again answers with the item made the first time. */
  readonly clientMessageId?: string;
}

/**
 * Writes a draft. Answers its id, and `created: false` with the first item's id when `clientMessageId` (or `id`) was
 * used before. Throws `invalid_field` when the contract breaks a bound.
 */
export function* createWorkItem(
  ctx: Context,
  input: CreateWorkItemInput,
): Transaction<{ readonly itemId: string; readonly created: boolean }> {
  const contract = checkContract(input);
  const creationKey = input.clientMessageId ?? null;
  if (creationKey !== null) boundedText('clientMessageId', creationKey, workItemLimits.idBytes);
  const itemId = checkItemId(input.id ?? ctx.newId());
  const inserted = yield* run(insertItem, [itemId, ...contractColumns(contract), creationKey, ctx.now, ctx.now]);
  if (inserted === 0) return { itemId: yield* firstItemId(itemId, creationKey), created: false };
  yield* run(countCreated);
  yield* writeEvent(ctx, { itemId, type: 'item.created', text: contract.title });
  return { itemId, created: true };
}

function* firstItemId(itemId: string, creationKey: string | null): Transaction<string> {
  if (creationKey === null) return itemId;
  const first = yield* one<{ id: string }>(selectByCreationKey, [creationKey]);
  return first?.id ?? itemId;
}

function checkItemId(id: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(id)) return id;
  throw invalidField('id', `${JSON.stringify(id)} is not made of letters, digits, - and _ only`);
}

function contractColumns(contract: CheckedContract): (string | number | null)[] {
  return [
    contract.title,
    contract.goal,
    JSON.stringify(contract.acceptanceCriteria),
    contract.acceptanceCriteria.length,
    contract.deliveryTarget,
    contract.workDir,
    contract.workspaceKey,
    contract.model,
    JSON.stringify(contract.attachments),
    contract.originSessionId,
    contract.onUnknownRequest,
    contract.maxAttempts,
  ];
}

/** The item, or undefined. */
export function* getWorkItem(_ctx: Context, itemId: string): Transaction<WorkItem | undefined> {
  const row = yield* one<StoredRow>(selectItem, [itemId]);
  return row === undefined ? undefined : toWorkItem(row);
}

export interface ListWorkItemsOptions {
  /** Id of the last item of the page before. @default the newest first */
  readonly before?: string;
  /** @default any */
  readonly status?: ItemStatus;
  /** @default 100 */
  readonly limit?: number;
}

/** A page of items, newest first. Ids are in the order of creation. */
export function* listWorkItems(_ctx: Context, options: ListWorkItemsOptions = {}): Transaction<readonly WorkItem[]> {
  const before = options.before ?? null;
  const limit = options.limit ?? 100;
  const rows =
    options.status === undefined
      ? yield* all<StoredRow>(selectPage, [before, before, limit])
      : yield* all<StoredRow>(selectPageByStatus, [before, before, options.status, limit]);
  return rows.map(toWorkItem);
}

/** How many items the store holds; a kept counter, not a scan. */
export function* countItems(_ctx: Context): Transaction<number> {
  const row = yield* one<{ item_count: number }>(selectCount);
  return Number(row?.item_count ?? 0);
}

/** Ids of items that begin with `prefix`, in order; at most `limit`. */
export function* findItemIds(_ctx: Context, prefix: string, limit: number): Transaction<readonly string[]> {
  const rows = yield* all<{ id: string }>(selectIdRange, [prefix, endOfRange(prefix), endOfRange(prefix), limit]);
  return rows.map((row) => row.id);
}

/** The first text after all that begin with `prefix`; null: no end. Ids are ASCII. */
function endOfRange(prefix: string): string | null {
  if (prefix === '') return null;
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

/** Ids `<itemId>/<slug>` of Actions that begin with `prefix`, in order; at most `limit`. */
export function* findActionIds(_ctx: Context, prefix: string, limit: number): Transaction<readonly string[]> {
  const rows = yield* all<{ id: string }>(selectActionIdRange, [prefix, endOfRange(prefix), endOfRange(prefix), limit]);
  return rows.map((row) => row.id);
}

/** True once an item is done or cancelled. */
export function isEnded(item: Pick<WorkItem, 'finalResult' | 'cancelledAt'>): boolean {
  return item.finalResult !== null || item.cancelledAt !== null;
}
