import { listTurns, recordUnknown, type TurnOwner } from '@stint/journal';
import { markRequestUnknown } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';

const unsettled = {
  code: 'not_settled',
  message: 'The request ended, but its end could not be stored; it stays charged at its hold.',
};

/**
 * Settles requests that a living process could not settle when they ended, because the store refused the write. Call it
 * in the transaction that ends their owner's work: nothing is in flight then, so whatever is still `dispatching` will
 * never settle by itself. Nobody is asked: the process lived, and its owner goes on or ends by its own rules.
 */
export function* settleDangling(ctx: Context, owner: TurnOwner): Transaction<void> {
  for (const turn of yield* listTurns(ctx, owner)) {
    if (turn.status !== 'dispatching' || turn.process !== ctx.owner) continue;
    yield* markRequestUnknown(ctx, turn.id);
    yield* recordUnknown(ctx, turn.id, { error: unsettled });
  }
}
