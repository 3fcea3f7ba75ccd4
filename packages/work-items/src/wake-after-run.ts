import { all, type Context, one, type Transaction } from '@stint/storage';
import { type ActionOutline, readOutlines } from './action-outlines.js';
import { isUnfinished } from './action-transitions.js';
import { gatePasses, resultOfGate } from './final-result.js';
import { finishItem } from './finish-item.js';
import { lockItem } from './lock.js';
import { openEntries, wakeCoordinator } from './mailbox.js';
import type { MailboxEntry, MailboxKind } from './records.js';
import { type StoredRow, toRun } from './rows.js';

const selectCompletedRuns =
  "SELECT * FROM work_runs WHERE item_id = ? AND status = 'completed' ORDER BY started_at, id";
const countOpenInputs =
  "SELECT COUNT(*) AS count FROM work_inputs WHERE item_id = ? AND status IN ('pending', 'bound')";

/** Entries that say something new to decide on; the others only say that it is time to decide. */
const decidingKinds: readonly MailboxKind[] = ['message', 'contract_changed', 'recovery'];

/** True when a mailbox entry holds back the completion of the item. */
export function holdsCompletion(entry: MailboxEntry): boolean {
  return decidingKinds.includes(entry.kind);
}

/**
 * What follows an ended Run: a passed gate completes the item, a failed Action or a checkpoint wakes the Coordinator, and
 * so does a plan in which nothing can move any more. Wake-ups are named after the Run, so each is one entry.
 * Answers whether the item was completed.
 */
export function* wakeAfterRun(
  ctx: Context,
  ended: { readonly itemId: string; readonly actionId: string; readonly runId: string },
): Transaction<boolean> {
  const actions = yield* readOutlines(ctx, ended.itemId);
  const action = actions.find((candidate) => candidate.id === ended.actionId);
  if (action === undefined) return false;
  if (mayBeGate(action, actions) && (yield* completeByGate(ctx, ended))) return true;
  const settled = action.status === 'failed' || (action.checkpoint && action.status === 'completed');
  const usedUp = !actions.some((other) => ['ready', 'running', 'waiting'].includes(other.status));
  const payload = { actionId: action.id, runId: ended.runId, status: action.status };
  if (settled) {
    const sourceKey = `action_settled:${ended.runId}`;
    yield* wakeCoordinator(ctx, { itemId: ended.itemId, kind: 'action_settled', sourceKey, payload });
  } else if (usedUp) {
    const sourceKey = `plan_used_up:${ended.runId}`;
    yield* wakeCoordinator(ctx, { itemId: ended.itemId, kind: 'plan_used_up', sourceKey, payload });
  }
  return false;
}

/** A gate is no mere work, ends the plan, and leaves no checkpoint's decision open. */
function mayBeGate(action: ActionOutline, actions: readonly ActionOutline[]): boolean {
  const isLast = action.status === 'completed' && !actions.some((other) => isUnfinished(other.status));
  return isLast && action.kind !== 'work' && !action.checkpoint;
}

function* completeByGate(
  ctx: Context,
  { itemId, runId }: { readonly itemId: string; readonly runId: string },
): Transaction<boolean> {
  const item = yield* lockItem(ctx, itemId);
  if (item.claimsHeld || (yield* openEntries(ctx, itemId)).some(holdsCompletion)) return false;
  const inputs = yield* one<{ count: number }>(countOpenInputs, [itemId]);
  if (Number(inputs?.count ?? 0) > 0) return false;
  const runs = (yield* all<StoredRow>(selectCompletedRuns, [itemId])).map(toRun);
  const gate = runs.find((candidate) => candidate.id === runId);
  if (gate === undefined || gate.outcome === null || !gatePasses(item, gate.outcome)) return false;
  yield* finishItem(ctx, itemId, resultOfGate(item, gate, gate.outcome, runs));
  return true;
}
