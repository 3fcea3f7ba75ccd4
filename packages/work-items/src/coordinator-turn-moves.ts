import { type Context, one, run, type Transaction } from '@stint/storage';
import { writeEvent } from './events.js';
import { workItemLimits } from './limits.js';
import { type CoordinatorTurnTrigger, coordinatorTurnTransitions } from './mailbox-transitions.js';
import type { CoordinatorTurn } from './records.js';
import { type StoredRow, toCoordinatorTurn } from './rows.js';
import { cutText } from './text.js';
import type { Actor } from './transitions.js';

const lockThinkingRow =
  "SELECT * FROM work_coordinator_turns WHERE item_id = ? AND status = 'thinking' FOR NO KEY UPDATE";
const updateTurn = `UPDATE work_coordinator_turns SET status = ?, decision = ?, error_code = ?, error_message = ?,
  ended_at = ? WHERE id = ?`;
const raiseCoordinatorRevision =
  'UPDATE work_items SET coordinator_revision = coordinator_revision + 1, updated_at = ? WHERE id = ?';

/** The turn of a locked item that is thinking now, locked. */
export function* lockThinkingTurn(_ctx: Context, itemId: string): Transaction<CoordinatorTurn | undefined> {
  const row = yield* one<StoredRow>(lockThinkingRow, [itemId]);
  return row === undefined ? undefined : toCoordinatorTurn(row);
}

/** The only writer of a Coordinator turn's end; moves coordinatorRevision. */
export function* moveTurn(
  ctx: Context,
  turn: CoordinatorTurn,
  move: {
    readonly on: CoordinatorTurnTrigger;
    readonly by: Actor;
    readonly decision?: string;
    readonly error?: { readonly code: string; readonly message: string };
  },
): Transaction<void> {
  const status = coordinatorTurnTransitions.next(turn.status, move.on, move.by, turn.id);
  const message = move.error === undefined ? null : cutText(move.error.message, workItemLimits.lineBytes);
  yield* run(updateTurn, [status, move.decision ?? null, move.error?.code ?? null, message, ctx.now, turn.id]);
  yield* run(raiseCoordinatorRevision, [ctx.now, turn.itemId]);
  yield* writeEvent(ctx, { itemId: turn.itemId, type: `coordinator.${status}`, text: message ?? status });
}
