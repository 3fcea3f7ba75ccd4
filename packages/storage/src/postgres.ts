import { randomUUID } from 'node:crypto';
import type Pg from 'pg';
import type { Database, DatabaseOptions } from './database.js';
import { StoreError } from './errors.js';
import { Heartbeat } from './heartbeat.js';
import { resolveOptions } from './options.js';
import { PostgresEngine } from './postgres-engine.js';
import { PostgresListen } from './postgres-listen.js';
import { portableTypes } from './postgres-types.js';
import { storageMigrations } from './processes.js';
import { migrateWith, Store } from './store.js';

/** Options of `openPostgres`. */
export interface PostgresOptions extends DatabaseOptions {
  /** `postgres://user:password@host:port/database`. Never part of an error or a log line. */
  readonly url: string;
  /** Most connections at a time, beside the one that listens. @default 10 */
  readonly connections?: number;
  /** How long a statement waits for a row lock, and a write for a connection, before `store_busy`, ms. @default 10000 */
  readonly busyTimeoutMs?: number;
  /** How often listeners are called while the LISTEN connection is lost, ms. @default 250 */
  readonly pollMs?: number;
}

const defaultConnections = 10;
const defaultBusyTimeoutMs = 10_000;
const defaultPollMs = 250;
const pingTimeoutMs = 5_000;
/** A server ends a transaction whose process stopped between two statements, and frees its locks. */
const idleTimeoutMs = 60_000;

/**
 * Opens a Postgres store (14 or later) with the optional package `pg`.
 * @throws StoreError `options_refused` when `pg` is absent or the URL is none, `store_unavailable`, `store_newer`
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const common = resolveOptions(options, Date.now);
  const pg = await importPg();
  const connection = connectionConfig(options);
  const sender = randomUUID();
  const createClient = (): Pg.Client => new pg.Client({ ...connection, query_timeout: pingTimeoutMs });
  const listen = new PostgresListen({ createClient, sender, pollMs: options.pollMs ?? defaultPollMs });
  const pool = new pg.Pool({ ...connection, max: options.connections ?? defaultConnections, allowExitOnIdle: true });
  surviveLostConnections(pool);
  const engine = new PostgresEngine(pool, {
    ...common,
    clock: options.clock ?? null,
    sender,
    onNotify: (channel) => listen.committed(channel),
  });
  try {
    await migrateWith(engine, storageMigrations);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const heartbeat = new Heartbeat(engine, common);
  return new Store({ engine, heartbeat, notifications: listen, walBytes: () => null });
}

/** Whoever waits for a query is told of the loss by the query; the pool replaces the connection. */
function surviveLostConnections(pool: Pg.Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
}

function connectionConfig(options: PostgresOptions): Pg.ClientConfig {
  if (!URL.canParse(options.url)) {
    throw new StoreError(
      'options_refused',
      'The Postgres URL is none; write postgres://user:password@host:port/database',
    );
  }
  const busyTimeoutMs = options.busyTimeoutMs ?? defaultBusyTimeoutMs;
  return {
    connectionString: options.url,
    connectionTimeoutMillis: busyTimeoutMs,
    // Said once a connection, not in each transaction, where two more statements take a twentieth of the time of a short one.
    lock_timeout: busyTimeoutMs,
    idle_in_transaction_session_timeout: idleTimeoutMs,
    keepAlive: true,
    application_name: `stint ${options.role ?? 'process'}`,
    types: portableTypes as Pg.CustomTypesConfig,
  };
}

async function importPg(): Promise<typeof Pg> {
  try {
    const module = await import('pg');
    return module.default;
  } catch (error) {
    throw new StoreError('options_refused', 'A Postgres store needs the package pg; install it: npm install pg', error);
  }
}
