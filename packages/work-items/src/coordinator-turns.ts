import { type Context, run, type Transaction } from '@stint/storage';
import { moveTurn } from './coordinator-turn-moves.js';
import { writeEvent } from './events.js';
import { lockFencedTurn } from './fences.js';
import { workItemLimits } from './limits.js';
import { findItemLocked } from './lock.js';
import { findEntryLocked, type MailboxClaim, moveEntry } from './mailbox.js';
import type { AttentionCode, CoordinatorFence, CoordinatorTurn, WorkItem } from './records.js';
import { settleItem } from './settle-item.js';
import { cutText } from './text.js';

const raiseCoordinatorRevision =
  'UPDATE work_items SET coordinator_revision = coordinator_revision + 1, updated_at = ? WHERE id = ?';
const insertTurn = `INSERT INTO work_coordinator_turns (id, item_id, mailbox_id, claim_epoch, owner, status, revision,
  plan_revision, results_revision, coordinator_revision, started_at) VALUES (?, ?, ?, ?, ?, 'thinking', ?, ?, ?, ?, ?)`;
const setTrouble = `UPDATE work_items SET coordinator_trouble_code = ?, coordinator_trouble_message = ?,
  coordinator_trouble_ref = ? WHERE id = ?`;

export interface BegunTurn {
  readonly turn: CoordinatorTurn;
  readonly fence: CoordinatorFence;
  readonly item: WorkItem;
}

/**
 * Writes the thinking turn of a claim, with the fences of this moment; coordinatorRevision + 1. Read the snapshot in the
 * same transaction. Null when the claim is no longer the current one.
 */
export function* beginCoordinatorTurn(ctx: Context, claim: MailboxClaim): Transaction<BegunTurn | null> {
  const item = yield* findItemLocked(ctx, claim.itemId);
  const entry = yield* findEntryLocked(ctx, claim.mailboxId);
  if (item === undefined || entry === undefined) return null;
  if (entry.status !== 'claimed' || entry.claimEpoch !== claim.claimEpoch || entry.owner !== claim.owner) return null;
  yield* run(raiseCoordinatorRevision, [ctx.now, item.id]);
  const turn = newTurn(ctx, { ...item, coordinatorRevision: item.coordinatorRevision + 1 }, claim);
  yield* run(insertTurn, [
    turn.id,
    turn.itemId,
    turn.mailboxId,
    turn.claimEpoch,
    turn.owner,
    turn.revision,
    turn.planRevision,
    turn.resultsRevision,
    turn.coordinatorRevision,
    turn.startedAt,
  ]);
  yield* writeEvent(ctx, { itemId: item.id, type: 'coordinator.thinking', text: entry.kind });
  yield* settleItem(ctx, item.id);
  return { turn, fence: fenceOf(turn), item };
}

function newTurn(ctx: Context, item: WorkItem, claim: MailboxClaim): CoordinatorTurn {
  return {
    id: ctx.newId(),
    itemId: item.id,
    mailboxId: claim.mailboxId,
    claimEpoch: claim.claimEpoch,
    owner: claim.owner,
    status: 'thinking',
    revision: item.revision,
    planRevision: item.planRevision,
    resultsRevision: item.resultsRevision,
    coordinatorRevision: item.coordinatorRevision,
    decision: null,
    error: null,
    startedAt: ctx.now,
    endedAt: null,
  };
}

function fenceOf(turn: CoordinatorTurn): CoordinatorFence {
  return {
    itemId: turn.itemId,
    mailboxId: turn.mailboxId,
    claimEpoch: turn.claimEpoch,
    owner: turn.owner,
    turnId: turn.id,
    revision: turn.revision,
    planRevision: turn.planRevision,
    resultsRevision: turn.resultsRevision,
    coordinatorRevision: turn.coordinatorRevision,
  };
}

export interface TurnFailure {
  /** `stale`, `budget`, `provider`, `refused_decision`, `unknown_turn`, ... */
  readonly code: string;
  /** Without secrets, bounded: it is shown. */
  readonly message: string;
  /** When the entry is tried again, ms; null: a person is asked (`stint resume`, or `stint resolve` for `ref`). */
  readonly retryAt: number | null;
  /** The provider turn a person has to resolve. */
  readonly ref?: string;
}

/**
 * thinking -> failed. The entry goes back to pending for `retryAt`, or is done and the item asks a person. Answers
 * false when the turn was not the current one; then nothing changes.
 */
export function* failCoordinatorTurn(
  ctx: Context,
  fence: CoordinatorFence,
  failure: TurnFailure,
): Transaction<boolean> {
  const fenced = yield* lockFencedTurn(ctx, fence);
  const entry = yield* findEntryLocked(ctx, fence.mailboxId);
  if (fenced === null || entry === undefined) return false;
  yield* moveTurn(ctx, fenced.turn, { on: 'fail', by: 'scheduler', error: failure });
  if (failure.retryAt === null) {
    yield* moveEntry(entry, 'finish', 'scheduler');
    yield* askForHelp(ctx, fence.itemId, failure);
  } else {
    const change = { notBefore: failure.retryAt, failures: entry.failures + 1 };
    yield* moveEntry(entry, 'release', 'scheduler', change);
  }
  yield* settleItem(ctx, fence.itemId);
  return true;
}

const troubleCodes: readonly AttentionCode[] = ['provider', 'refused_decision', 'unknown_turn', 'resource_limit'];

/** Stores why the Coordinator cannot go on by itself. */
export function* askForHelp(
  ctx: Context,
  itemId: string,
  trouble: { readonly code: string; readonly message: string; readonly ref?: string },
): Transaction<void> {
  const code = troubleCodes.find((known) => known === trouble.code) ?? 'coordinator_failed';
  const message = cutText(trouble.message, workItemLimits.lineBytes);
  yield* run(setTrouble, [code, message, trouble.ref ?? null, itemId]);
  yield* writeEvent(ctx, { itemId, type: 'coordinator.stuck', text: message });
}

/** Clears what {@link askForHelp} stored. */
export function* clearTrouble(_ctx: Context, itemId: string): Transaction<void> {
  yield* run(setTrouble, [null, null, null, itemId]);
}
