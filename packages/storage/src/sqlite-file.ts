import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { StoreError } from './errors.js';
import { mapSqliteError } from './sqlite-errors.js';
import { retryWhileBusy } from './sqlite-retry.js';

export type Connection = Sqlite.Database;

export interface SqliteFileOptions {
  readonly path: string;
  readonly synchronous: 'full' | 'normal';
  readonly busyTimeoutMs: number;
  readonly walLimitBytes: number;
}

/** Opens a store file, new or not, for reading and writing in WAL mode. A store that is there is not written. */
export async function openStoreFile(options: SqliteFileOptions): Promise<Connection> {
  const path = resolve(options.path);
  let connection: Connection | undefined;
  try {
    createPrivately(path);
    const opened = new Sqlite(path, { timeout: 0 });
    connection = opened;
    await retryWhileBusy(() => configure(opened, options), options.busyTimeoutMs);
    return opened;
  } catch (error) {
    connection?.close();
    throw mapSqliteError(asOpenError(error, path), `open ${path}`);
  }
}

/**
 * Creates folder (0700) and file (0600) unless they are there; modes that somebody set on purpose stay. SQLite gives its
 * log and index files the mode of the store file.
 */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

function configure(connection: Connection, options: SqliteFileOptions): void {
  if (connection.pragma('journal_mode', { simple: true }) !== 'wal') {
    const mode = connection.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') {
      throw new StoreError(
        'store_unavailable',
        `The store at ${options.path} cannot be put into WAL mode (it stays "${String(mode)}"); put it on a local disk`,
      );
    }
  }
  connection.pragma(`synchronous = ${options.synchronous === 'normal' ? 'NORMAL' : 'FULL'}`);
  connection.pragma('fullfsync = ON'); // on macOS an ordinary sync leaves the data in the drive's cache
  connection.pragma('foreign_keys = ON');
  // A checkpoint follows each commit that leaves so many pages or more in the log, and the next commit cuts it to the
  // limit; while a reader holds the log both wait. The heartbeat commits when nothing else does.
  connection.pragma(`wal_autocheckpoint = ${checkpointPages(connection, options.walLimitBytes)}`);
  connection.pragma(`journal_size_limit = ${options.walLimitBytes}`);
}

/**
 * Twice SQLite's own: one of two hundred pairs of writes of ten pages then waits for a checkpoint, not one of a hundred. More would make the log
 * longer before it is overwritten, and overwriting is what is fast. Half of what the log may keep if that is less, but never below SQLite's own.
 */
function checkpointPages(connection: Connection, walLimitBytes: number): number {
  return Math.max(1_000, Math.min(2_000, Math.floor(walLimitBytes / pageBytes(connection) / 2)));
}

/** How long the log becomes between two checkpoints, bytes; at most what it may keep. */
export function usualLogBytes(connection: Connection, walLimitBytes: number): number {
  const frameBytes = pageBytes(connection) + 24;
  const lastCommitPages = 48;
  return Math.min(walLimitBytes, (checkpointPages(connection, walLimitBytes) + lastCommitPages) * frameBytes);
}

function pageBytes(connection: Connection): number {
  return Number(connection.pragma('page_size', { simple: true }));
}

/** Bytes of the write-ahead log, 0 when there is none. */
export function walBytes(connection: Connection): number {
  return statSync(`${connection.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function asOpenError(error: unknown, path: string): unknown {
  if (isDriverMissing(error)) {
    return new StoreError(
      'driver_missing',
      `The SQLite driver is not built for this Node (${process.version}, ${process.platform} ${process.arch}); run ` +
        '`npm rebuild better-sqlite3` (pnpm: `pnpm approve-builds`, then `pnpm rebuild better-sqlite3`)',
      error,
    );
  }
  if (hasCode(error, 'ENOSPC')) return new StoreError('store_full', `No space left to create ${path}`, error);
  if (hasCode(error, 'EROFS')) return new StoreError('store_readonly', `${path} is on a read-only disk`, error);
  if (error instanceof Error && 'syscall' in error) {
    return new StoreError('store_unavailable', `The store ${path} cannot be created: ${error.message}`, error);
  }
  return error;
}

/** Install scripts did not run (its loader then lists the places it tried), or ran for another Node or C library. */
function isDriverMissing(error: unknown): boolean {
  return hasCode(error, 'ERR_DLOPEN_FAILED') || (error instanceof Error && 'tries' in error);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
