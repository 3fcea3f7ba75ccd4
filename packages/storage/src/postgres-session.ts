import type { ClientBase, QueryResult } from 'pg';
import { refuseInRead } from './body.js';
import { mapCommitError, mapPostgresError, sqlState } from './postgres-errors.js';
import type { QueryCache } from './postgres-sql.js';
import { type Statement, statementKind } from './statement.js';
import { checkParams, type Row } from './value.js';

/** All notifications of all databases go over this one channel; the payload tells sender and channel. */
export const postgresChannel = 'stint';
const notifyStatement = `SELECT pg_notify('${postgresChannel}', ?)`;

const serverNow = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';

export interface SessionOptions {
  readonly writes: boolean;
  /** Tells this database's notifications from those of others. */
  readonly sender: string;
}

/** One transaction on one connection, statement by statement. */
export class PostgresSession {
  readonly #client: ClientBase;
  readonly #queries: QueryCache;
  readonly #options: SessionOptions;
  /** Channels to call after the commit. */
  readonly notified: string[] = [];

  constructor(client: ClientBase, queries: QueryCache, options: SessionOptions) {
    this.#client = client;
    this.#queries = queries;
    this.#options = options;
  }

  /** Begins and answers the server's time, integer ms UTC, in one round trip. */
  async begin(): Promise<number> {
    const mode = this.#options.writes ? 'READ COMMITTED READ WRITE' : 'REPEATABLE READ READ ONLY';
    const text = `BEGIN ISOLATION LEVEL ${mode}; ${serverNow}`;
    const results = (await this.#ask(() => this.#client.query(text), 'BEGIN')) as unknown as QueryResult<{
      now: number;
    }>[];
    return results.at(-1)?.rows[0]?.now as number;
  }

  async execute(statement: Statement): Promise<unknown> {
    const { kind, sql, params } = statement;
    if (kind === statementKind.notify) return this.#notify(sql);
    checkParams(sql, params);
    const result = await this.#query(sql, params);
    if (kind === statementKind.one) return result.rows[0];
    return kind === statementKind.all ? result.rows : (result.rowCount ?? 0);
  }

  async commit(): Promise<void> {
    try {
      await this.#client.query('COMMIT');
    } catch (error) {
      throw mapCommitError(error);
    }
  }

  /** Answers false when the connection is of no more use. The server rolls back by itself then. */
  async rollback(): Promise<boolean> {
    return this.#client.query('ROLLBACK').then(
      () => true,
      () => false,
    );
  }

  async #notify(channel: string): Promise<void> {
    if (!this.#options.writes) throw refuseInRead(`notify('${channel}')`);
    this.notified.push(channel);
    await this.#query(notifyStatement, [`${this.#options.sender} ${channel}`]);
  }

  #query(sql: string, params: Statement['params']): Promise<QueryResult<Row>> {
    const query = this.#queries.get(sql);
    return this.#ask(() => this.#client.query<Row>({ ...query, values: params as unknown[] }), sql);
  }

  async #ask<T>(query: () => Promise<T>, what: string): Promise<T> {
    try {
      return await query();
    } catch (error) {
      if (!this.#options.writes && sqlState(error) === '25006') throw refuseInRead(what);
      throw mapPostgresError(error, what);
    }
  }
}
