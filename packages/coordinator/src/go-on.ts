import type { TurnOwner, TurnRecord } from '@stint/journal';
import type { Context, Transaction } from '@stint/storage';
import {
  continueAction,
  getCoordinatorTurn,
  getRun,
  lockAction,
  lockItem,
  resolveCoordinatorTurn,
  type Run,
} from '@stint/work-items';
import { CoordinatorError } from './errors.js';
import { unknownsOfRun } from './unknowns.js';

/** Where a turn belongs; item and Action are locked, since the account comes after them. */
export interface Place {
  readonly itemId: string;
  /** Null for a Coordinator turn. */
  readonly run: Run | null;
}

/** Locks item and Action. @throws CoordinatorError `not_found` */
export function* placeOf(ctx: Context, owner: TurnOwner): Transaction<Place> {
  const run = owner.kind === 'run' ? yield* getRun(ctx, owner.id) : undefined;
  const turn = owner.kind === 'coordinator' ? yield* getCoordinatorTurn(ctx, owner.id) : undefined;
  const itemId = run?.itemId ?? turn?.itemId;
  if (itemId === undefined)
    throw new CoordinatorError('not_found', `Nothing is known of ${owner.kind} ${owner.id}, to which this belongs.`);
  yield* lockItem(ctx, itemId);
  if (run !== undefined) yield* lockAction(ctx, itemId, run.actionId);
  return { itemId, run: run ?? null };
}

/** Lets whoever waited for this go on, once nothing of it is unknown any longer. */
export function* goOnFrom(ctx: Context, turn: TurnRecord, { itemId, run }: Place): Transaction<void> {
  if (run === null) {
    yield* resolveCoordinatorTurn(ctx, { itemId, coordinatorTurnId: turn.owner.id, turnId: turn.id });
    return;
  }
  const { actionId } = run;
  yield* continueAction(ctx, { itemId, actionId, unresolved: yield* unknownsOfRun(ctx, run) });
}
