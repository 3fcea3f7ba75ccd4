import { all, type Context, one, run, type Transaction } from '@stint/storage';
import { writeEvent } from './events.js';
import type { Question } from './records.js';
import { type StoredRow, toQuestion } from './rows.js';

const insertQuestion = `INSERT INTO work_questions (id, item_id, action_id, run_id, text, status, asked_at)
  VALUES (?, ?, ?, ?, ?, 'asked', ?)`;
const lockQuestionRow = 'SELECT * FROM work_questions WHERE id = ? FOR NO KEY UPDATE';
const selectAsked = "SELECT * FROM work_questions WHERE item_id = ? AND status = 'asked' ORDER BY asked_at, id";
const updateQuestion =
  "UPDATE work_questions SET status = ?, answer = ?, closed_at = ? WHERE id = ? AND status = 'asked'";

/** Writes a question and answers its id. Null `actionId`: the Coordinator asks. */
export function* openQuestion(
  ctx: Context,
  question: {
    readonly itemId: string;
    readonly actionId: string | null;
    readonly runId: string | null;
    readonly text: string;
  },
): Transaction<string> {
  const id = ctx.newId();
  const { itemId, actionId, runId, text } = question;
  yield* run(insertQuestion, [id, itemId, actionId, runId, text, ctx.now]);
  yield* writeEvent(ctx, { itemId, type: 'question.asked', actionId, runId, text });
  return id;
}

/** Locks a question; its item is locked already. */
export function* findQuestionLocked(_ctx: Context, questionId: string): Transaction<Question | undefined> {
  const row = yield* one<StoredRow>(lockQuestionRow, [questionId]);
  return row === undefined ? undefined : toQuestion(row);
}

/** Questions of an item that nobody answered yet, oldest first. */
export function* listOpenQuestions(_ctx: Context, itemId: string): Transaction<readonly Question[]> {
  return (yield* all<StoredRow>(selectAsked, [itemId])).map(toQuestion);
}

/** asked -> answered | withdrawn; nothing moves when it was closed before. */
export function* closeQuestion(ctx: Context, question: Question, answer: string | null): Transaction<void> {
  const status = answer === null ? 'withdrawn' : 'answered';
  yield* run(updateQuestion, [status, answer, ctx.now, question.id]);
  const { itemId, actionId, runId } = question;
  yield* writeEvent(ctx, { itemId, type: `question.${status}`, actionId, runId, text: answer ?? question.text });
}
