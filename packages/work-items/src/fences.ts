import { type Context, one, type Transaction } from '@stint/storage';
import { findActionLocked, findItemLocked, findRunLocked } from './lock.js';
import type { Action, CoordinatorFence, CoordinatorTurn, Run, RunFence, WorkItem } from './records.js';
import { type StoredRow, toCoordinatorTurn, toMailboxEntry } from './rows.js';

const lockMailboxRow = 'SELECT * FROM work_mailbox WHERE id = ? FOR NO KEY UPDATE';
const lockTurnRow = 'SELECT * FROM work_coordinator_turns WHERE id = ? FOR NO KEY UPDATE';

/** The records behind a fence that still holds, all locked. */
export interface FencedRun {
  readonly item: WorkItem;
  readonly action: Action;
  readonly run: Run;
}

/**
 * Locks item, Action and Run in that order and compares every part of the fence. True while the Run is the Action's
 * current one: same generation and spec, same lease, same owner. Call it in the transaction of each write of a Run.
 */
export function* checkRunFence(ctx: Context, fence: RunFence): Transaction<boolean> {
  return (yield* lockFencedRun(ctx, fence)) !== null;
}

/** Like {@link checkRunFence}, with the records; null when the fence has moved. */
export function* lockFencedRun(ctx: Context, fence: RunFence): Transaction<FencedRun | null> {
  const item = yield* findItemLocked(ctx, fence.itemId);
  const action = yield* findActionLocked(ctx, fence.actionId);
  const run = yield* findRunLocked(ctx, fence.runId);
  if (item === undefined || action === undefined || run === undefined) return null;
  return isCurrentRun(fence, action, run) && action.itemId === item.id ? { item, action, run } : null;
}

/** Pure: does the fence name the Action's live Run? An unknown part never matches. */
export function isCurrentRun(fence: RunFence, action: Action, run: Run): boolean {
  return (
    action.status === 'running' &&
    action.currentRunId === fence.runId &&
    action.generation === fence.generation &&
    action.specHash === fence.specHash &&
    action.leaseEpoch === fence.leaseEpoch &&
    run.status === 'running' &&
    run.actionId === fence.actionId &&
    run.leaseEpoch === fence.leaseEpoch &&
    run.owner === fence.owner
  );
}

/** The fence of a Run that was just claimed. */
export function runFenceOf(run: Run): RunFence {
  return {
    itemId: run.itemId,
    actionId: run.actionId,
    runId: run.id,
    generation: run.generation,
    specHash: run.specHash,
    leaseEpoch: run.leaseEpoch,
    owner: run.owner,
  };
}

/** The records behind a Coordinator fence whose claim still holds, all locked. */
export interface FencedTurn {
  readonly item: WorkItem;
  readonly turn: CoordinatorTurn;
}

/**
 * Locks the item, the mailbox entry and the turn and compares claim epoch, owner and turn. True while this turn is the
 * one that answers the entry. Whether the plan or the results moved meanwhile is compared when a decision is applied.
 */
export function* checkCoordinatorFence(ctx: Context, fence: CoordinatorFence): Transaction<boolean> {
  return (yield* lockFencedTurn(ctx, fence)) !== null;
}

/** Like {@link checkCoordinatorFence}, with the records; null when claim or turn are not current. */
export function* lockFencedTurn(ctx: Context, fence: CoordinatorFence): Transaction<FencedTurn | null> {
  const item = yield* findItemLocked(ctx, fence.itemId);
  const entryRow = yield* one<StoredRow>(lockMailboxRow, [fence.mailboxId]);
  const turnRow = yield* one<StoredRow>(lockTurnRow, [fence.turnId]);
  if (item === undefined || entryRow === undefined || turnRow === undefined) return null;
  const entry = toMailboxEntry(entryRow);
  const turn = toCoordinatorTurn(turnRow);
  const claimHolds =
    entry.itemId === item.id &&
    entry.status === 'claimed' &&
    entry.claimEpoch === fence.claimEpoch &&
    entry.owner === fence.owner;
  const turnHolds =
    turn.status === 'thinking' &&
    turn.mailboxId === entry.id &&
    turn.claimEpoch === fence.claimEpoch &&
    turn.owner === fence.owner;
  return claimHolds && turnHolds ? { item, turn } : null;
}
