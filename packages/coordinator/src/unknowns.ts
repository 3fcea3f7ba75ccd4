import { listOperations, readHistory, type TurnOwner, unresolved } from '@stint/journal';
import type { Context, Transaction } from '@stint/storage';
import type { Run, Unresolved } from '@stint/work-items';

/** Code of the reason of a Run that ended because a tool which changes things ran out of time. */
export const toolFatal = 'tool_fatal';

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

/** The same of a Run that has ended. What a tool's time-out left unknown is asked about although its call has a result. */
export function* unknownsOfRun(ctx: Context, run: Pick<Run, 'id' | 'reason'>): Transaction<readonly Unresolved[]> {
  const owner: TurnOwner = { kind: 'run', id: run.id };
  const open = yield* openUnknowns(ctx, owner);
  if (run.reason?.code !== toolFatal) return open;
  const cut = yield* cutOperations(ctx, owner);
  return [...cut, ...open.filter(({ id }) => !cut.some((operation) => operation.id === id))];
}

/**
 * The operations of a Run's last calls whose effect nobody knows: those that a time-out ended, and what failed right
 * before it. The model has acted on no result of these; those of earlier turns it has.
 */
export function* cutOperations(ctx: Context, owner: TurnOwner): Transaction<readonly Unresolved[]> {
  const operations = yield* listOperations(ctx, owner);
  const last = operations.at(-1)?.turnId;
  return operations
    .filter(({ turnId, status }) => turnId === last && status === 'unknown')
    .map(({ id }) => ({ kind: 'operation', id }));
}
