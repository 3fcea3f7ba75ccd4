import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { actionTransitions, type ActionTrigger, satisfiesDependents } from './action-transitions.js';
import { freeingCommand } from './attention.js';
import { writeEvent } from './events.js';
import { findActionLocked } from './lock.js';
import { readOutlines } from './action-outlines.js';
import { workItemLimits } from './limits.js';
import type { Action, AttentionCode, Run } from './records.js';
import { type StoredRow, toAction, toRun } from './rows.js';
import { type RunTrigger, runTransitions } from './run-transitions.js';
import { cutText } from './text.js';
import type { Actor } from './transitions.js';

const updateAction = `UPDATE work_actions SET status = ?, attention_code = ?, attention_message = ?, attention_ref = ?,
  dependencies = ?, generation = ?, spec_hash = ?, lease_epoch = ?, current_run_id = ?, resume_run_id = ?, attempts = ?,
  open_attempt_id = ?, not_before = ?, ready_at = ?, outcome = ?, outcome_run_id = ?, closing_reason = ?, updated_at = ? WHERE id = ?`;
const updateRun = `UPDATE work_runs SET status = ?, reason_code = ?, reason_message = ?, outcome = ?, ended_at = ?
  WHERE id = ? AND status = 'running'`;
const raiseResultsRevision =
  'UPDATE work_items SET results_revision = results_revision + 1, updated_at = ? WHERE id = ?';
const lockItemActions = 'SELECT * FROM work_actions WHERE item_id = ? ORDER BY ordinal FOR NO KEY UPDATE';
const lockRunRow = 'SELECT * FROM work_runs WHERE id = ? FOR NO KEY UPDATE';
const freeRunInputs = `UPDATE work_inputs SET status = 'pending', bound_run_id = NULL, bound_turn_id = NULL
  WHERE bound_run_id = ? AND status = 'bound'`;
const supersedeInputs = `UPDATE work_inputs SET status = 'superseded', bound_run_id = NULL, bound_turn_id = NULL
  WHERE action_id = ? AND status IN ('pending', 'bound')`;
const withdrawQuestions = `UPDATE work_questions SET status = 'withdrawn', closed_at = ?
  WHERE action_id = ? AND status = 'asked'`;

export interface ActionChange {
  readonly attention?: { readonly code: AttentionCode; readonly message: string; readonly ref: string | null } | null;
  readonly dependencies?: readonly string[];
  readonly generation?: number;
  readonly specHash?: string;
  readonly leaseEpoch?: number;
  readonly currentRunId?: string | null;
  readonly resumeFromRunId?: string | null;
  readonly attempts?: number;
  readonly openAttemptId?: string | null;
  readonly notBefore?: number | null;
  readonly readyAt?: number | null;
  readonly outcome?: Action['outcome'];
  readonly outcomeRunId?: string | null;
  readonly closingReason?: string | null;
}

/**
 * The only writer of an Action's status: looks the move up in the table, writes it with what the caller says moves
 * along, and writes the event. Attention and `notBefore` are cleared unless the change sets them.
 */
export function* moveAction(
  ctx: Context,
  action: Action,
  move: { readonly on: ActionTrigger; readonly by: Actor; readonly change?: ActionChange },
): Transaction<Action> {
  const status = actionTransitions.next(action.status, move.on, move.by, action.id);
  const attention = move.change?.attention ?? null;
  const moved = { ...action, notBefore: null, ...move.change, status };
  yield* run(updateAction, [
    status,
    attention?.code ?? null,
    attention === null ? null : cutText(attention.message, workItemLimits.lineBytes),
    attention?.ref ?? null,
    ...changeableColumns(moved),
    ctx.now,
    action.id,
  ]);
  yield* writeEvent(ctx, {
    itemId: action.itemId,
    type: `action.${status}`,
    actionId: action.id,
    runId: action.currentRunId ?? moved.currentRunId,
    text: attention?.message ?? `${action.slug}: ${status}`,
  });
  const subject = { itemId: action.itemId, actionId: action.id, ref: attention?.ref ?? null };
  return {
    ...moved,
    attention: attention === null ? null : { ...attention, command: freeingCommand(attention.code, subject) },
  };
}

function changeableColumns(action: Omit<Action, 'attention'>): (string | number | null)[] {
  return [
    JSON.stringify(action.dependencies),
    action.generation,
    action.specHash,
    action.leaseEpoch,
    action.currentRunId,
    action.resumeFromRunId,
    action.attempts,
    action.openAttemptId,
    action.notBefore,
    action.readyAt,
    action.outcome === null ? null : JSON.stringify(action.outcome),
    action.outcomeRunId,
    action.closingReason,
  ];
}

/** The only writer of a Run's status. Moves resultsRevision, so that decisions made on older results are refused. */
export function* moveRun(
  ctx: Context,
  ended: Run,
  move: {
    readonly on: RunTrigger;
    readonly by: Actor;
    readonly reason?: { readonly code: string; readonly message: string } | null;
    readonly outcome?: Run['outcome'];
  },
): Transaction<void> {
  const status = runTransitions.next(ended.status, move.on, move.by, ended.id);
  const reason = move.reason ?? null;
  yield* run(updateRun, [
    status,
    reason?.code ?? null,
    reason === null ? null : cutText(reason.message, workItemLimits.lineBytes),
    move.outcome === undefined || move.outcome === null ? null : JSON.stringify(move.outcome),
    ctx.now,
    ended.id,
  ]);
  yield* run(raiseResultsRevision, [ctx.now, ended.itemId]);
  yield* run(freeRunInputs, [ended.id]);
}

/** Ends an Action by a decision or a cancel: its Run, its inputs and its question end with it, its epochs move on. */
export function* endAction(
  ctx: Context,
  action: Action,
  end: {
    readonly on: 'close' | 'supersede' | 'cancel';
    readonly by: 'coordinator' | 'person';
    readonly reason: string;
  },
): Transaction<void> {
  const current = action.currentRunId === null ? undefined : yield* one<StoredRow>(lockRunRow, [action.currentRunId]);
  if (current !== undefined) {
    const reason = { code: end.on, message: end.reason };
    yield* moveRun(ctx, toRun(current), { on: end.on === 'cancel' ? 'cancel' : 'supersede', by: end.by, reason });
  }
  yield* run(supersedeInputs, [action.id]);
  yield* run(withdrawQuestions, [ctx.now, action.id]);
  const change: ActionChange = {
    generation: end.on === 'cancel' ? action.generation + 1 : action.generation,
    leaseEpoch: action.leaseEpoch + 1,
    currentRunId: null,
    resumeFromRunId: null,
    closingReason: cutText(end.reason, workItemLimits.lineBytes),
  };
  yield* moveAction(ctx, action, { on: end.on, by: end.by, change });
}

/** All Actions of a locked item, locked, in the order they were planned. */
export function* lockActions(_ctx: Context, itemId: string): Transaction<readonly Action[]> {
  return (yield* all<StoredRow>(lockItemActions, [itemId])).map(toAction);
}

/** Unlocks what has all its dependencies settled, and locks what a patch made wait again. */
export function* relockActions(ctx: Context, itemId: string): Transaction<void> {
  const outlines = yield* readOutlines(ctx, itemId);
  const settled = new Set(outlines.filter(({ status }) => satisfiesDependents(status)).map(({ slug }) => slug));
  for (const { id, status, dependencies } of outlines) {
    const free = dependencies.every((slug) => settled.has(slug));
    if (status === 'blocked' && free) yield* relock(ctx, id, { on: 'unlock', readyAt: ctx.now });
    else if (status === 'ready' && !free) yield* relock(ctx, id, { on: 'lock', readyAt: null });
  }
}

function* relock(
  ctx: Context,
  actionId: string,
  move: { readonly on: 'lock' | 'unlock'; readonly readyAt: number | null },
): Transaction<void> {
  const action = yield* findActionLocked(ctx, actionId);
  if (action === undefined) return;
  const change = { readyAt: move.readyAt, notBefore: action.notBefore };
  yield* moveAction(ctx, action, { on: move.on, by: 'system', change });
}
