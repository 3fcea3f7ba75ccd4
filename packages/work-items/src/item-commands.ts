import { type Context, notify, run, type Transaction } from '@stint/storage';
import { isUnfinished } from './action-transitions.js';
import { applied, appliedBefore, type CommandResult, refuseStale } from './commands.js';
import { clearTrouble } from './coordinator-turns.js';
import { WorkItemsError } from './errors.js';
import { workChannel, writeEvent } from './events.js';
import { endConversation } from './finish-item.js';
import { isEnded } from './items.js';
import { lockItem } from './lock.js';
import { openEntries, wakeCoordinator } from './mailbox.js';
import { refuseEnded } from './messages.js';
import { endAction, lockActions } from './move-action.js';
import type { WorkItem } from './records.js';
import { settleItem } from './settle-item.js';

const setStarted = 'UPDATE work_items SET started_at = ? WHERE id = ?';
const setPaused = 'UPDATE work_items SET paused = ? WHERE id = ?';
const setCancelled = `UPDATE work_items SET cancelled_at = ?, paused = 0, claims_held = 0, plan_revision = plan_revision + 1
  WHERE id = ?`;
const clearCancelled = 'UPDATE work_items SET cancelled_at = NULL, paused = 0, started_at = ? WHERE id = ?';

const hurryPending = "UPDATE work_mailbox SET not_before = NULL WHERE item_id = ? AND status = 'pending'";

export interface ItemCommand {
  readonly itemId: string;
  /** The revision the person saw; a moved one is answered. @default any */
  readonly expectedRevision?: number;
}

/** draft -> started: the Coordinator is woken to plan. A second start changes nothing. */
export function* requestStart(ctx: Context, command: ItemCommand): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, command.itemId);
  if (item.startedAt !== null) return appliedBefore;
  refuseEnded(item, 'start it');
  const stale = refuseStale(item, command.expectedRevision);
  if (stale !== null) return stale;
  yield* run(setStarted, [ctx.now, item.id]);
  yield* writeEvent(ctx, { itemId: item.id, type: 'item.started', text: item.title });
  yield* wakeCoordinator(ctx, { itemId: item.id, kind: 'started', sourceKey: `started:${item.id}` });
  yield* settleItem(ctx, item.id);
  return applied;
}

/** Nothing is claimed until it is resumed. Running Runs are ended by their owners, as deferred. */
export function* pauseItem(ctx: Context, command: ItemCommand): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, command.itemId);
  refuseEnded(item, 'pause it');
  refuseDraft(item, 'pause');
  if (item.paused) return appliedBefore;
  const stale = refuseStale(item, command.expectedRevision);
  if (stale !== null) return stale;
  yield* run(setPaused, [1, item.id]);
  yield* writeEvent(ctx, { itemId: item.id, type: 'item.paused', text: 'Paused by a person' });
  yield* settleItem(ctx, item.id);
  return applied;
}

function refuseDraft(item: WorkItem, wish: string): void {
  if (item.startedAt !== null) return;
  throw new WorkItemsError(
    'item_not_started',
    `Work item ${item.id} is a draft; nothing to ${wish}: stint start ${item.id}`,
  );
}

/**
 * Cancels all that is unfinished: Actions (failed ones too) get new epochs, running Runs are cancelled, inputs superseded,
 * questions withdrawn, mailbox entries discarded. Workspaces are freed when the owners of those Runs have let go.
 */
export function* cancelItem(ctx: Context, command: ItemCommand): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, command.itemId);
  if (item.cancelledAt !== null) return appliedBefore;
  refuseEnded(item, 'cancel it');
  const stale = refuseStale(item, command.expectedRevision);
  if (stale !== null) return stale;
  for (const action of yield* lockActions(ctx, item.id)) {
    if (!isUnfinished(action.status)) continue;
    yield* endAction(ctx, action, { on: 'cancel', by: 'person', reason: 'Cancelled by a person' });
  }
  yield* endConversation(ctx, item.id, 'person');
  yield* clearTrouble(ctx, item.id);
  yield* run(setCancelled, [ctx.now, item.id]);
  yield* settleItem(ctx, item.id);
  return applied;
}

export interface ResumeCommand extends ItemCommand {
  /** Identity of the person's command, for idempotence. @default a new one */
  readonly commandId?: string;
}

/** Lifts a pause, revives a cancelled item, or sets the Coordinator to work on one that stands still: it is woken. */
export function* resumeItem(ctx: Context, command: ResumeCommand): Transaction<CommandResult> {
  const item = yield* lockItem(ctx, command.itemId);
  if (item.finalResult !== null) refuseEnded(item, 'resume it');
  if (item.cancelledAt === null) refuseDraft(item, 'resume');
  const stale = refuseStale(item, command.expectedRevision);
  if (stale !== null) return stale;
  if (item.cancelledAt !== null) yield* run(clearCancelled, [item.startedAt ?? ctx.now, item.id]);
  if (item.paused) yield* run(setPaused, [0, item.id]);
  yield* clearTrouble(ctx, item.id);
  yield* writeEvent(ctx, { itemId: item.id, type: 'item.resumed', text: 'Resumed by a person' });
  yield* wakeResumed(ctx, item, `resumed:${command.commandId ?? ctx.newId()}`);
  yield* settleItem(ctx, item.id);
  return applied;
}

export interface WakeCommand {
  readonly itemId: string;
  /** Identity of what resumed, such as the ledger entry's id. */
  readonly sourceKey: string;
}

/** The budget of an item or of an account above it was resumed. Ended items and drafts are left alone. */
export function* wakeItem(ctx: Context, wake: WakeCommand): Transaction<boolean> {
  const item = yield* lockItem(ctx, wake.itemId);
  if (isEnded(item) || item.startedAt === null) return false;
  yield* clearTrouble(ctx, item.id);
  const isNew = yield* wakeResumed(ctx, item, `resumed:${wake.sourceKey}`);
  yield* settleItem(ctx, item.id);
  return isNew;
}

/** One wake-up is enough: an entry that nobody has taken up yet does the same as another one, and waits no longer. */
function* wakeResumed(ctx: Context, item: WorkItem, sourceKey: string): Transaction<boolean> {
  const open = yield* openEntries(ctx, item.id);
  if (open.some((entry) => entry.status === 'pending')) {
    yield* run(hurryPending, [item.id]);
    yield* notify(workChannel);
    return false;
  }
  return yield* wakeCoordinator(ctx, { itemId: item.id, kind: 'resumed', sourceKey });
}

/** Writes an event that happened outside this package (a budget was extended, a turn resolved) into the item's history. */
export function* noteEvent(
  ctx: Context,
  note: { readonly itemId: string; readonly type: string; readonly text: string },
): Transaction<void> {
  const { id: itemId } = yield* lockItem(ctx, note.itemId);
  yield* writeEvent(ctx, { itemId, type: note.type, text: note.text });
  yield* settleItem(ctx, itemId);
}
