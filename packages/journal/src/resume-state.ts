import { one, type Context, type Transaction } from '@stint/storage';
import type { FinishReason } from '@stint/provider-hooks';
import { readHistory } from './history.js';
import { readOperations } from './operations.js';
import type { OperationStatus, StoredEntry, TurnOwner } from './types.js';

const selectLastNumber =
  'SELECT MAX(turn_number) AS "turnNumber" FROM journal_turns WHERE owner_kind = ? AND owner_id = ?';
const selectLastAnswered = `SELECT id, turn_number AS "turnNumber", finish_reason AS "finishReason", answered_model AS "model" FROM journal_turns
  WHERE owner_kind = ? AND owner_id = ? AND response_seq IS NOT NULL ORDER BY response_seq DESC LIMIT 1`;

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

/** The state to resume an owner's loop from; undefined if nothing was journaled for it. */
export function* resumeState(ctx: Context, owner: TurnOwner): Transaction<JournaledState | undefined> {
  const key = [owner.kind, owner.id];
  const entries = yield* readHistory(ctx, owner);
  const last = yield* one<{ turnNumber: number | null }>(selectLastNumber, key);
  const turnNumber = last?.turnNumber ?? 0;
  if (turnNumber === 0 && entries.length === 0) return undefined;
  const answered = yield* one<AnsweredRow>(selectLastAnswered, key);
  if (answered === undefined) return { entries, turnNumber, operations: [] };
  const { id: turnId, finishReason, model } = answered;
  const operations = yield* readOperations(ctx, turnId);
  return { entries, turnNumber, response: { turnId, finishReason, model }, operations };
}
