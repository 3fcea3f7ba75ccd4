import { all, one, run, type Context, type Transaction } from '@stint/storage';
import type { HistoryEntry, HistoryEntryKind, PromptMessage } from '@stint/provider-hooks';
import type { EntryRange, StoredEntry, TurnOwner } from './types.js';

const insertHistory = `INSERT INTO journal_histories (owner_kind, owner_id, last_seq, visible_from)
  VALUES (?, ?, 0, 1) ON CONFLICT (owner_kind, owner_id) DO NOTHING`;
const selectHistoryForUpdate = `SELECT last_seq AS "lastSeq", visible_from AS "visibleFrom" FROM journal_histories
  WHERE owner_kind = ? AND owner_id = ? FOR NO KEY UPDATE`;
const selectVisibleFrom =
  'SELECT visible_from AS "visibleFrom" FROM journal_histories WHERE owner_kind = ? AND owner_id = ?';
const updateHistory = `UPDATE journal_histories SET last_seq = ?, visible_from = ?, turns = turns + ?, tool_calls = tool_calls + ?,
  failed_tool_calls = failed_tool_calls + ? WHERE owner_kind = ? AND owner_id = ?`;
const updateTurns = 'UPDATE journal_histories SET turns = turns - 1 WHERE owner_kind = ? AND owner_id = ?';
const updateToolCalls = `UPDATE journal_histories SET tool_calls = tool_calls - ?, failed_tool_calls = failed_tool_calls - ?
  WHERE owner_kind = ? AND owner_id = ?`;
const insertEntry = `INSERT INTO journal_entries
  (owner_kind, owner_id, seq, entry_key, kind, message, input_id, failed, keep_count, turn_id, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner_kind, owner_id, entry_key) DO NOTHING`;
const selectOutline = `SELECT seq, kind, keep_count AS "keep" FROM journal_entries
  WHERE owner_kind = ? AND owner_id = ? AND seq >= ? AND taken_back = 0 ORDER BY seq`;
const selectEntries = `SELECT seq, entry_key AS "key", kind, message, input_id AS "inputId", keep_count AS "keep"
  FROM journal_entries WHERE owner_kind = ? AND owner_id = ? AND seq >= ? AND taken_back = 0 ORDER BY seq`;
// The key is freed, so that the request that repeats this one can carry the same input.
const takeBackInputs = `UPDATE journal_entries SET taken_back = 1, entry_key = entry_key || '@' || turn_id
  WHERE owner_kind = ? AND owner_id = ? AND turn_id = ? AND input_id IS NOT NULL AND taken_back = 0`;
// Only a turn that no other one followed gets them back: nobody has taken the key meanwhile.
const giveBackInputs = `UPDATE journal_entries
  SET taken_back = 0, entry_key = SUBSTR(entry_key, 1, LENGTH(entry_key) - LENGTH(turn_id) - 1)
  WHERE owner_kind = ? AND owner_id = ? AND turn_id = ? AND input_id IS NOT NULL AND taken_back = 1`;

const selectMessage =
  'SELECT seq, message FROM journal_entries WHERE owner_kind = ? AND owner_id = ? AND entry_key = ? AND taken_back = 0';
const updateMessage = 'UPDATE journal_entries SET message = ? WHERE owner_kind = ? AND owner_id = ? AND seq = ?';

const countShownResults = `SELECT COUNT(*) AS count, COALESCE(SUM(failed), 0) AS failed FROM journal_entries
  WHERE owner_kind = ? AND owner_id = ? AND turn_id = ? AND kind = 'tool-result' AND taken_back = 0`;
const hideOfTurn = 'UPDATE journal_entries SET taken_back = 1 WHERE owner_kind = ? AND owner_id = ? AND turn_id = ?';

/** True for the result of a tool call that failed. */
function tellsFailure({ kind, message }: HistoryEntry): boolean {
  if (kind !== 'tool-result' || message.role !== 'tool') return false;
  return message.content.some((part) => part.type === 'tool-result' && part.output.type.startsWith('error'));
}

interface HistoryRow {
  readonly lastSeq: number;
  readonly visibleFrom: number;
}

interface EntryRow {
  readonly seq: number;
  readonly key: string;
  readonly kind: HistoryEntryKind;
  readonly message: string;
  readonly inputId: string | null;
  readonly keep: number | null;
}

/**
 * Stores entries at the end of the owner's history, in order. An entry whose key is stored already stays as it is.
 * Answers the range of entries that are now visible; null if there are none.
 */
export function* appendEntries(
  ctx: Context,
  owner: TurnOwner,
  entries: readonly HistoryEntry[],
  turnId: string | null = null,
): Transaction<EntryRange | null> {
  return yield* append(ctx, owner, entries, { turnId, turns: 0 });
}

/** The same for a turn that is dispatched with them: it is counted. */
export function* appendDispatched(
  ctx: Context,
  owner: TurnOwner,
  entries: readonly HistoryEntry[],
  turnId: string,
): Transaction<EntryRange | null> {
  return yield* append(ctx, owner, entries, { turnId, turns: 1 });
}

function* append(
  ctx: Context,
  owner: TurnOwner,
  entries: readonly HistoryEntry[],
  { turnId, turns }: { readonly turnId: string | null; readonly turns: 0 | 1 },
): Transaction<EntryRange | null> {
  let { lastSeq, visibleFrom } = yield* lockHistory(owner);
  let toolCalls = 0;
  let failedToolCalls = 0;
  for (const entry of entries) {
    const seq = lastSeq + 1;
    const failed = tellsFailure(entry) ? 1 : 0;
    const changed = yield* run(insertEntry, [
      owner.kind,
      owner.id,
      seq,
      entry.key,
      entry.kind,
      JSON.stringify(entry.message),
      entry.inputId ?? null,
      failed,
      entry.keep ?? null,
      turnId,
      ctx.now,
    ]);
    if (changed === 0) continue;
    lastSeq = seq;
    if (entry.kind === 'tool-result') toolCalls += 1;
    failedToolCalls += failed;
    if (entry.kind === 'compaction') visibleFrom = yield* firstVisible(owner, visibleFrom);
  }
  yield* run(updateHistory, [lastSeq, visibleFrom, turns, toolCalls, failedToolCalls, owner.kind, owner.id]);
  return lastSeq >= visibleFrom ? { from: visibleFrom, to: lastSeq } : null;
}

/**
 * The visible history of an owner, or of a chain of owners that go on from each other, oldest first: the last compaction,
 * the entries it kept, and what came after. An entry that two owners hold appears once.
 */
export function* readHistory(
  _ctx: Context,
  owners: TurnOwner | readonly TurnOwner[],
): Transaction<readonly StoredEntry[]> {
  const byKey = new Map<string, StoredEntry>();
  for (const owner of ownersOf(owners)) {
    const row = yield* one<Pick<HistoryRow, 'visibleFrom'>>(selectVisibleFrom, [owner.kind, owner.id]);
    if (row === undefined) continue;
    for (const entry of yield* all<EntryRow>(selectEntries, [owner.kind, owner.id, row.visibleFrom])) {
      if (!byKey.has(entry.key)) byKey.set(entry.key, toEntry(entry));
    }
  }
  return visible([...byKey.values()]);
}

/** One owner or several, as a list. */
export function ownersOf(owners: TurnOwner | readonly TurnOwner[]): readonly TurnOwner[] {
  return Array.isArray(owners) ? (owners as readonly TurnOwner[]) : [owners as TurnOwner];
}

/**
 * Adds words to the stored result of a call, which the next request that carries it shows. Nothing happens if there is no
 * result yet. That the call failed, if it did, stays a fact.
 */
export function* addToResult(owner: TurnOwner, key: string, words: string): Transaction<void> {
  yield* lockHistory(owner);
  const row = yield* one<Pick<EntryRow, 'seq' | 'message'>>(selectMessage, [owner.kind, owner.id, key]);
  if (row === undefined) return;
  const message = withWords(JSON.parse(row.message) as PromptMessage, words);
  yield* run(updateMessage, [JSON.stringify(message), owner.kind, owner.id, row.seq]);
}

function withWords(message: PromptMessage, words: string): PromptMessage {
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result') return part;
    const { output } = part;
    if (output.type !== 'text' && output.type !== 'error-text') return part;
    return { ...part, output: { ...output, value: `${output.value}\n${words}` } };
  });
  return { ...message, content };
}

/** Hides the inputs that a failed turn carried: they are pending again, and the next turn stores them anew. */
export function* takeBack(owner: TurnOwner, turnId: string): Transaction<void> {
  yield* run(takeBackInputs, [owner.kind, owner.id, turnId]);
}

/** A turn that was withdrawn before anything left is not counted. */
export function* uncountTurn(owner: TurnOwner): Transaction<void> {
  yield* run(updateTurns, [owner.kind, owner.id]);
}

/** Hides every entry of a turn; the results among them are no longer counted. */
export function* hideEntries(owner: TurnOwner, turnId: string): Transaction<void> {
  const shown = yield* one<{ count: number; failed: number }>(countShownResults, [owner.kind, owner.id, turnId]);
  if (shown !== undefined && shown.count > 0)
    yield* run(updateToolCalls, [shown.count, shown.failed, owner.kind, owner.id]);
  yield* run(hideOfTurn, [owner.kind, owner.id, turnId]);
}

/** Shows them again, for a turn whose answer was found after all. */
export function* giveBack(owner: TurnOwner, turnId: string): Transaction<void> {
  yield* run(giveBackInputs, [owner.kind, owner.id, turnId]);
}

function* lockHistory(owner: TurnOwner): Transaction<HistoryRow> {
  yield* run(insertHistory, [owner.kind, owner.id]);
  const row = yield* one<HistoryRow>(selectHistoryForUpdate, [owner.kind, owner.id]);
  return row ?? { lastSeq: 0, visibleFrom: 1 };
}

/** The lowest seq that is visible after the compaction that was stored last. */
function* firstVisible(owner: TurnOwner, from: number): Transaction<number> {
  const outline = yield* all<Pick<EntryRow, 'seq' | 'kind' | 'keep'>>(selectOutline, [owner.kind, owner.id, from]);
  return Math.min(...visible(outline).map((row) => row.seq));
}

/** What is visible of entries in the order they were stored, in the order a model sees it. */
function visible<E extends { readonly kind: string; readonly keep?: number | null }>(
  entries: readonly E[],
): readonly E[] {
  let shown: E[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'compaction') shown.push(entry);
    else shown = [entry, ...(entry.keep ? shown.slice(-entry.keep) : [])];
  }
  return shown;
}

function toEntry(row: EntryRow): StoredEntry {
  return {
    seq: row.seq,
    key: row.key,
    kind: row.kind,
    message: JSON.parse(row.message) as PromptMessage,
    ...(row.inputId === null ? {} : { inputId: row.inputId }),
    ...(row.keep === null ? {} : { keep: row.keep }),
  };
}
