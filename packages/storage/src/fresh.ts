import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from './database.js';
import { openPostgres, type PostgresOptions } from './postgres.js';
import { openSqlite, type SqliteOptions } from './sqlite.js';

/** A store of its own, and the way to open it again as another process would. */
export interface FreshStore<Options> {
  /** Path of the SQLite file, or URL of the Postgres database. */
  readonly location: string;
  /** Opens the store; each call is a Database of its own, closed by `remove` at the latest. */
  open(options?: Partial<Options>): Promise<Database>;
  /** Closes what is open and deletes the store. */
  remove(): Promise<void>;
}

/** A new SQLite file in a temporary folder. */
export function freshSqlite(): FreshStore<SqliteOptions> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-store-'));
  const path = join(folder, 'store.db');
  return freshStore(
    path,
    (options) => openSqlite({ path, ...options }),
    async () => rmSync(folder, { recursive: true, force: true }),
  );
}

/** A new database in the server at `url`, whose user may create databases. */
export async function freshPostgres(url: string): Promise<FreshStore<PostgresOptions>> {
  const name = `stint_${randomUUID().replaceAll('-', '')}`;
  await administer(url, `CREATE DATABASE ${name}`);
  const location = new URL(url);
  location.pathname = `/${name}`;
  return freshStore(
    location.href,
    (options) => openPostgres({ url: location.href, ...options }),
    () => administer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  );
}

function freshStore<Options>(
  location: string,
  open: (options: Partial<Options>) => Promise<Database>,
  remove: () => Promise<void>,
): FreshStore<Options> {
  const opened: Database[] = [];
  return {
    location,
    async open(options = {}) {
      const database = await open(options);
      opened.push(database);
      return database;
    },
    async remove() {
      await Promise.all(opened.map((database) => database.close()));
      await remove();
    },
  };
}

async function administer(url: string, sql: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
