import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { invalidField } from './errors.js';
import { writeEvent } from './events.js';
import { isEnded } from './items.js';
import { runFenceOf } from './fences.js';
import { listActions } from './item-records.js';
import { defaultMaxConcurrentActions, maxConcurrentActionsRange } from './limits.js';
import { findActionLocked, findFreeItemLocked } from './lock.js';
import { type FoundWork, isFree, type StopReader } from './mailbox.js';
import { moveAction } from './move-action.js';
import type { Outcome } from './outcome.js';
import type { Action, ActionInput, Run, RunFence, WorkItem } from './records.js';
import { type StoredRow, toActionInput } from './rows.js';
import { settleItem } from './settle-item.js';

const countOwnRuns = "SELECT COUNT(*) AS count FROM work_runs WHERE status = 'running' AND owner = ?";
/** By age over all items, so that no item starves another. Shared Actions of a held workspace are left out. */
const selectCandidates = `SELECT a.id, a.item_id, i.workspace_key FROM work_actions a JOIN work_items i ON i.id = a.item_id
  WHERE a.status = 'ready' AND (a.not_before IS NULL OR a.not_before <= ?)
    AND i.paused = 0 AND i.claims_held = 0 AND i.cancelled_at IS NULL AND i.final_result IS NULL
    AND (a.workspace_mode = 'read' OR i.workspace_key IS NULL
      OR NOT EXISTS (SELECT 1 FROM work_holds h WHERE h.workspace_key = i.workspace_key))
  ORDER BY a.ready_at, a.item_id, a.ordinal`;
const insertHold = `INSERT INTO work_holds (workspace_key, item_id, run_id, owner, taken_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;
const insertRun = `INSERT INTO work_runs (id, item_id, action_id, status, attempt, attempt_id, resumes_run_id, generation,
  spec_hash, lease_epoch, owner, revision, started_at) VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const selectPendingInputs = "SELECT * FROM work_inputs WHERE action_id = ? AND status = 'pending' ORDER BY seq";

export interface ClaimActionOptions {
  /** Only Actions of these items. @default all */
  readonly itemIds?: readonly string[];
  /** Machine id of this process: Actions of another machine's workspaces are passed over. @default any machine */
  readonly machine?: string;
  /** Running Runs this process may own at a time, 1 to 12. @default 3 */
  readonly maxConcurrentActions?: number;
  /** Items whose account is stopped are passed over. @default none is */
  readonly stopOf?: StopReader;
}

/** A Run that was just begun, with what its prompt is made of. */
export interface ClaimedAction {
  readonly item: WorkItem;
  readonly action: Action;
  readonly run: Run;
  readonly fence: RunFence;
  /** In the order of the Action's dependencies; a closed one has no outcome. */
  readonly dependencies: readonly { readonly slug: string; readonly outcome: Outcome | null }[];
  readonly pendingInputs: readonly ActionInput[];
}

/**
 * The Action that `claimAction` would begin now, looked for without a lock and without a write, so that stopped items cost no other process
 * anything. Claim it by `itemIds: [itemId]`.
 *
 * @param passOver ids of Actions that could not be claimed although they were found
 */
export function* findActionWork(
  ctx: Context,
  options: ClaimActionOptions = {},
  passOver: ReadonlySet<string> = new Set(),
): Transaction<FoundWork | null> {
  if (!(yield* hasRoom(ctx, options))) return null;
  for (const candidate of yield* all<Candidate>(selectCandidates, [ctx.now])) {
    const { id, item_id: itemId } = candidate;
    if (passOver.has(id) || !isOurs(candidate, options)) continue;
    if (yield* isFree(ctx, itemId, options)) return { id, itemId };
  }
  return null;
}

/**
 * Begins a Run of the ready Action that has waited longest: ready -> running, lease epoch + 1, workspace hold. What is
 * blocked (by a hold, a stop, another machine, a pause, a transaction at work on the item) is skipped, not waited on. Null when
 * nothing can begin.
 */
export function* claimAction(ctx: Context, options: ClaimActionOptions = {}): Transaction<ClaimedAction | null> {
  if (!(yield* hasRoom(ctx, options))) return null;
  for (const candidate of yield* all<Candidate>(selectCandidates, [ctx.now])) {
    if (!isOurs(candidate, options) || !(yield* isFree(ctx, candidate.item_id, options))) continue;
    const claimed = yield* claimOne(ctx, candidate);
    if (claimed !== null) return claimed;
  }
  return null;
}

type Candidate = { readonly id: string; readonly item_id: string; readonly workspace_key: string | null };

/** False while this process owns as many Runs as it may. */
function* hasRoom(ctx: Context, options: ClaimActionOptions): Transaction<boolean> {
  const maximum = checkConcurrency(options.maxConcurrentActions ?? defaultMaxConcurrentActions);
  const own = yield* one<{ count: number }>(countOwnRuns, [ctx.owner]);
  return Number(own?.count ?? 0) < maximum;
}

function checkConcurrency(value: number): number {
  const { minimum, maximum } = maxConcurrentActionsRange;
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw invalidField('maxConcurrentActions', `is ${value}; give an integer from ${minimum} to ${maximum}`);
}

function isOurs(candidate: Candidate, options: ClaimActionOptions): boolean {
  if (options.machine === undefined || candidate.workspace_key === null) return true;
  return candidate.workspace_key.startsWith(`${options.machine}:`);
}

function* claimOne(ctx: Context, candidate: Candidate): Transaction<ClaimedAction | null> {
  const item = yield* findFreeItemLocked(ctx, candidate.item_id);
  const action = yield* findActionLocked(ctx, candidate.id);
  if (item === undefined || action === undefined) return null;
  if (item.paused || item.claimsHeld || isEnded(item)) return null;
  if (action.status !== 'ready' || (action.notBefore !== null && action.notBefore > ctx.now)) return null;
  const run = newRun(ctx, item, action);
  if (!(yield* takeWorkspace(ctx, item, action, run.id))) return null;
  return yield* beginRun(ctx, item, action, run);
}

function* takeWorkspace(ctx: Context, item: WorkItem, action: Action, runId: string): Transaction<boolean> {
  if (action.workspaceMode === 'read' || item.workspaceKey === null) return true;
  return (yield* run(insertHold, [item.workspaceKey, item.id, runId, ctx.owner, ctx.now])) === 1;
}

function newRun(ctx: Context, item: WorkItem, action: Action): Run {
  const id = ctx.newId();
  return {
    id,
    itemId: item.id,
    actionId: action.id,
    status: 'running',
    reason: null,
    attempt: action.openAttemptId === null ? action.attempts + 1 : action.attempts,
    attemptId: action.openAttemptId ?? id,
    resumesRunId: action.resumeFromRunId,
    generation: action.generation,
    specHash: action.specHash,
    leaseEpoch: action.leaseEpoch + 1,
    owner: ctx.owner,
    revision: item.revision,
    outcome: null,
    startedAt: ctx.now,
    endedAt: null,
  };
}

function* beginRun(ctx: Context, item: WorkItem, action: Action, begun: Run): Transaction<ClaimedAction> {
  yield* run(insertRun, [
    begun.id,
    begun.itemId,
    begun.actionId,
    begun.attempt,
    begun.attemptId,
    begun.resumesRunId,
    begun.generation,
    begun.specHash,
    begun.leaseEpoch,
    begun.owner,
    begun.revision,
    begun.startedAt,
  ]);
  const moved = yield* moveAction(ctx, action, {
    on: 'claim',
    by: 'scheduler',
    change: {
      leaseEpoch: begun.leaseEpoch,
      currentRunId: begun.id,
      attempts: begun.attempt,
      openAttemptId: begun.attemptId,
      readyAt: null,
    },
  });
  const text = `${action.slug}: attempt ${begun.attempt}`;
  yield* writeEvent(ctx, { itemId: item.id, type: 'run.started', actionId: action.id, runId: begun.id, text });
  yield* settleItem(ctx, item.id);
  const inputs = yield* all<StoredRow>(selectPendingInputs, [action.id]);
  return {
    item,
    action: moved,
    run: begun,
    fence: runFenceOf(begun),
    dependencies: dependencyOutcomes(action, yield* listActions(ctx, item.id)),
    pendingInputs: inputs.map(toActionInput),
  };
}

function dependencyOutcomes(action: Action, actions: readonly Action[]): ClaimedAction['dependencies'] {
  const bySlug = new Map(actions.map((other) => [other.slug, other]));
  return action.dependencies.map((slug) => ({ slug, outcome: bySlug.get(slug)?.outcome ?? null }));
}
