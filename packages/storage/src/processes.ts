import type { Context } from './context.js';
import type { MigrationSet } from './migrate.js';
import { all, one, run, type Transaction } from './statement.js';

/** A process that has the store open. */
export interface ProcessRecord {
  readonly id: string;
  readonly role: string;
  /** Name of the host with a mark of the machine, see `hostIdentity`. */
  readonly host: string;
  readonly pid: number;
  /** Start time of the process as the host tells it; tells two processes with one pid apart. Empty where unknown. */
  readonly startIdentity: string;
  /** Integer ms UTC. */
  readonly registeredAt: number;
  readonly expiresAt: number;
}

/** The tables of this package. */
export const storageMigrations: MigrationSet = {
  package: 'storage',
  migrations: [
    {
      number: 1,
      name: 'processes',
      statements: [
        `CREATE TABLE storage_processes (
          id TEXT PRIMARY KEY,
          role TEXT NOT NULL,
          host TEXT NOT NULL,
          pid BIGINT NOT NULL,
          start_identity TEXT NOT NULL,
          registered_at BIGINT NOT NULL,
          expires_at BIGINT NOT NULL,
          ended_at BIGINT
        )`,
      ],
    },
  ],
};

const insertProcess = `INSERT INTO storage_processes
  (id, role, host, pid, start_identity, registered_at, expires_at, ended_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, NULL)`;
const renewProcess = 'UPDATE storage_processes SET expires_at = ? WHERE id = ? AND ended_at IS NULL';
const endProcess = 'UPDATE storage_processes SET ended_at = ? WHERE id = ? AND ended_at IS NULL';
const endExpiredProcess =
  'UPDATE storage_processes SET ended_at = ? WHERE id = ? AND ended_at IS NULL AND expires_at <= ?';
const selectProcess = 'SELECT expires_at, ended_at FROM storage_processes WHERE id = ?';
const selectOpen = `SELECT id, role, host, pid, start_identity AS "startIdentity", registered_at AS "registeredAt",
  expires_at AS "expiresAt" FROM storage_processes WHERE ended_at IS NULL ORDER BY registered_at, id`;
const deleteEndedBefore = 'DELETE FROM storage_processes WHERE ended_at < ?';

/** Rows of ended processes are kept a week for people who look; a missing row counts as dead just the same. */
const endedKeptMs = 7 * 24 * 3_600_000;

/** True when the heartbeat row of the owner is missing, ended or expired. `''` and unknown ids are dead. */
export function* isOwnerDead(ctx: Context, owner: string): Transaction<boolean> {
  const row = yield* one<{ expires_at: number; ended_at: number | null }>(selectProcess, [owner]);
  return row === undefined || row.ended_at !== null || row.expires_at <= ctx.now;
}

/** Writes the heartbeat row; answers when it expires. */
export function* registerProcess(
  ctx: Context,
  process: Omit<ProcessRecord, 'registeredAt' | 'expiresAt'>,
  leaseMs: number,
): Transaction<number> {
  const { id, role, host, pid, startIdentity } = process;
  yield* run(insertProcess, [id, role, host, pid, startIdentity, ctx.now, ctx.now + leaseMs]);
  return ctx.now + leaseMs;
}

/** Renews a row that nobody ended, expired or not; answers when it expires, or null when it is lost. */
export function* renewHeartbeat(ctx: Context, id: string, leaseMs: number): Transaction<number | null> {
  const changed = yield* run(renewProcess, [ctx.now + leaseMs, id]);
  return changed === 1 ? ctx.now + leaseMs : null;
}

export function* endHeartbeat(ctx: Context, id: string): Transaction<boolean> {
  return (yield* run(endProcess, [ctx.now, id])) === 1;
}

/** Rows that nobody ended, expired ones too, with the time they were read at. */
export function* openProcesses(ctx: Context): Transaction<{ now: number; open: readonly ProcessRecord[] }> {
  return { now: ctx.now, open: yield* all<ProcessRecord>(selectOpen) };
}

/**
 * Ends the given rows; a row renewed since it was seen expired is left. Extends the rows of `spared`,
 * processes known to be alive that had no chance to renew. Answers how many it ended.
 */
export function* endProcesses(ctx: Context, verdict: ProcessVerdict, leaseMs: number): Transaction<number> {
  let ended = 0;
  for (const id of verdict.gone) ended += yield* run(endProcess, [ctx.now, id]);
  for (const id of verdict.expired) ended += yield* run(endExpiredProcess, [ctx.now, id, ctx.now]);
  for (const id of verdict.spared) yield* run(renewProcess, [ctx.now + leaseMs, id]);
  yield* run(deleteEndedBefore, [ctx.now - endedKeptMs]);
  return ended;
}

/** Ids of open rows by what was found out about them. */
export interface ProcessVerdict {
  readonly gone: readonly string[];
  readonly expired: readonly string[];
  readonly spared: readonly string[];
}
