import { all, type Context, isOwnerDead, run, type Transaction } from '@stint/storage';
import { ofDeadOwners } from './dead-owners.js';

/** Holds of Runs that have ended: their owner should have let go. */
const selectLeftHolds = `SELECT h.workspace_key, h.run_id, h.owner FROM work_holds h
  WHERE NOT EXISTS (SELECT 1 FROM work_runs r WHERE r.id = h.run_id AND r.status = 'running')`;
const freeEndedHold = `DELETE FROM work_holds WHERE run_id = ?
  AND NOT EXISTS (SELECT 1 FROM work_runs r WHERE r.id = ? AND r.status = 'running')`;

/** A workspace hold whose Run has ended and whose owner is gone. */
export interface DeadHold {
  readonly workspaceKey: string;
  readonly runId: string;
  readonly owner: string;
}

/** Holds that nobody will let go of. Before they are freed, end the process groups of their owners. */
export function* findDeadHolds(ctx: Context): Transaction<readonly DeadHold[]> {
  const rows = yield* all<{ workspace_key: string; run_id: string; owner: string }>(selectLeftHolds);
  return (yield* ofDeadOwners(ctx, rows)).map((row) => ({
    workspaceKey: row.workspace_key,
    runId: row.run_id,
    owner: row.owner,
  }));
}

/** Frees a hold of a dead owner; false when the owner lives or the hold is gone. */
export function* recoverHold(ctx: Context, hold: DeadHold): Transaction<boolean> {
  if (!(yield* isOwnerDead(ctx, hold.owner))) return false;
  return (yield* run(freeEndedHold, [hold.runId, hold.runId])) > 0;
}

/** The owner of a Run that was cancelled or superseded says that its tools have stopped: the workspace is free. */
export function* releaseWorkspace(_ctx: Context, runId: string): Transaction<boolean> {
  return (yield* run(freeEndedHold, [runId, runId])) > 0;
}
