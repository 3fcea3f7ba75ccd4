import { all, type Context, type Database, isOwnerDead, type Transaction } from '@stint/storage';
import { readRequest } from './requests.js';
import { markRequestUnknown } from './settle.js';

const selectOpenOwners = "SELECT DISTINCT owner FROM ledger_requests WHERE status = 'reserved'";
const selectOpenOfOwner = "SELECT id FROM ledger_requests WHERE status = 'reserved' AND owner = ? ORDER BY id";

/** The ids of reservations whose process is gone. */
export function* findOrphanedRequests(ctx: Context): Transaction<readonly string[]> {
  const orphans: string[] = [];
  for (const { owner } of yield* all<{ owner: string }>(selectOpenOwners)) {
    if (!(yield* isOwnerDead(ctx, owner))) continue;
    const rows = yield* all<{ id: string }>(selectOpenOfOwner, [owner]);
    orphans.push(...rows.map((row) => row.id));
  }
  return orphans;
}

/** Marks a reservation of a dead process unknown: its hold stays charged. @returns false if it is not such a one (any more) */
export function* recoverRequest(ctx: Context, id: string): Transaction<boolean> {
  const request = yield* readRequest(id);
  if (request === undefined || request.status !== 'reserved' || !(yield* isOwnerDead(ctx, request.owner))) return false;
  return (yield* markRequestUnknown(ctx, id)).settled;
}

/** Recovers every orphaned reservation, one a transaction. Answers how many. */
export async function recoverRequests(db: Database): Promise<number> {
  await db.endDeadProcesses();
  let recovered = 0;
  for (const id of await db.read((ctx) => findOrphanedRequests(ctx))) {
    if (await db.write((ctx) => recoverRequest(ctx, id))) recovered += 1;
  }
  return recovered;
}
