import { all, type Context, notify, one, run, type Transaction } from '@stint/storage';
import { workChannel } from './events.js';
import { findFreeItemLocked } from './lock.js';
import { type MailboxTrigger, mailboxTransitions } from './mailbox-transitions.js';
import { isEnded } from './items.js';
import type { BudgetStop } from './derive-status.js';
import type { MailboxEntry, MailboxKind } from './records.js';
import { type StoredRow, toMailboxEntry } from './rows.js';
import type { Actor } from './transitions.js';

const insertEntry = `INSERT INTO work_mailbox (id, item_id, kind, source_key, payload, status, claim_epoch, failures,
  created_at) VALUES (?, ?, ?, ?, ?, 'pending', 0, 0, ?) ON CONFLICT DO NOTHING`;
const lockEntryRow = 'SELECT * FROM work_mailbox WHERE id = ? FOR NO KEY UPDATE';
const selectOpenEntries = "SELECT * FROM work_mailbox WHERE item_id = ? AND status <> 'done' ORDER BY created_at, id";
const updateEntry = `UPDATE work_mailbox SET status = ?, claim_epoch = ?, owner = ?, not_before = ?, failures = ?
  WHERE id = ?`;
/** The oldest entry of each item that is not paused, not ended, and that nobody answers now. */
const selectCandidates = `SELECT m.id, m.item_id FROM work_mailbox m JOIN work_items i ON i.id = m.item_id
  WHERE m.status = 'pending' AND (m.not_before IS NULL OR m.not_before <= ?)
    AND i.paused = 0 AND i.started_at IS NOT NULL AND i.cancelled_at IS NULL AND i.final_result IS NULL
    AND NOT EXISTS (SELECT 1 FROM work_mailbox o WHERE o.item_id = m.item_id AND o.status = 'claimed')
    AND NOT EXISTS (SELECT 1 FROM work_mailbox p WHERE p.item_id = m.item_id AND p.status = 'pending'
      AND (p.created_at < m.created_at OR (p.created_at = m.created_at AND p.id < m.id)))
  ORDER BY m.created_at, m.id`;

/** Reads the stop of an item's budget account, in the transaction that looks or claims. */
export type StopReader = (ctx: Context, itemId: string) => Transaction<BudgetStop | null>;

export interface ClaimMailboxOptions {
  /** Only entries of these items. @default all */
  readonly itemIds?: readonly string[];
  /** Items whose account is stopped are passed over. @default none is */
  readonly stopOf?: StopReader;
}

/** Work that nobody holds now. */
export interface FoundWork {
  /** Of the mailbox entry or of the Action. */
  readonly id: string;
  readonly itemId: string;
}

/** A claimed entry: the input of one Coordinator turn. */
export interface MailboxClaim {
  readonly entry: MailboxEntry;
  readonly itemId: string;
  readonly mailboxId: string;
  readonly claimEpoch: number;
  readonly owner: string;
}

/**
 * Writes a wake-up. The source key is made of identities, so one trigger is one entry however often it is told.
 * Answers whether it was new.
 */
export function* wakeCoordinator(
  ctx: Context,
  wake: {
    readonly itemId: string;
    readonly kind: MailboxKind;
    readonly sourceKey: string;
    readonly payload?: Readonly<Record<string, unknown>>;
  },
): Transaction<boolean> {
  const payload = JSON.stringify(wake.payload ?? {});
  const inserted = yield* run(insertEntry, [ctx.newId(), wake.itemId, wake.kind, wake.sourceKey, payload, ctx.now]);
  if (inserted > 0) yield* notify(workChannel);
  return inserted > 0;
}

/**
 * What `claimMailbox` would claim now, looked for without a lock and without a write, so that stopped items cost no other process anything.
 * Claim it by `itemIds: [itemId]`.
 *
 * @param passOver ids of entries that could not be claimed although they were found
 */
export function* findMailboxWork(
  ctx: Context,
  options: ClaimMailboxOptions = {},
  passOver: ReadonlySet<string> = new Set(),
): Transaction<FoundWork | null> {
  for (const { id, item_id: itemId } of yield* all<Candidate>(selectCandidates, [ctx.now])) {
    if (!passOver.has(id) && (yield* isFree(ctx, itemId, options))) return { id, itemId };
  }
  return null;
}

/** True if the item is one of those asked for and nothing stops its budget. */
export function* isFree(ctx: Context, itemId: string, options: ClaimMailboxOptions): Transaction<boolean> {
  if (options.itemIds !== undefined && !options.itemIds.includes(itemId)) return false;
  return options.stopOf === undefined || (yield* options.stopOf(ctx, itemId)) === null;
}

/**
 * Claims the oldest pending entry of an item that nobody answers now: pending -> claimed, claim epoch + 1. Items that
 * are paused, ended, stopped by their budget, or locked by another transaction are passed over. Null when there is nothing to do.
 */
export function* claimMailbox(ctx: Context, options: ClaimMailboxOptions = {}): Transaction<MailboxClaim | null> {
  for (const candidate of yield* all<Candidate>(selectCandidates, [ctx.now])) {
    if (!(yield* isFree(ctx, candidate.item_id, options))) continue;
    const claim = yield* claimEntry(ctx, candidate.item_id, candidate.id);
    if (claim !== null) return claim;
  }
  return null;
}

type Candidate = { readonly id: string; readonly item_id: string };

function* claimEntry(ctx: Context, itemId: string, mailboxId: string): Transaction<MailboxClaim | null> {
  const item = yield* findFreeItemLocked(ctx, itemId);
  if (item === undefined || item.paused || isEnded(item)) return null;
  const open = yield* openEntries(ctx, itemId);
  const entry = open.find((candidate) => candidate.id === mailboxId);
  if (entry === undefined || open.some((other) => other.status === 'claimed')) return null;
  if (entry.notBefore !== null && entry.notBefore > ctx.now) return null;
  const claimed = yield* moveEntry(entry, 'claim', 'scheduler', { owner: ctx.owner, notBefore: null });
  return { entry: claimed, itemId, mailboxId, claimEpoch: claimed.claimEpoch, owner: ctx.owner };
}

/** Pending and claimed entries of a locked item, oldest first. */
export function* openEntries(_ctx: Context, itemId: string): Transaction<readonly MailboxEntry[]> {
  return (yield* all<StoredRow>(selectOpenEntries, [itemId])).map(toMailboxEntry);
}

/** Locks an entry; its item is locked already. */
export function* findEntryLocked(_ctx: Context, mailboxId: string): Transaction<MailboxEntry | undefined> {
  const row = yield* one<StoredRow>(lockEntryRow, [mailboxId]);
  return row === undefined ? undefined : toMailboxEntry(row);
}

interface EntryChange {
  readonly owner?: string | null;
  readonly notBefore?: number | null;
  readonly failures?: number;
}

/** The only writer of a mailbox entry's state. Every move that ends a claim raises the epoch that names it. */
export function* moveEntry(
  entry: MailboxEntry,
  on: MailboxTrigger,
  by: Actor,
  change: EntryChange = {},
): Transaction<MailboxEntry> {
  const moved: MailboxEntry = {
    ...entry,
    status: mailboxTransitions.next(entry.status, on, by, entry.id),
    claimEpoch: on === 'finish' ? entry.claimEpoch : entry.claimEpoch + 1,
    owner: change.owner ?? null,
    notBefore: change.notBefore ?? null,
    failures: change.failures ?? entry.failures,
  };
  yield* run(updateEntry, [moved.status, moved.claimEpoch, moved.owner, moved.notBefore, moved.failures, entry.id]);
  return moved;
}
