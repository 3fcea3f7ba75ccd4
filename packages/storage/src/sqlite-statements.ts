import type { Statement as NativeStatement } from 'better-sqlite3';
import { mapSqliteError } from './sqlite-errors.js';
import type { Connection } from './sqlite-file.js';
import { refusedColumn, refusedParam, type Row, type Value } from './value.js';

/** Row locks are Postgres's; on SQLite the whole transaction holds the store. */
const rowLock = /\s+FOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?\s*$/;
/** SQL is constants, so a full cache means somebody builds SQL: it is emptied, which costs a prepare each. */
const cacheSize = 1_000;

type Native = NativeStatement<unknown[], unknown>;

/** A prepared statement that answers rows of safe integers, text and null. */
export class PreparedStatement {
  readonly #sql: string;
  readonly #native: Native;
  #columns: readonly string[];
  readonly returnsRows: boolean;
  /** False when it writes, or would lock on Postgres: not for `read`. */
  readonly readOnly: boolean;

  constructor(connection: Connection, sql: string) {
    this.#sql = sql;
    const lockless = sql.replace(rowLock, '');
    this.#native = connection.prepare(lockless);
    this.returnsRows = this.#native.reader;
    this.readOnly = this.#native.readonly && lockless.length === sql.length;
    this.#columns = [];
    if (this.returnsRows) this.#native.raw(true);
  }

  first(params: readonly Value[]): Row | undefined {
    const values = this.#native.get(bindable(this.#sql, params)) as unknown[] | undefined;
    return values === undefined ? undefined : this.#row(values);
  }

  rows(params: readonly Value[]): Row[] {
    const rows = this.#native.all(bindable(this.#sql, params)) as unknown[];
    for (let index = 0; index < rows.length; index += 1) rows[index] = this.#row(rows[index] as unknown[]);
    return rows as Row[];
  }

  changes(params: readonly Value[]): number {
    return this.#native.run(bindable(this.#sql, params)).changes;
  }

  #row(values: unknown[]): Row {
    if (this.#columns.length !== values.length) this.#columns = this.#native.columns().map((column) => column.name);
    const columns = this.#columns;
    const row: Record<string, Value> = {};
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      const column = columns[index] as string;
      if (typeof value === 'string' || value === null || Number.isSafeInteger(value)) row[column] = value as Value;
      else throw refusedColumn(column, value);
    }
    return row;
  }
}

/**
 * Checks the parameters (see `checkParams`) and copies them as better-sqlite3 wants them: a number would be bound as REAL,
 * so that 5 / 2 is 2.5 and 5 || '' is '5.0'; a bigint is bound as INTEGER.
 */
function bindable(sql: string, params: readonly Value[]): unknown[] {
  const bound: unknown[] = params.slice();
  for (let index = 0; index < bound.length; index += 1) {
    const value = bound[index];
    if (typeof value === 'string' || value === null) continue;
    if (!Number.isSafeInteger(value)) throw refusedParam(sql, index, value);
    bound[index] = BigInt(value as number);
  }
  return bound;
}

/** Prepares each SQL text once. */
export class StatementCache {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, PreparedStatement>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(sql: string): PreparedStatement {
    return this.#prepared.get(sql) ?? this.#prepare(sql);
  }

  #prepare(sql: string): PreparedStatement {
    try {
      const prepared = new PreparedStatement(this.#connection, sql);
      if (this.#prepared.size >= cacheSize) this.#prepared.clear();
      this.#prepared.set(sql, prepared);
      return prepared;
    } catch (error) {
      throw mapSqliteError(error, sql);
    }
  }
}
