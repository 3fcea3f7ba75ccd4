import { type Context, one, type Transaction } from '@stint/storage';
import type { TurnOwner } from './types.js';

const countTurns = `SELECT COUNT(*) AS count FROM journal_turns
  WHERE owner_kind = ? AND owner_id = ? AND status <> 'cancelled'`;
const countResults = `SELECT COUNT(*) AS count, COALESCE(SUM(failed), 0) AS failed FROM journal_entries
  WHERE owner_kind = ? AND owner_id = ? AND kind = 'tool-result' AND taken_back = 0`;

/** What an owner did. */
export interface OwnerCounts {
  /** Provider turns, those that were denied left out. */
  readonly loops: number;
  /** Tool calls that have a result. */
  readonly toolCalls: number;
  readonly failedToolCalls: number;
}

/** Counts for each owner, by its id, over the owner's own rows. */
export function* countByOwner(
  _ctx: Context,
  owners: readonly TurnOwner[],
): Transaction<ReadonlyMap<string, OwnerCounts>> {
  const counts = new Map<string, OwnerCounts>();
  for (const { kind, id } of owners) {
    const turns = yield* one<{ count: number }>(countTurns, [kind, id]);
    const results = yield* one<{ count: number; failed: number }>(countResults, [kind, id]);
    counts.set(id, {
      loops: turns?.count ?? 0,
      toolCalls: results?.count ?? 0,
      failedToolCalls: results?.failed ?? 0,
    });
  }
  return counts;
}
