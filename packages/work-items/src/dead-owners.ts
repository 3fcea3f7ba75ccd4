import { type Context, isOwnerDead, type Transaction } from '@stint/storage';

/** Keeps the rows whose owner is dead. Each owner is looked up once. */
export function* ofDeadOwners<R extends { readonly owner: string }>(
  ctx: Context,
  rows: readonly R[],
): Transaction<readonly R[]> {
  const dead = new Map<string, boolean>();
  for (const { owner } of rows) if (!dead.has(owner)) dead.set(owner, yield* isOwnerDead(ctx, owner));
  return rows.filter((row) => dead.get(row.owner) === true);
}
