import { readHistory, type TurnOwner, unresolved } from '@stint/journal';
import type { Context, Transaction } from '@stint/storage';
import type { Unresolved } from '@stint/work-items';

/**
 * What a person has to decide about before these owners' work may go on: requests without a known end, and operations
 * without a known effect whose call has no result. A call that failed while its Run lived has one: the model saw it.
 */
export function* openUnknowns(ctx: Context, owner: TurnOwner): Transaction<readonly Unresolved[]> {
  const { turns, operations } = yield* unresolved(ctx, owner);
  if (turns.length === 0 && operations.length === 0) return [];
  const answered = new Set((yield* readHistory(ctx, owner)).map((entry) => entry.key));
  return [
    ...operations
      .filter(({ turnId, callIndex }) => !answered.has(`result:${turnId}:${callIndex}`))
      .map(({ id }): Unresolved => ({ kind: 'operation', id })),
    ...turns.map(({ id }): Unresolved => ({ kind: 'turn', id })),
  ];
}
