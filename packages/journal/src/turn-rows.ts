import { all, one, type Context, type Transaction } from '@stint/storage';
import type { FinishReason, PromptMessage, Usage } from '@stint/provider-hooks';
import { JournalError } from './errors.js';
import { ownersOf } from './history.js';
import type { Resolution, StoredResponse, TurnError, TurnOwner, TurnRecord, TurnStatus } from './types.js';

const columns = `t.id, t.owner_kind AS "ownerKind", t.owner_id AS "ownerId", t.process, t.turn_number AS "turnNumber", t.model,
  t.request_hash AS "requestHash", t.settings, t.purpose, t.is_stream AS "isStream", t.entry_from AS "entryFrom",
  t.entry_to AS "entryTo", t.input_ids AS "inputIds", t.retry_of AS "retryOf", t.status, t.finish_reason AS "finishReason",
  t.answered_model AS "answeredModel", t.response_id AS "responseId", t.usage, t.error, t.partial_text AS "partialText", t.asks_person AS "asksPerson", t.resolution,
  t.created_at AS "createdAt", t.ended_at AS "endedAt", e.message AS "responseMessage"`;
const source = `journal_turns t LEFT JOIN journal_entries e
  ON e.owner_kind = t.owner_kind AND e.owner_id = t.owner_id AND e.seq = t.response_seq`;
const selectTurn = `SELECT ${columns} FROM ${source} WHERE t.id = ?`;
const selectTurns = `SELECT ${columns} FROM ${source} WHERE t.owner_kind = ? AND t.owner_id = ? ORDER BY t.created_at, t.id`;
const selectTurnForUpdate = `SELECT id, owner_kind AS "ownerKind", owner_id AS "ownerId", process, purpose, status FROM journal_turns
  WHERE id = ? FOR NO KEY UPDATE`;

interface TurnRow {
  readonly id: string;
  readonly ownerKind: TurnOwner['kind'];
  readonly ownerId: string;
  readonly process: string;
  readonly turnNumber: number;
  readonly model: string;
  readonly requestHash: string;
  readonly settings: string;
  readonly purpose: string;
  readonly isStream: number;
  readonly entryFrom: number | null;
  readonly entryTo: number | null;
  readonly inputIds: string;
  readonly retryOf: string | null;
  readonly status: TurnStatus;
  readonly finishReason: FinishReason | null;
  readonly answeredModel: string | null;
  readonly responseId: string | null;
  readonly usage: string | null;
  readonly error: string | null;
  readonly partialText: string | null;
  readonly asksPerson: number;
  readonly resolution: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly responseMessage: string | null;
}

/** The fields that a change of status looks at, read under the row's lock. */
export interface LockedTurn {
  readonly id: string;
  readonly owner: TurnOwner;
  readonly process: string;
  readonly purpose: string;
  readonly status: TurnStatus;
}

/** The turn; undefined if there is none of that id. */
export function* readTurn(_ctx: Context, id: string): Transaction<TurnRecord | undefined> {
  const row = yield* one<TurnRow>(selectTurn, [id]);
  return row === undefined ? undefined : toTurn(row);
}

/** All turns of an owner, or of several, each oldest first. */
export function* listTurns(
  _ctx: Context,
  owners: TurnOwner | readonly TurnOwner[],
): Transaction<readonly TurnRecord[]> {
  const turns: TurnRecord[] = [];
  for (const owner of ownersOf(owners)) {
    turns.push(...(yield* all<TurnRow>(selectTurns, [owner.kind, owner.id])).map(toTurn));
  }
  return turns;
}

/** Locks the turn's row. Throws `turn_not_found`. */
export function* lockTurn(id: string): Transaction<LockedTurn> {
  const row = yield* one<TurnRow>(selectTurnForUpdate, [id]);
  if (row === undefined) {
    throw new JournalError(
      'turn_not_found',
      `There is no turn ${id}. It was never dispatched, or belongs to another store.`,
    );
  }
  return {
    id,
    owner: { kind: row.ownerKind, id: row.ownerId },
    process: row.process,
    purpose: row.purpose,
    status: row.status,
  };
}

function toTurn(row: TurnRow): TurnRecord {
  const usage = parse<Usage>(row.usage);
  return {
    id: row.id,
    owner: { kind: row.ownerKind, id: row.ownerId },
    process: row.process,
    turnNumber: row.turnNumber,
    model: row.model,
    requestHash: row.requestHash,
    settings: JSON.parse(row.settings) as Record<string, unknown>,
    purpose: row.purpose,
    isStream: row.isStream === 1,
    entryRange: row.entryFrom === null || row.entryTo === null ? null : { from: row.entryFrom, to: row.entryTo },
    inputIds: JSON.parse(row.inputIds) as string[],
    retryOf: row.retryOf,
    status: row.status,
    responseId: row.responseId,
    response: toResponse(row, usage),
    usage,
    error: parse<TurnError>(row.error),
    partialText: row.partialText,
    asksPerson: row.asksPerson === 1,
    resolution: parse<Resolution>(row.resolution),
    createdAt: row.createdAt,
    endedAt: row.endedAt,
  };
}

function toResponse(row: TurnRow, usage: Usage | null): StoredResponse | null {
  const message = parse<PromptMessage>(row.responseMessage);
  if (message === null || row.finishReason === null) return null;
  return {
    message,
    text: textOf(message),
    finishReason: row.finishReason,
    usage,
    model: row.answeredModel ?? row.model,
  };
}

function textOf(message: PromptMessage): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function parse<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
