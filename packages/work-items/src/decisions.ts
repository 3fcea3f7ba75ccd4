import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { isUnfinished } from './action-transitions.js';
import { clearTrouble } from './coordinator-turns.js';
import { moveTurn } from './coordinator-turn-moves.js';
import { revisionsOf } from './commands.js';
import { type FencedTurn, lockFencedTurn } from './fences.js';
import {
  completionViolations,
  type CompletionInput,
  type CompletionViolation,
  resultOfCompletion,
} from './final-result.js';
import { finishItem } from './finish-item.js';
import { workItemLimits } from './limits.js';
import { findEntryLocked, moveEntry, openEntries } from './mailbox.js';
import { writeMessage } from './messages.js';
import { lockActions } from './move-action.js';
import { applyMutations } from './apply-mutations.js';
import type { PlanMutation, PlanViolation } from './plan-types.js';
import { closeQuestion, listOpenQuestions, openQuestion } from './questions.js';
import type { Action, CoordinatorFence, Revisions, WorkItem } from './records.js';
import { type StoredRow, toRun } from './rows.js';
import { settleItem } from './settle-item.js';
import { boundedText } from './text.js';
import { validatePlan } from './validate-plan.js';
import { holdsCompletion } from './wake-after-run.js';

const liftHold = 'UPDATE work_items SET claims_held = 0 WHERE id = ?';
const selectCompletedRuns =
  "SELECT * FROM work_runs WHERE item_id = ? AND status = 'completed' ORDER BY started_at, id";
const countOpenInputs =
  "SELECT COUNT(*) AS count FROM work_inputs WHERE item_id = ? AND status IN ('pending', 'bound')";

export type FenceName = 'claim' | keyof Revisions;

export type DecisionResult =
  | { readonly applied: true }
  /** A fence moved since the turn began: think again on the current state. */
  | {
      readonly applied: false;
      readonly reason: 'stale';
      readonly moved: readonly FenceName[];
      readonly current: Revisions | null;
    }
  /** A rule is broken: nothing was written, the turn still thinks, the reasons may be sent back. */
  | {
      readonly applied: false;
      readonly reason: 'refused';
      readonly violations: readonly (PlanViolation | CompletionViolation)[];
    };

/**
 * Decision `plan`: validates the mutations against the plan as it is now and applies all of them, or nothing. Says
 * `reply` to the person if given. Ends turn and mailbox entry; planRevision + 1 if anything changed.
 */
export function* applyPlan(
  ctx: Context,
  fence: CoordinatorFence,
  decision: { readonly mutations: readonly PlanMutation[]; readonly reply?: string },
): Transaction<DecisionResult> {
  const fenced = yield* lockFencedTurn(ctx, fence);
  if (fenced === null || hasMoved(fence, fenced.item)) return staleAnswer(fence, fenced);
  const actions = yield* lockActions(ctx, fence.itemId);
  const validation = validatePlan({
    actions,
    mutations: decision.mutations,
    hasWorkDir: fenced.item.workDir !== null,
    asked: (yield* listOpenQuestions(ctx, fence.itemId)).length > 0,
  });
  if (validation.violations.length > 0) return refused(validation.violations);
  yield* applyMutations(ctx, fenced.item, { actions, validation });
  yield* run(liftHold, [fence.itemId]);
  yield* endDecision(ctx, fence, fenced, { name: 'plan', reply: decision.reply });
  return { applied: true };
}

/** Decision `ask_human`: the item waits for an answer. An older question of the Coordinator is withdrawn. */
export function* askHuman(
  ctx: Context,
  fence: CoordinatorFence,
  decision: { readonly question: string },
): Transaction<DecisionResult> {
  boundedText('question', decision.question, workItemLimits.questionBytes);
  const fenced = yield* lockFencedTurn(ctx, fence);
  if (fenced === null || hasMoved(fence, fenced.item)) return staleAnswer(fence, fenced);
  const asked = yield* listOpenQuestions(ctx, fence.itemId);
  for (const question of asked) if (question.actionId === null) yield* closeQuestion(ctx, question, null);
  const { itemId } = fence;
  yield* openQuestion(ctx, { itemId, actionId: null, runId: null, text: decision.question });
  yield* endDecision(ctx, fence, fenced, { name: 'ask_human', reply: decision.question });
  return { applied: true };
}

/**
 * Decision `complete`: sets the final result. Refused while an Action is unfinished, a message or an input is pending, a
 * criterion lacks a Run that passed it, or the output that the delivery target demands is missing.
 */
export function* completeItem(
  ctx: Context,
  fence: CoordinatorFence,
  decision: CompletionInput & { readonly reply?: string },
): Transaction<DecisionResult> {
  const fenced = yield* lockFencedTurn(ctx, fence);
  if (fenced === null || hasMoved(fence, fenced.item)) return staleAnswer(fence, fenced);
  const actions = yield* lockActions(ctx, fence.itemId);
  const completed = (yield* all<StoredRow>(selectCompletedRuns, [fence.itemId])).map(toRun);
  const violations = [
    ...unfinishedViolations(actions),
    ...(yield* pendingViolations(ctx, fence)),
    ...completionViolations(fenced.item, completed, decision),
  ];
  if (violations.length > 0) return refused(violations);
  yield* endDecision(ctx, fence, fenced, { name: 'complete', reply: decision.reply ?? decision.summary });
  yield* finishItem(ctx, fence.itemId, resultOfCompletion(fenced.item, completed, decision));
  yield* settleItem(ctx, fence.itemId);
  return { applied: true };
}

function unfinishedViolations(actions: readonly Action[]): readonly CompletionViolation[] {
  return actions
    .filter((action) => isUnfinished(action.status))
    .map(({ slug, status }) => ({
      rule: 'unfinished_action',
      action: slug,
      message: `"${slug}" is ${status}; finish or close it before the item is complete`,
    }));
}

function* pendingViolations(ctx: Context, fence: CoordinatorFence): Transaction<readonly CompletionViolation[]> {
  const found: CompletionViolation[] = [];
  const others = (yield* openEntries(ctx, fence.itemId)).filter((entry) => entry.id !== fence.mailboxId);
  if (others.some(holdsCompletion)) {
    found.push({
      rule: 'pending_message',
      action: null,
      message: 'A message or a changed contract waits for an answer',
    });
  }
  const inputs = yield* one<{ count: number }>(countOpenInputs, [fence.itemId]);
  if (Number(inputs?.count ?? 0) > 0) {
    found.push({ rule: 'pending_input', action: null, message: 'A person gave an input that no Run has taken up' });
  }
  return found;
}

function hasMoved(fence: CoordinatorFence, item: WorkItem): boolean {
  return movedFences(fence, item).length > 0;
}

function movedFences(fence: Revisions, item: Revisions): readonly FenceName[] {
  const names = ['revision', 'planRevision', 'resultsRevision', 'coordinatorRevision'] as const;
  return names.filter((name) => fence[name] !== item[name]);
}

function staleAnswer(fence: CoordinatorFence, fenced: FencedTurn | null): DecisionResult {
  if (fenced === null) return { applied: false, reason: 'stale', moved: ['claim'], current: null };
  const moved = movedFences(fence, fenced.item);
  return { applied: false, reason: 'stale', moved, current: revisionsOf(fenced.item) };
}

function refused(violations: readonly (PlanViolation | CompletionViolation)[]): DecisionResult {
  return { applied: false, reason: 'refused', violations };
}

/** Ends turn and entry, says the reply, clears what troubled the Coordinator, derives the status. */
function* endDecision(
  ctx: Context,
  fence: CoordinatorFence,
  fenced: FencedTurn,
  decision: { readonly name: string; readonly reply: string | undefined },
): Transaction<void> {
  if (decision.reply !== undefined && decision.reply.trim() !== '') {
    const message = { itemId: fence.itemId, role: 'coordinator' as const, text: decision.reply };
    yield* writeMessage(ctx, { ...message, coordinatorTurnId: fence.turnId });
  }
  yield* moveTurn(ctx, fenced.turn, { on: 'decide', by: 'coordinator', decision: decision.name });
  const entry = yield* findEntryLocked(ctx, fence.mailboxId);
  if (entry !== undefined) yield* moveEntry(entry, 'finish', 'coordinator');
  yield* clearTrouble(ctx, fence.itemId);
  yield* settleItem(ctx, fence.itemId);
}
