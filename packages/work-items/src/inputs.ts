import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { continueWaiting, restartAction } from './action-commands.js';
import { applied, appliedBefore, type CommandResult } from './commands.js';
import { WorkItemsError } from './errors.js';
import { writeEvent } from './events.js';
import { lockFencedRun } from './fences.js';
import { workItemLimits } from './limits.js';
import { lockAction, lockItem } from './lock.js';
import { claimClientMessage, refuseEnded } from './messages.js';
import { closeQuestion, listOpenQuestions } from './questions.js';
import type { Action, ActionInput, RunFence } from './records.js';
import { type StoredRow, toActionInput } from './rows.js';
import { settleItem } from './settle-item.js';
import { boundedText } from './text.js';

const nextInputSeq = 'SELECT COALESCE(MAX(seq), 0) + 1 AS seq FROM work_inputs WHERE action_id = ?';
const insertInput = `INSERT INTO work_inputs (id, item_id, action_id, seq, text, status, client_message_id, created_at)
  VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)`;
const selectPending = "SELECT * FROM work_inputs WHERE action_id = ? AND status = 'pending' ORDER BY seq";
const countPending = "SELECT COUNT(*) AS count FROM work_inputs WHERE action_id = ? AND status = 'pending'";
const bindInput = `UPDATE work_inputs SET status = 'bound', bound_run_id = ?, bound_turn_id = ?
  WHERE id = ? AND action_id = ? AND status = 'pending'`;
const acknowledgeBound = "UPDATE work_inputs SET status = 'acknowledged' WHERE bound_turn_id = ? AND status = 'bound'";
const unbindBound = `UPDATE work_inputs SET status = 'pending', bound_run_id = NULL, bound_turn_id = NULL
  WHERE bound_turn_id = ? AND status = 'bound'`;

export interface AddInputInput {
  readonly itemId: string;
  /** `<itemId>/<slug>` */
  readonly actionId: string;
  readonly text: string;
  readonly clientMessageId: string;
}

/**
 * A person's words to one Action. Running: taken up at the next safe point, or by the next attempt, once. Waiting: the
 * question is answered with it. Failed: the count of attempts starts anew. Throws `action_not_accepting_input` else.
 */
export function* addInput(ctx: Context, input: AddInputInput): Transaction<CommandResult> {
  boundedText('text', input.text, workItemLimits.inputBytes);
  const item = yield* lockItem(ctx, input.itemId);
  const inputId = ctx.newId();
  const claim = { ...input, target: `action:${input.actionId}`, recordId: inputId };
  if (!(yield* claimClientMessage(ctx, claim))) return appliedBefore;
  refuseEnded(item, 'give an Action an input');
  const action = yield* lockAction(ctx, item.id, input.actionId);
  refuseInput(action);
  yield* writeInput(ctx, action, { ...input, id: inputId });
  if (action.status === 'failed') yield* restartAction(ctx, action);
  if (action.status === 'waiting') yield* answerWithInput(ctx, action, input.text);
  yield* settleItem(ctx, item.id);
  return applied;
}

const acceptingStatuses: readonly Action['status'][] = ['ready', 'running', 'waiting', 'failed'];

function refuseInput(action: Action): void {
  if (acceptingStatuses.includes(action.status)) return;
  const message = `Action ${action.id} is ${action.status}; input is taken while it is ready, running, waiting or failed`;
  throw new WorkItemsError('action_not_accepting_input', message, { retryable: action.status === 'blocked' });
}

function* answerWithInput(ctx: Context, action: Action, text: string): Transaction<void> {
  const open = (yield* listOpenQuestions(ctx, action.itemId)).filter((question) => question.actionId === action.id);
  for (const question of open) yield* closeQuestion(ctx, question, text);
  const code = action.attention?.code;
  if (code === 'question' || code === 'interrupted_delivery') yield* continueWaiting(ctx, action);
}

/** Writes an input of an Action with the next number. */
export function* writeInput(
  ctx: Context,
  action: Action,
  input: { readonly id: string; readonly text: string; readonly clientMessageId: string | null },
): Transaction<void> {
  const next = yield* one<{ seq: number }>(nextInputSeq, [action.id]);
  const { id, text, clientMessageId } = input;
  const seq = Number(next?.seq ?? 1);
  yield* run(insertInput, [id, action.itemId, action.id, seq, text, clientMessageId, ctx.now]);
  yield* writeEvent(ctx, { itemId: action.itemId, type: 'input.added', actionId: action.id, text });
}

/** Inputs of a Run's Action that no turn carries yet, oldest first; none when the fence moved. */
export function* pendingInputs(ctx: Context, fence: RunFence): Transaction<readonly ActionInput[]> {
  if ((yield* lockFencedRun(ctx, fence)) === null) return [];
  return (yield* all<StoredRow>(selectPending, [fence.actionId])).map(toActionInput);
}

/** Binds inputs to the turn that carries them, in the transaction that starts it. Throws for one that is not pending. */
export function* bindInputs(
  _ctx: Context,
  fence: RunFence,
  bind: { readonly turnId: string; readonly inputIds: readonly string[] },
): Transaction<void> {
  for (const inputId of bind.inputIds) {
    const bound = yield* run(bindInput, [fence.runId, bind.turnId, inputId, fence.actionId]);
    if (bound === 1) continue;
    throw new WorkItemsError('illegal_transition', `Input ${inputId} of ${fence.actionId} is not pending; drain again`);
  }
}

/** The turn was answered: its inputs are consumed. In the transaction that finishes it, while the fence holds. */
export function* acknowledgeInputs(_ctx: Context, turnId: string): Transaction<number> {
  return yield* run(acknowledgeBound, [turnId]);
}

/** The turn failed or its end is unknown: its inputs are pending again, so that nothing typed is lost. */
export function* unbindInputs(_ctx: Context, turnId: string): Transaction<number> {
  return yield* run(unbindBound, [turnId]);
}

/**
 * True when nothing waits to be taken up, so the Run may end; false: drain and go on. `endRun` checks it again, so an
 * input that comes between is not lost.
 */
export function* closePendingInput(ctx: Context, fence: RunFence): Transaction<boolean> {
  if ((yield* lockFencedRun(ctx, fence)) === null) return true;
  const pending = yield* one<{ count: number }>(countPending, [fence.actionId]);
  return Number(pending?.count ?? 0) === 0;
}
