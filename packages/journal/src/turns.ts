import { one, run, type Context, type Transaction } from '@stint/storage';
import { responseEntry, type FrozenRequest, type TurnResponse, type Usage } from '@stint/provider-hooks';
import { JournalError } from './errors.js';
import { appendDispatched, appendEntries, giveBack, hideEntries, takeBack, uncountTurn } from './history.js';
import { checkTurnStep } from './transitions.js';
import { lockTurn, type LockedTurn } from './turn-rows.js';
import type { EntryRange, Resolution, TurnError, TurnOwner, TurnStatus } from './types.js';

const insert = `INSERT INTO journal_turns
  (id, owner_kind, owner_id, process, turn_number, model, request_hash, settings, purpose, is_stream, entry_from, entry_to,
   input_ids, retry_of, status, error, created_at, ended_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
const updateResponse = `UPDATE journal_turns SET status = 'responded', response_seq = ?, finish_reason = ?, answered_model = ?,
  usage = ?, resolution = ?, ended_at = ? WHERE id = ?`;
const updateFailure =
  'UPDATE journal_turns SET status = ?, usage = ?, error = ?, partial_text = ?, asks_person = ?, ended_at = ? WHERE id = ?';
const updateResponseId = "UPDATE journal_turns SET response_id = ? WHERE id = ? AND status = 'dispatching'";
const updateStatus = 'UPDATE journal_turns SET status = ? WHERE id = ?';
const updateResolution = 'UPDATE journal_turns SET status = ?, resolution = ? WHERE id = ?';
const selectLaterTurn = `SELECT later.id FROM journal_turns late JOIN journal_turns later
  ON later.owner_kind = late.owner_kind AND later.owner_id = late.owner_id AND later.purpose = 'turn'
  AND (later.created_at > late.created_at OR (later.created_at = late.created_at AND later.id > late.id))
  WHERE late.id = ? LIMIT 1`;

export interface TurnInput {
  /** Also the ledger request's id, and the provider's `x-client-request-id`. */
  readonly id: string;
  readonly owner: TurnOwner;
  readonly request: FrozenRequest;
}

/** What is known of a turn without complete answer. */
export interface TurnFailure {
  readonly error: TurnError;
  /** Told so far. @default null */
  readonly usage?: Usage | null;
  /** The answer's text so far. @default '' */
  readonly partialText?: string;
  /** Of an unknown turn: whether a person is to decide about it. A live run that goes on by itself asks nobody. @default false */
  readonly asksPerson?: boolean;
}

/**
 * Writes a turn as `dispatching`, at the last moment before bytes leave, with the history entries that it carries and no
 * answered turn carried before. Answers the range it carries. Throws `turn_exists`.
 */
export function* insertTurn(ctx: Context, input: TurnInput): Transaction<EntryRange | null> {
  const range = yield* appendDispatched(ctx, input.owner, input.request.entries, input.id);
  yield* insertRow(ctx, input, { status: 'dispatching', range, error: null });
  return range;
}

/** Writes a turn that `start` denied, as `cancelled`. What it would have carried is not stored. */
export function* insertDeniedTurn(ctx: Context, input: TurnInput, error: TurnError): Transaction<void> {
  yield* insertRow(ctx, input, { status: 'cancelled', range: null, error });
}

/**
 * Stores a complete answer as the next history entry. Answers false, and changes nothing, if it is stored already.
 * A late answer of an `unknown` turn enters the history only if no other turn followed it.
 */
export function* recordResponse(ctx: Context, id: string, response: TurnResponse): Transaction<boolean> {
  return yield* storeResponse(ctx, yield* lockTurn(id), response, null);
}

/**
 * Notes the id under which the provider keeps the answer that is on its way, so that it can be asked for if this process
 * ends first (`resolveByProvider`). False if the turn has ended.
 */
export function* noteResponseId(_ctx: Context, id: string, responseId: string): Transaction<boolean> {
  return (yield* run(updateResponseId, [responseId, id])) === 1;
}

/** The provider did no paid work, or nothing was sent. The inputs that the turn carried are pending again. */
export function* recordRefused(ctx: Context, id: string, failure: TurnFailure): Transaction<boolean> {
  return yield* endWithout(ctx, yield* lockTurn(id), 'refused', failure);
}

/** Nobody knows what the request did. The inputs that the turn carried are pending again. */
export function* recordUnknown(ctx: Context, id: string, failure: TurnFailure): Transaction<boolean> {
  return yield* endWithout(ctx, yield* lockTurn(id), 'unknown', failure);
}

/** A dispatched turn that was withdrawn before anything left. */
export function* recordCancelled(ctx: Context, id: string, error: TurnError): Transaction<boolean> {
  return yield* endWithout(ctx, yield* lockTurn(id), 'cancelled', { error });
}

/** The Coordinator's decision in this answer was applied. */
export function* applyTurn(_ctx: Context, id: string): Transaction<void> {
  yield* step(yield* lockTurn(id), 'applied');
}

/** The validator rejected the Coordinator's decision in this answer. */
export function* rejectTurn(_ctx: Context, id: string): Transaction<void> {
  yield* step(yield* lockTurn(id), 'rejected');
}

/** How an unknown turn is settled: with its answer, found after all, or as written off. */
export type TurnSettlement =
  | { readonly as: 'responded'; readonly response: TurnResponse; readonly note?: string }
  | { readonly as: 'written_off'; readonly note?: string };

/** Settles an unknown turn, by a person or by a provider that can be asked for past answers. */
export function* resolveTurn(ctx: Context, id: string, settlement: TurnSettlement, by: string): Transaction<void> {
  const turn = yield* lockTurn(id);
  if (turn.status !== 'unknown') checkTurnStep(id, turn.status, 'written_off');
  const resolution: Resolution = { by, as: settlement.as, at: ctx.now, note: settlement.note ?? null };
  if (settlement.as === 'responded') {
    yield* storeResponse(ctx, turn, settlement.response, resolution);
  } else {
    yield* run(updateResolution, ['written_off', JSON.stringify(resolution), id]);
  }
}

function* insertRow(
  ctx: Context,
  { id, owner, request }: TurnInput,
  state: { readonly status: TurnStatus; readonly range: EntryRange | null; readonly error: TurnError | null },
): Transaction<void> {
  const isOpen = state.status === 'dispatching';
  const changed = yield* run(insert, [
    id,
    owner.kind,
    owner.id,
    ctx.owner,
    request.turnNumber,
    request.model,
    request.hash,
    JSON.stringify(request.settings),
    request.purpose,
    request.stream ? 1 : 0,
    state.range?.from ?? null,
    state.range?.to ?? null,
    JSON.stringify(request.inputIds),
    request.retryOf ?? null,
    state.status,
    state.error && JSON.stringify(state.error),
    ctx.now,
    isOpen ? null : ctx.now,
  ]);
  if (changed === 0)
    throw new JournalError('turn_exists', `Turn ${id} exists already; each request needs an id of its own.`);
}

function* storeResponse(
  ctx: Context,
  turn: LockedTurn,
  response: TurnResponse,
  resolution: Resolution | null,
): Transaction<boolean> {
  if (turn.status === 'responded') return false;
  checkTurnStep(turn.id, turn.status, 'responded');
  const seq = yield* storeAnswerEntry(ctx, turn, response);
  yield* run(updateResponse, [
    seq,
    response.finishReason,
    response.model,
    response.usage && JSON.stringify(response.usage),
    resolution && JSON.stringify(resolution),
    ctx.now,
    turn.id,
  ]);
  return true;
}

function* storeAnswerEntry(ctx: Context, turn: LockedTurn, response: TurnResponse): Transaction<number | null> {
  if (turn.status === 'unknown') {
    if ((yield* one(selectLaterTurn, [turn.id])) !== undefined) return null;
    yield* giveBack(turn.owner, turn.id);
  }
  const range = yield* appendEntries(ctx, turn.owner, [responseEntry(turn.id, response)], turn.id);
  // A compaction's or a title's answer is kept with its turn, but is no part of the conversation.
  if (turn.purpose !== 'turn') yield* hideEntries(turn.owner, turn.id);
  return range?.to ?? null;
}

function* endWithout(
  ctx: Context,
  turn: LockedTurn,
  status: 'refused' | 'unknown' | 'cancelled',
  { error, usage = null, partialText = '', asksPerson = false }: TurnFailure,
): Transaction<boolean> {
  if (turn.status === status) return false;
  checkTurnStep(turn.id, turn.status, status);
  yield* takeBack(turn.owner, turn.id);
  if (status === 'cancelled') yield* uncountTurn(turn.owner);
  const facts = JSON.stringify({ code: error.code, message: error.message });
  yield* run(updateFailure, [
    status,
    usage && JSON.stringify(usage),
    facts,
    partialText || null,
    asksPerson ? 1 : 0,
    ctx.now,
    turn.id,
  ]);
  return true;
}

function* step(turn: LockedTurn, to: TurnStatus): Transaction<void> {
  checkTurnStep(turn.id, turn.status, to);
  yield* run(updateStatus, [to, turn.id]);
}
