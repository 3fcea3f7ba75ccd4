import type { Database, DatabaseOptions } from './database.js';
import { Heartbeat } from './heartbeat.js';
import { resolveOptions } from './options.js';
import { storageMigrations } from './processes.js';
import { SqliteEngine } from './sqlite-engine.js';
import { openStoreFile, usualLogBytes } from './sqlite-file.js';
import { LogRoom } from './sqlite-log.js';
import { SqliteWatch } from './sqlite-watch.js';
import { migrateWith, Store } from './store.js';

/** Options of `openSqlite`. */
export interface SqliteOptions extends DatabaseOptions {
  /** The store file. It and its folder are created when absent, for this user alone (0600, 0700). */
  readonly path: string;
  /**
   * `full`: a commit is on the disk when `write` resolves. `normal`: faster, but a power cut (not a crash of the
   * process) can undo the last commits; the file stays sound. @default 'full'
   */
  readonly synchronous?: 'full' | 'normal';
  /** How long a write waits for another process before `store_busy`, ms. @default 10000 */
  readonly busyTimeoutMs?: number;
  /** The write-ahead log is cut back to this size once no reader needs more, bytes. @default 64 MiB */
  readonly walLimitBytes?: number;
}

const defaultBusyTimeoutMs = 10_000;
const defaultWalLimitBytes = 64 * 1024 * 1024;

/**
 * Opens a SQLite store. One process may open a file once; other processes may open it at the same time.
 * @throws StoreError `store_corrupt`, `store_readonly`, `store_unavailable`, `store_full`, `store_newer`, `store_busy`
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const common = resolveOptions(options, Date.now);
  const busyTimeoutMs = options.busyTimeoutMs ?? defaultBusyTimeoutMs;
  const walLimitBytes = options.walLimitBytes ?? defaultWalLimitBytes;
  const synchronous = options.synchronous ?? 'full';
  const connection = await openStoreFile({ path: options.path, synchronous, busyTimeoutMs, walLimitBytes });
  try {
    const watch = new SqliteWatch(connection);
    const onNotify = (channel: string): void => watch.committed(channel);
    // Only commits that wait for the disk gain by it.
    const logBytes = synchronous === 'full' ? usualLogBytes(connection, walLimitBytes) : 0;
    const logRoom = new LogRoom(connection.name, logBytes);
    const engine = new SqliteEngine(connection, { ...common, busyTimeoutMs, logRoom, onNotify });
    await migrateWith(engine, storageMigrations);
    const heartbeat = new Heartbeat(engine, common);
    return new Store({ engine, heartbeat, notifications: watch, walBytes: () => engine.walBytes() });
  } catch (error) {
    connection.close();
    throw error;
  }
}
