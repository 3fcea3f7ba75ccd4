import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { checkResult, refuseYield, resumeBody, startBody } from './body.js';
import type { Body, Clock, Context, Gate, IdSource } from './context.js';
import type { Engine } from './engine.js';
import { isConflict, mapPostgresError } from './postgres-errors.js';
import { PostgresSession } from './postgres-session.js';
import { QueryCache } from './postgres-sql.js';
import { isStatement, type Statement } from './statement.js';

/** How often a body is run before a deadlock or serialization failure is handed to the caller. */
const attempts = 10;
/** The random pause before run n + 1 lasts up to 10 ms times 2^n, and never longer than this. */
const longestPauseMs = 1_000;
/** Any number, the same in all versions: who migrates holds this advisory lock. */
const migrationLock = 7_305_198_471;

/** What the engine is built with. */
export interface PostgresEngineOptions {
  /** Source of `ctx.now`; null for the server's clock. */
  readonly clock: Clock | null;
  readonly ids: IdSource;
  readonly gate: Gate | undefined;
  readonly sender: string;
  readonly onNotify: (channel: string) => void;
}

/**
 * Drives bodies over pooled connections, one await a statement. A statement that fails ends its body: the body is not
 * resumed. A deadlock or serialization failure runs the body again from its start.
 */
export class PostgresEngine implements Engine {
  readonly kind = 'postgres';
  readonly migrationTarget = {
    selectMigrationTable: "SELECT 1 AS found WHERE to_regclass('storage_migrations') IS NOT NULL",
    lockMigrations: ["SET LOCAL lock_timeout = '120s'", `SELECT pg_advisory_xact_lock(${migrationLock})`],
  } as const;
  owner = '';
  statementCount = 0;
  readonly #pool: Pool;
  readonly #options: PostgresEngineOptions;
  readonly #queries = new QueryCache();
  #serverAheadMs = 0;

  constructor(pool: Pool, options: PostgresEngineOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** The clock of the options, else the server's as its last transaction told it. */
  readonly clock: Clock = () => this.#options.clock?.() ?? Date.now() + this.#serverAheadMs;

  write<T>(body: Body<T>): Promise<T> {
    return this.#transact(body, { writes: true, quiet: false, gate: this.#options.gate });
  }

  writeQuietly<T>(body: Body<T>): Promise<T> {
    return this.#transact(body, { writes: true, quiet: true, gate: undefined });
  }

  read<T>(body: Body<T>): Promise<T> {
    return this.#transact(body, { writes: false, quiet: false, gate: undefined });
  }

  readQuietly<T>(body: Body<T>): Promise<T> {
    return this.#transact(body, { writes: false, quiet: true, gate: undefined });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #transact<T>(body: Body<T>, way: Way): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(body, way);
      } catch (error) {
        if (attempt >= attempts || !isConflict(error)) throw error;
        await sleep(Math.random() * Math.min(longestPauseMs, 10 * 2 ** attempt));
      }
    }
  }

  async #attempt<T>(body: Body<T>, way: Way): Promise<T> {
    const client = await this.#connect();
    const { sender } = this.#options;
    const session = new PostgresSession(client, this.#queries, { writes: way.writes, sender });
    let usable = true;
    try {
      const result = await this.#drive(body, session, way);
      way.gate?.('sql:commit');
      await session.commit();
      way.gate?.('sql:committed');
      for (const channel of session.notified) this.#options.onNotify(channel);
      return result;
    } catch (error) {
      usable = await session.rollback();
      throw error;
    } finally {
      client.release(!usable);
    }
  }

  async #drive<T>(body: Body<T>, session: PostgresSession, way: Way): Promise<T> {
    const transaction = startBody(body, await this.#begin(session));
    let step = resumeBody(transaction, undefined);
    while (step.done !== true) {
      const statement: Statement = step.value;
      if (!isStatement(statement)) throw refuseYield(statement);
      if (!way.quiet) this.statementCount += 1;
      way.gate?.(`sql:${this.statementCount}`);
      step = resumeBody(transaction, await session.execute(statement));
    }
    return checkResult(step.value); // before an async function could wait for it
  }

  async #begin(session: PostgresSession): Promise<Context> {
    const sentMs = Date.now();
    const serverNow = await session.begin();
    this.#serverAheadMs = serverNow - Math.round((sentMs + Date.now()) / 2);
    return { now: this.#options.clock?.() ?? serverNow, newId: this.#options.ids, owner: this.owner };
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw mapPostgresError(error, 'connect');
    }
  }
}

/** How one transaction is driven. */
interface Way {
  readonly writes: boolean;
  /** Upkeep: neither gated nor counted. */
  readonly quiet: boolean;
  readonly gate: Gate | undefined;
}
