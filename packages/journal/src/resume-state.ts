import { one, type Context, type Transaction } from '@stint/storage';
import type { FinishReason } from '@stint/provider-hooks';
import { ownersOf, readHistory } from './history.js';
import { readOperations } from './operations.js';
import type { OperationStatus, StoredEntry, TurnOwner } from './types.js';

const selectLastNumber =
  'SELECT MAX(turn_number) AS "turnNumber" FROM journal_turns WHERE owner_kind = ? AND owner_id = ? AND purpose = \'turn\'';
const selectLastAnswered = `SELECT id, turn_number AS "turnNumber", finish_reason AS "finishReason", answered_model AS "model" FROM journal_turns
  WHERE owner_kind = ? AND owner_id = ? AND purpose = 'turn' AND response_seq IS NOT NULL ORDER BY response_seq DESC LIMIT 1`;

interface AnsweredRow {
  readonly id: string;
  readonly turnNumber: number;
  readonly finishReason: FinishReason;
  readonly model: string;
}

/** All that a loop needs to go on where the journal ends, without paying for what is stored. */
export interface JournaledState {
  readonly entries: readonly StoredEntry[];
  /** Number of the last turn that was begun; 0 if there was none. */
  readonly turnNumber: number;
  /** The last answered turn, if there is one. */
  readonly response?: { readonly turnId: string; readonly finishReason: FinishReason; readonly model: string };
  /** The operations of that turn. */
  readonly operations: readonly { readonly callIndex: number; readonly status: OperationStatus }[];
}

/**
 * The state to resume a loop from: of an owner, or of a chain of owners that go on from each other, oldest first. The
 * last answer is that of the newest owner that has one. Undefined if nothing was journaled.
 */
export function* resumeState(
  ctx: Context,
  owners: TurnOwner | readonly TurnOwner[],
): Transaction<JournaledState | undefined> {
  const entries = yield* readHistory(ctx, owners);
  let turnNumber = 0;
  let answered: AnsweredRow | undefined;
  for (const { kind, id } of ownersOf(owners)) {
    const last = yield* one<{ turnNumber: number | null }>(selectLastNumber, [kind, id]);
    turnNumber = Math.max(turnNumber, last?.turnNumber ?? 0);
    answered = (yield* one<AnsweredRow>(selectLastAnswered, [kind, id])) ?? answered;
  }
  if (turnNumber === 0 && entries.length === 0) return undefined;
  if (answered === undefined) return { entries, turnNumber, operations: [] };
  const { id: turnId, finishReason, model } = answered;
  const operations = yield* readOperations(ctx, turnId);
  return { entries, turnNumber, response: { turnId, finishReason, model }, operations };
}
