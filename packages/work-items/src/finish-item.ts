import { type Context, run, type Transaction } from '@stint/storage';
import { writeEvent } from './events.js';
import { lockThinkingTurn, moveTurn } from './coordinator-turn-moves.js';
import { moveEntry, openEntries } from './mailbox.js';
import type { FinalResult } from './records.js';

const setFinalResult = `UPDATE work_items SET final_result = ?, completed_at = ?, claims_held = 0,
  coordinator_trouble_code = NULL, coordinator_trouble_message = NULL, coordinator_trouble_ref = NULL
  WHERE id = ? AND final_result IS NULL AND cancelled_at IS NULL`;
const withdrawQuestions = `UPDATE work_questions SET status = 'withdrawn', closed_at = ?
  WHERE item_id = ? AND status = 'asked'`;

/** Sets the final result, once. The item's status follows in `settleItem`; what was still asked or queued ends. */
export function* finishItem(ctx: Context, itemId: string, result: FinalResult): Transaction<void> {
  yield* run(setFinalResult, [JSON.stringify(result), ctx.now, itemId]);
  yield* writeEvent(ctx, { itemId, type: 'item.completed', text: result.summary });
  yield* endConversation(ctx, itemId, 'system');
}

/** Ends what waits for an answer in an item that has ended: questions, mailbox entries, a thinking turn. */
export function* endConversation(ctx: Context, itemId: string, by: 'person' | 'system'): Transaction<void> {
  yield* run(withdrawQuestions, [ctx.now, itemId]);
  const turn = yield* lockThinkingTurn(ctx, itemId);
  if (turn !== undefined) {
    const error = { code: 'item_ended', message: 'The item ended while the Coordinator was thinking.' };
    yield* moveTurn(ctx, turn, { on: 'fail', by, error });
  }
  for (const entry of yield* openEntries(ctx, itemId)) yield* moveEntry(entry, 'discard', by);
}
