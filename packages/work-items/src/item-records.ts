import { all, type Context, one, type Transaction } from '@stint/storage';
import { getWorkItem } from './items.js';
import type {
  Action,
  ActionInput,
  CoordinatorTurn,
  MailboxEntry,
  Message,
  Question,
  Run,
  WorkItem,
} from './records.js';
import {
  type StoredRow,
  toAction,
  toActionInput,
  toCoordinatorTurn,
  toMailboxEntry,
  toMessage,
  toQuestion,
  toRun,
} from './rows.js';

const selectAction = 'SELECT * FROM work_actions WHERE id = ?';
const selectActions = 'SELECT * FROM work_actions WHERE item_id = ? ORDER BY ordinal';
const selectRun = 'SELECT * FROM work_runs WHERE id = ?';
const selectRunsOfAction = 'SELECT * FROM work_runs WHERE action_id = ? ORDER BY started_at, id';
const selectRuns = 'SELECT * FROM work_runs WHERE item_id = ? ORDER BY started_at, id';
const selectNewestRuns = `SELECT r.* FROM work_actions a JOIN work_runs r ON r.id =
  (SELECT n.id FROM work_runs n WHERE n.action_id = a.id ORDER BY n.started_at DESC, n.id DESC LIMIT 1)
  WHERE a.item_id = ? ORDER BY r.started_at, r.id`;
const selectRunIds = `SELECT id, action_id AS "actionId" FROM work_runs WHERE item_id = ? ORDER BY started_at, id`;
const selectMessages = 'SELECT * FROM work_messages WHERE item_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?';
const countMessages = 'SELECT COUNT(*) AS count FROM work_messages WHERE item_id = ?';
const selectOpenQuestions = "SELECT * FROM work_questions WHERE item_id = ? AND status = 'asked' ORDER BY asked_at, id";
const selectOpenInputs =
  "SELECT * FROM work_inputs WHERE item_id = ? AND status IN ('pending', 'bound') ORDER BY action_id, seq";
const selectOpenMailbox = "SELECT * FROM work_mailbox WHERE item_id = ? AND status <> 'done' ORDER BY created_at, id";
const selectThinking = "SELECT * FROM work_coordinator_turns WHERE item_id = ? AND status = 'thinking'";
const selectTurn = 'SELECT * FROM work_coordinator_turns WHERE id = ?';
const selectTurnsOfEntry = 'SELECT * FROM work_coordinator_turns WHERE mailbox_id = ? ORDER BY started_at, id';
const selectHolds = 'SELECT workspace_key, run_id, owner FROM work_holds WHERE item_id = ? ORDER BY workspace_key';

/** One item with all that a page or a prompt shows of it. */
export interface ItemRecords {
  readonly item: WorkItem;
  /** In the order they were planned. */
  readonly actions: readonly Action[];
  /** Oldest first: all, or those that were asked for. */
  readonly runs: readonly Run[];
  /** The newest ones, oldest first. */
  readonly messages: readonly Message[];
  /** All there are, those not answered included. */
  readonly messageCount: number;
  readonly openQuestions: readonly Question[];
  /** Pending and bound. */
  readonly openInputs: readonly ActionInput[];
  /** Pending and claimed, oldest first. */
  readonly openMailbox: readonly MailboxEntry[];
  readonly thinkingTurn: CoordinatorTurn | null;
  readonly holds: readonly WorkspaceHold[];
}

export interface WorkspaceHold {
  readonly workspaceKey: string;
  readonly runId: string;
  readonly owner: string;
}

export interface ItemRecordsOptions {
  readonly messageLimit?: number;
  readonly messagesBefore?: number;
  readonly runs?: 'all' | 'newest';
}

/**
 * Reads one item whole; undefined if there is none.
 *
 * @param options.messageLimit newest messages answered. @default 100
 * @param options.messagesBefore only messages with a smaller `seq`. @default all
 * @param options.runs `newest`: the last Run of each Action and those that the final result names as evidence. @default `all`
 */
export function* readItemRecords(
  ctx: Context,
  itemId: string,
  options: ItemRecordsOptions = {},
): Transaction<ItemRecords | undefined> {
  const item = yield* getWorkItem(ctx, itemId);
  if (item === undefined) return undefined;
  const before = options.messagesBefore ?? Number.MAX_SAFE_INTEGER;
  const messages = yield* all<StoredRow>(selectMessages, [itemId, before, options.messageLimit ?? 100]);
  const counted = yield* one<{ count: number }>(countMessages, [itemId]);
  const thinking = yield* one<StoredRow>(selectThinking, [itemId]);
  return {
    item,
    actions: yield* listActions(ctx, itemId),
    runs:
      options.runs === 'newest' ? yield* newestRuns(item) : (yield* all<StoredRow>(selectRuns, [itemId])).map(toRun),
    messages: messages.map(toMessage).toReversed(),
    messageCount: Number(counted?.count ?? 0),
    openQuestions: (yield* all<StoredRow>(selectOpenQuestions, [itemId])).map(toQuestion),
    openInputs: (yield* all<StoredRow>(selectOpenInputs, [itemId])).map(toActionInput),
    openMailbox: (yield* all<StoredRow>(selectOpenMailbox, [itemId])).map(toMailboxEntry),
    thinkingTurn: thinking === undefined ? null : toCoordinatorTurn(thinking),
    holds: yield* listHolds(itemId),
  };
}

function* newestRuns({ id, finalResult }: WorkItem): Transaction<readonly Run[]> {
  const runs = (yield* all<StoredRow>(selectNewestRuns, [id])).map(toRun);
  const named = new Set(finalResult?.criteria.flatMap(({ evidenceRunIds }) => evidenceRunIds));
  for (const run of runs) named.delete(run.id);
  if (named.size === 0) return runs;
  for (const runId of named) {
    const row = yield* one<StoredRow>(selectRun, [runId]);
    if (row !== undefined) runs.push(toRun(row));
  }
  return runs.toSorted((left, right) => left.startedAt - right.startedAt || (left.id < right.id ? -1 : 1));
}

function* listHolds(itemId: string): Transaction<readonly WorkspaceHold[]> {
  const rows = yield* all<{ workspace_key: string; run_id: string; owner: string }>(selectHolds, [itemId]);
  return rows.map((row) => ({ workspaceKey: row.workspace_key, runId: row.run_id, owner: row.owner }));
}

/** The Action, or undefined. */
export function* getAction(_ctx: Context, actionId: string): Transaction<Action | undefined> {
  const row = yield* one<StoredRow>(selectAction, [actionId]);
  return row === undefined ? undefined : toAction(row);
}

/** All Actions of an item, in the order they were planned. */
export function* listActions(_ctx: Context, itemId: string): Transaction<readonly Action[]> {
  return (yield* all<StoredRow>(selectActions, [itemId])).map(toAction);
}

/** The Run, or undefined. */
export function* getRun(_ctx: Context, runId: string): Transaction<Run | undefined> {
  const row = yield* one<StoredRow>(selectRun, [runId]);
  return row === undefined ? undefined : toRun(row);
}

/** All Runs of an item by their ids, oldest first, read from an index alone. */
export function* listRunIds(
  _ctx: Context,
  itemId: string,
): Transaction<readonly { readonly id: string; readonly actionId: string }[]> {
  return yield* all<{ id: string; actionId: string }>(selectRunIds, [itemId]);
}

/** Runs of one Action, oldest first. */
export function* listRuns(_ctx: Context, actionId: string): Transaction<readonly Run[]> {
  return (yield* all<StoredRow>(selectRunsOfAction, [actionId])).map(toRun);
}

/** The Coordinator turn, or undefined. */
export function* getCoordinatorTurn(_ctx: Context, turnId: string): Transaction<CoordinatorTurn | undefined> {
  const row = yield* one<StoredRow>(selectTurn, [turnId]);
  return row === undefined ? undefined : toCoordinatorTurn(row);
}

/** Coordinator turns that answered one mailbox entry, oldest first: a crash leaves failed ones before the last. */
export function* listCoordinatorTurns(_ctx: Context, mailboxId: string): Transaction<readonly CoordinatorTurn[]> {
  return (yield* all<StoredRow>(selectTurnsOfEntry, [mailboxId])).map(toCoordinatorTurn);
}
