import type { Body, Context } from './context.js';
import { isStoreError, isStoreUnavailable, StoreError } from './errors.js';
import { all, one, run, type Transaction } from './statement.js';

/** One step of a package's tables. `statements` run one by one, in order, in one transaction. */
export interface Migration {
  /** 1, 2, 3 ... without gaps. */
  readonly number: number;
  readonly name: string;
  /** Portable SQL, one statement each. */
  readonly statements: readonly string[];
}

/** All migrations of one package, oldest first. A published migration is never changed. */
export interface MigrationSet {
  readonly package: string;
  readonly migrations: readonly Migration[];
}

/** What the runner needs from an engine. */
export interface MigrationTarget {
  write<T>(body: Body<T>): Promise<T>;
  read<T>(body: Body<T>): Promise<T>;
  /** Answers a row if and only if the table of migrations exists. */
  readonly selectMigrationTable: string;
  /** Statements that make other migrators wait until the end of this transaction; none where `write` does so. */
  readonly lockMigrations: readonly string[];
}

const createMigrationTable = `CREATE TABLE IF NOT EXISTS storage_migrations (
  package TEXT NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  applied_at BIGINT NOT NULL,
  PRIMARY KEY (package, number)
)`;
const selectApplied = 'SELECT number, name FROM storage_migrations WHERE package = ? ORDER BY number';
const insertApplied = 'INSERT INTO storage_migrations (package, number, name, applied_at) VALUES (?, ?, ?, ?)';

interface Applied {
  readonly number: number;
  readonly name: string;
}

/** See `Database.migrate`. */
export async function migrate(target: MigrationTarget, set: MigrationSet): Promise<void> {
  checkSet(set);
  const applied = await target.read((ctx) => readApplied(ctx, target, set));
  refuseNewer(set, applied);
  for (const migration of set.migrations.slice(applied.length)) {
    await applyOne(target, set, migration);
  }
}

function* readApplied(_ctx: Context, target: MigrationTarget, set: MigrationSet): Transaction<Applied[]> {
  const table = yield* one(target.selectMigrationTable);
  return table === undefined ? [] : yield* all<Applied>(selectApplied, [set.package]);
}

async function applyOne(target: MigrationTarget, set: MigrationSet, migration: Migration): Promise<void> {
  try {
    await target.write((ctx) => applyMigration(ctx, target, set, migration));
  } catch (error) {
    if (isStoreUnavailable(error) || (isStoreError(error) && error.code === 'store_newer')) throw error;
    const what = `Migration ${set.package} ${migration.number} (${migration.name})`;
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreError('migration_failed', `${what} failed and was rolled back, it can be run again: ${why}`, error);
  }
}

function* applyMigration(
  ctx: Context,
  target: MigrationTarget,
  set: MigrationSet,
  migration: Migration,
): Transaction<void> {
  for (const statement of target.lockMigrations) yield* one(statement);
  yield* run(createMigrationTable);
  const applied = yield* all<Applied>(selectApplied, [set.package]);
  refuseNewer(set, applied);
  if (applied.length >= migration.number) return;
  for (const statement of migration.statements) yield* run(statement);
  yield* run(insertApplied, [set.package, migration.number, migration.name, ctx.now]);
}

function refuseNewer(set: MigrationSet, applied: readonly Applied[]): void {
  const newest = applied.at(-1);
  if (newest === undefined || newest.number <= set.migrations.length) return;
  throw new StoreError(
    'store_newer',
    `This store was written by a newer version: ${set.package} is at migration ${newest.number} (${newest.name}), this version knows ${set.migrations.length}. Nothing was changed; use the newer version`,
  );
}

function checkSet(set: MigrationSet): void {
  for (const [index, migration] of set.migrations.entries()) {
    if (migration.number === index + 1) continue;
    throw new StoreError(
      'options_refused',
      `Migration ${migration.number} (${migration.name}) of ${set.package} is at place ${index + 1}; number them 1, 2, 3 ... in order`,
    );
  }
}
