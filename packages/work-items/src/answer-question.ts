import type { Context, Transaction } from '@stint/storage';
import { continueWaiting } from './action-commands.js';
import { applied, appliedBefore, type CommandResult } from './commands.js';
import { WorkItemsError } from './errors.js';
import { writeInput } from './inputs.js';
import { workItemLimits } from './limits.js';
import { lockAction, lockItem } from './lock.js';
import { claimClientMessage, postAsPerson, refuseEnded } from './messages.js';
import { closeQuestion, findQuestionLocked } from './questions.js';
import type { Question, WorkItem } from './records.js';
import { settleItem } from './settle-item.js';
import { boundedText } from './text.js';

export interface AnswerInput {
  readonly itemId: string;
  readonly questionId: string;
  readonly text: string;
  /** The same id again is the same answer. */
  readonly clientMessageId: string;
}

/**
 * A person's answer. To the Coordinator it is a message that wakes it; to an Action it is an input with which the same
 * attempt goes on. Throws `question_closed` when someone else answered first.
 */
export function* answerQuestion(ctx: Context, input: AnswerInput): Transaction<CommandResult> {
  boundedText('text', input.text, workItemLimits.messageBytes);
  const item = yield* lockItem(ctx, input.itemId);
  const recordId = ctx.newId();
  const claim = { ...input, target: `question:${input.questionId}`, recordId };
  if (!(yield* claimClientMessage(ctx, claim))) return appliedBefore;
  refuseEnded(item, 'answer it');
  const question = yield* lockOpenQuestion(ctx, item, input.questionId);
  yield* closeQuestion(ctx, question, input.text);
  if (question.actionId === null) {
    yield* postAsPerson(ctx, item, { id: recordId, text: input.text, clientMessageId: input.clientMessageId });
  } else {
    yield* answerAction(ctx, question.actionId, { ...input, id: recordId });
  }
  yield* settleItem(ctx, item.id);
  return applied;
}

function* lockOpenQuestion(ctx: Context, item: WorkItem, questionId: string): Transaction<Question> {
  const question = yield* findQuestionLocked(ctx, questionId);
  if (question === undefined || question.itemId !== item.id) {
    throw new WorkItemsError('question_not_found', `Work item ${item.id} asked no question ${questionId}`);
  }
  if (question.status === 'asked') return question;
  throw new WorkItemsError('question_closed', `Question ${questionId} is ${question.status}; look at the item again`);
}

function* answerAction(
  ctx: Context,
  actionId: string,
  answer: AnswerInput & { readonly id: string },
): Transaction<void> {
  const action = yield* lockAction(ctx, answer.itemId, actionId);
  yield* writeInput(ctx, action, answer);
  if (action.status === 'waiting' && action.attention?.code === 'question') yield* continueWaiting(ctx, action);
}
