import { all, type Context, isOwnerDead, one, type Transaction } from '@stint/storage';
import { askForHelp, clearTrouble } from './coordinator-turns.js';
import { lockThinkingTurn, moveTurn } from './coordinator-turn-moves.js';
import { ofDeadOwners } from './dead-owners.js';
import { isEnded } from './items.js';
import { findItemLocked, lockItem } from './lock.js';
import { findEntryLocked, moveEntry, wakeCoordinator } from './mailbox.js';
import type { MailboxKind, WorkItem } from './records.js';
import { type StoredRow, toCoordinatorTurn } from './rows.js';
import { settleItem } from './settle-item.js';

const selectClaimed =
  "SELECT id, item_id, owner, claim_epoch FROM work_mailbox WHERE status = 'claimed' ORDER BY created_at, id";
const selectTurn = 'SELECT * FROM work_coordinator_turns WHERE id = ?';
const selectThinkingOfEntry =
  "SELECT id FROM work_coordinator_turns WHERE mailbox_id = ? AND claim_epoch = ? AND status = 'thinking'";
const countInterruptions =
  "SELECT COUNT(*) AS count FROM work_coordinator_turns WHERE mailbox_id = ? AND error_code = 'interrupted'";
const selectEntryKind = 'SELECT kind, payload FROM work_mailbox WHERE id = ?';

/** A mailbox entry claimed by a process that is gone. */
export interface DeadClaim {
  readonly itemId: string;
  readonly mailboxId: string;
  readonly claimEpoch: number;
  readonly owner: string;
  /** The turn it had begun; null: it died before. The journal's turns have this as their owner. */
  readonly coordinatorTurnId: string | null;
}

/** Claims of dead owners, oldest first. Recover each in a transaction of its own. */
export function* findDeadClaims(ctx: Context): Transaction<readonly DeadClaim[]> {
  const rows = yield* all<{ id: string; item_id: string; owner: string; claim_epoch: number }>(selectClaimed);
  const found: DeadClaim[] = [];
  for (const row of yield* ofDeadOwners(ctx, rows)) {
    const claimEpoch = Number(row.claim_epoch);
    const turn = yield* one<{ id: string }>(selectThinkingOfEntry, [row.id, claimEpoch]);
    const { owner } = row;
    found.push({ itemId: row.item_id, mailboxId: row.id, claimEpoch, owner, coordinatorTurnId: turn?.id ?? null });
  }
  return found;
}

/**
 * Fails the thinking turn of a dead claim and gives its entry back. If the turn's request may have been paid without an
 * answer (`unknownTurnId`, from the journal, in this transaction) and the item says `ask`, the entry is done and a person
 * resolves the turn. Answers false, changing nothing, when the owner lives or the claim is no longer this one.
 */
export function* recoverClaim(
  ctx: Context,
  claim: DeadClaim & { readonly unknownTurnId?: string | null },
): Transaction<boolean> {
  const item = yield* findItemLocked(ctx, claim.itemId);
  const entry = yield* findEntryLocked(ctx, claim.mailboxId);
  if (item === undefined || entry === undefined) return false;
  if (entry.status !== 'claimed' || entry.claimEpoch !== claim.claimEpoch || entry.owner !== claim.owner) return false;
  if (!(yield* isOwnerDead(ctx, claim.owner))) return false;
  const turn = yield* lockThinkingTurn(ctx, item.id);
  if (turn !== undefined && turn.mailboxId === entry.id) {
    const error = { code: 'interrupted', message: 'The process that asked the Coordinator is gone.' };
    yield* moveTurn(ctx, turn, { on: 'fail', by: 'recovery', error });
  }
  const trouble = yield* troubleOf(item, claim);
  if (trouble === null) {
    yield* moveEntry(entry, 'release', 'recovery');
  } else {
    yield* moveEntry(entry, 'finish', 'recovery');
    yield* askForHelp(ctx, item.id, trouble);
  }
  yield* settleItem(ctx, item.id);
  return true;
}

/** Processes that may die over one entry before a person is asked: a trigger that kills whoever takes it up ends. */
const longestInterruptions = 5;

function* troubleOf(
  item: WorkItem,
  claim: DeadClaim & { readonly unknownTurnId?: string | null },
): Transaction<{ readonly code: string; readonly message: string; readonly ref?: string } | null> {
  const ref = claim.unknownTurnId ?? null;
  if (ref !== null && item.onUnknownRequest === 'ask')
    return { code: 'unknown_turn', message: unknownTurnMessage, ref };
  const row = yield* one<{ count: number }>(countInterruptions, [claim.mailboxId]);
  if (Number(row?.count ?? 0) < longestInterruptions) return null;
  const message = `${longestInterruptions} processes died while the Coordinator answered the same trigger.`;
  return { code: 'coordinator_failed', message };
}

const unknownTurnMessage =
  'A request of the Coordinator was sent and its answer is not known; it is charged. Send it again, or resolve it by what the provider billed.';

/**
 * A person resolved the Coordinator's unknown provider turn: the trigger it was to answer is put into the mailbox again.
 *
 * @param input.coordinatorTurnId the journal turn's owner
 * @param input.turnId the provider turn
 */
export function* resolveCoordinatorTurn(
  ctx: Context,
  input: { readonly itemId: string; readonly coordinatorTurnId: string; readonly turnId: string },
): Transaction<boolean> {
  const item = yield* lockItem(ctx, input.itemId);
  if (isEnded(item)) return false;
  const turnRow = yield* one<StoredRow>(selectTurn, [input.coordinatorTurnId]);
  if (turnRow === undefined) return false;
  const turn = toCoordinatorTurn(turnRow);
  const trigger = yield* one<{ kind: string; payload: string }>(selectEntryKind, [turn.mailboxId]);
  const payload = {
    turnId: input.turnId,
    trigger: trigger?.kind as MailboxKind,
    payload: JSON.parse(trigger?.payload ?? '{}'),
  };
  yield* clearTrouble(ctx, item.id);
  const sourceKey = `recovery:${input.turnId}`;
  const isNew = yield* wakeCoordinator(ctx, { itemId: item.id, kind: 'recovery', sourceKey, payload });
  yield* settleItem(ctx, item.id);
  return isNew;
}
