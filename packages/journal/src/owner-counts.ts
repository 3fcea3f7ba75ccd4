import { all, type Context, type Transaction } from '@stint/storage';
import type { TurnOwner } from './types.js';

/** How many owners one statement asks for; the places that are left over ask for the last of them again, so that SQL texts are few. */
const sizes = [10, 100, 1_000] as const;
const largest = 1_000;

/** What an owner did. */
export interface OwnerCounts {
  /** Provider turns, those that were denied left out. */
  readonly loops: number;
  /** Tool calls that have a result. */
  readonly toolCalls: number;
  readonly failedToolCalls: number;
}

const nothing: OwnerCounts = Object.freeze({ loops: 0, toolCalls: 0, failedToolCalls: 0 });

/** Counts for each owner, by its id: kept with its history, so that a thousand owners are one statement. */
export function* countByOwner(
  _ctx: Context,
  owners: readonly TurnOwner[],
): Transaction<ReadonlyMap<string, OwnerCounts>> {
  const counts = new Map(owners.map(({ id }): [string, OwnerCounts] => [id, nothing]));
  for (const kind of new Set(owners.map((owner) => owner.kind))) {
    const ids = owners.filter((owner) => owner.kind === kind).map(({ id }) => id);
    for (let start = 0; start < ids.length; start += largest) {
      const asked = filledUp(ids.slice(start, start + largest));
      const rows = yield* all<{ id: string } & OwnerCounts>(selectCounts(asked.length), [kind, ...asked]);
      for (const { id, loops, toolCalls, failedToolCalls } of rows)
        counts.set(id, { loops, toolCalls, failedToolCalls });
    }
  }
  return counts;
}

function selectCounts(size: number): string {
  return `SELECT owner_id AS id, turns AS loops, tool_calls AS "toolCalls", failed_tool_calls AS "failedToolCalls"
    FROM journal_histories WHERE owner_kind = ? AND owner_id IN (${Array(size).fill('?').join(', ')})`;
}

function filledUp(ids: readonly string[]): readonly string[] {
  const size = sizes.find((each) => each >= ids.length) ?? largest;
  return [...ids, ...Array<string>(size - ids.length).fill(ids.at(-1) ?? '')];
}
