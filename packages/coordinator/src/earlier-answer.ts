import { listTurns, unresolved } from '@stint/journal';
import type { Context, Transaction } from '@stint/storage';
import { type CoordinatorTurn, listCoordinatorTurns, type Revisions } from '@stint/work-items';

/** What earlier turns on the same mailbox entry left behind when their process died. */
export interface EarlierTurns {
  /** A request whose outcome nobody knows; it was paid or it was not. */
  readonly unknownTurnIds: readonly string[];
  /** The newest answer that was paid for and that no decision came of, on the same state of the item; else null. */
  readonly answer: EarlierAnswer | null;
}

export interface EarlierAnswer {
  readonly providerTurnId: string;
  readonly text: string;
  /** True if the validator has refused it already: it counts as the one refusal that is sent back. */
  readonly rejected: boolean;
}

const nothing: EarlierTurns = { unknownTurnIds: [], answer: null };

/**
 * Looks for what was paid for and not used. An answer counts only if the item is as it was when it was asked for:
 * contract, plan and results unmoved.
 */
export function* earlierTurns(ctx: Context, turn: CoordinatorTurn): Transaction<EarlierTurns> {
  const before = (yield* listCoordinatorTurns(ctx, turn.mailboxId)).filter((other) => other.id !== turn.id);
  const last = before.at(-1);
  if (last === undefined) return nothing;
  const unknownTurnIds: string[] = [];
  for (const { id } of before) {
    const open = yield* unresolved(ctx, { kind: 'coordinator', id });
    unknownTurnIds.push(...open.turns.map((unknown) => unknown.id));
  }
  return { unknownTurnIds, answer: sameState(last, turn) ? yield* lastAnswer(ctx, last.id) : null };
}

function sameState(a: Revisions, b: Revisions): boolean {
  return a.revision === b.revision && a.planRevision === b.planRevision && a.resultsRevision === b.resultsRevision;
}

function* lastAnswer(ctx: Context, coordinatorTurnId: string): Transaction<EarlierAnswer | null> {
  const turns = yield* listTurns(ctx, { kind: 'coordinator', id: coordinatorTurnId });
  const answered = turns.filter((turn) => turn.response !== null);
  const last = answered.at(-1);
  if (last?.response == null || (last.status !== 'responded' && last.status !== 'rejected')) return null;
  return { providerTurnId: last.id, text: last.response.text, rejected: last.status === 'rejected' };
}
