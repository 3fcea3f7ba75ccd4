import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkResult, refuseInRead, refuseYield, resumeBody, startBody } from './body.js';
import type { Body, Clock, Context, Gate, IdSource } from './context.js';
import type { Engine } from './engine.js';
import { StoreError } from './errors.js';
import { isStatement, type Statement, statementKind } from './statement.js';
import { isSqliteBusy, mapSqliteError } from './sqlite-errors.js';
import { type Connection, walBytes } from './sqlite-file.js';
import { retryWhileBusy } from './sqlite-retry.js';
import type { LogRoom } from './sqlite-log.js';
import { StatementCache } from './sqlite-statements.js';
import { SqliteTurns } from './sqlite-turns.js';

/** After this many writes in a row the event loop gets a turn: awaited writes alone would never let it have one. */
const writesPerTurn = 32;

/** What the engine is built with. */
export interface SqliteEngineOptions {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly gate: Gate | undefined;
  readonly busyTimeoutMs: number;
  readonly logRoom: LogRoom;
  readonly onNotify: (channel: string) => void;
}

interface Job {
  readonly attempt: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Drives bodies over one connection. Invariants:
 * 1. A transaction begins and ends within one synchronous call: nothing else of this process comes between.
 * 2. Writes start in the order of their calls. The queue is empty, or `#drain` runs.
 * 3. A statement that fails ends its body: the body is not resumed, so it cannot catch and go on.
 */
export class SqliteEngine implements Engine {
  readonly kind = 'sqlite';
  readonly clock: Clock;
  readonly migrationTarget = {
    selectMigrationTable: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'storage_migrations'",
    lockMigrations: [],
  } as const;
  owner = '';
  statementCount = 0;
  readonly #connection: Connection;
  readonly #options: SqliteEngineOptions;
  readonly #gate: Gate | undefined;
  readonly #cache: StatementCache;
  readonly #begin: BareStatement;
  readonly #beginRead: BareStatement;
  readonly #commit: BareStatement;
  readonly #rollback: BareStatement;
  readonly #turns: SqliteTurns;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  #writesThisTurn = 0;

  constructor(connection: Connection, options: SqliteEngineOptions) {
    this.clock = options.clock;
    this.#connection = connection;
    this.#options = options;
    this.#gate = options.gate;
    this.#cache = new StatementCache(connection);
    this.#turns = new SqliteTurns(connection.name);
    this.#begin = connection.prepare('BEGIN IMMEDIATE');
    this.#beginRead = connection.prepare('BEGIN');
    this.#commit = connection.prepare('COMMIT');
    this.#rollback = connection.prepare('ROLLBACK');
  }

  write<T>(body: Body<T>): Promise<T> {
    const mustWait = this.#draining !== undefined || this.#writesThisTurn >= writesPerTurn || this.#turns.isWanted();
    if (mustWait) return this.#enqueue(body, false);
    this.#writesThisTurn += 1;
    try {
      return Promise.resolve(this.#transact(body, true, false));
    } catch (error) {
      return isSqliteBusy(error) ? this.#enqueue(body, false) : Promise.reject(error);
    }
  }

  writeQuietly<T>(body: Body<T>): Promise<T> {
    return this.#enqueue(body, true);
  }

  read<T>(body: Body<T>): Promise<T> {
    return this.#read(body, false);
  }

  readQuietly<T>(body: Body<T>): Promise<T> {
    return this.#read(body, true);
  }

  /** Bytes of the write-ahead log at the moment. */
  walBytes(): number {
    return walBytes(this.#connection);
  }

  async close(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
    this.#connection.close();
  }

  #read<T>(body: Body<T>, quiet: boolean): Promise<T> {
    try {
      return Promise.resolve(this.#transact(body, false, quiet));
    } catch (error) {
      if (!isSqliteBusy(error)) return Promise.reject(error);
      return retryWhileBusy(() => this.#transact(body, false, quiet), this.#options.busyTimeoutMs);
    }
  }

  #enqueue<T>(body: Body<T>, quiet: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const attempt = (): T => this.#transact(body, true, quiet);
      this.#queue.push({ attempt, resolve: resolve as Job['resolve'], reject });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      if (this.#writesThisTurn >= writesPerTurn) {
        await nextTurn();
        this.#writesThisTurn = 0;
      }
      this.#writesThisTurn += 1;
      await this.#turns.pause();
      await retryWhileBusy(job.attempt, this.#options.busyTimeoutMs, this.#turns).then(job.resolve, job.reject);
    }
    this.#draining = undefined;
  }

  #transact<T>(body: Body<T>, writes: boolean, quiet: boolean): T {
    const gate = writes && !quiet ? this.#gate : undefined;
    this.#bare(writes ? this.#begin : this.#beginRead, 'BEGIN');
    const notified: string[] = [];
    let result: T;
    try {
      result = this.#drive(body, { writes, quiet, gate, notified });
      if (writes && !quiet) this.#options.logRoom.wrote();
      gate?.('sql:commit');
      this.#bare(this.#commit, 'COMMIT');
    } catch (error) {
      this.#undo(error);
      throw error;
    }
    gate?.('sql:committed');
    for (let index = 0; index < notified.length; index += 1) this.#options.onNotify(notified[index] as string);
    return result;
  }

  #drive<T>(body: Body<T>, way: Way): T {
    const { gate } = way;
    const ctx: Context = { now: this.#options.clock(), newId: this.#options.ids, owner: this.owner };
    const transaction = startBody(body, ctx);
    let step = resumeBody(transaction, undefined);
    while (step.done !== true) {
      const statement: Statement = step.value;
      if (!isStatement(statement)) throw refuseYield(statement);
      if (!way.quiet) this.statementCount += 1;
      if (gate !== undefined) gate(`sql:${this.statementCount}`);
      step = resumeBody(transaction, this.#execute(statement, way));
    }
    return checkResult(step.value);
  }

  #execute(statement: Statement, way: Way): unknown {
    const { kind, sql, params } = statement;
    if (kind === statementKind.notify) {
      if (!way.writes) throw refuseInRead(`notify('${sql}')`);
      way.notified.push(sql);
      return undefined;
    }
    const prepared = this.#cache.get(sql);
    if (!way.writes && !prepared.readOnly) throw refuseInRead(sql);
    try {
      if (kind === statementKind.one) return prepared.first(params);
      if (kind === statementKind.all) return prepared.rows(params);
      return prepared.changes(params);
    } catch (error) {
      throw isSqliteBusy(error) ? error : mapSqliteError(error, sql);
    }
  }

  #bare(statement: BareStatement, what: string): void {
    try {
      statement.run();
    } catch (error) {
      throw isSqliteBusy(error) ? error : mapSqliteError(error, what);
    }
  }

  #undo(cause: unknown): void {
    if (!this.#connection.inTransaction) return; // SQLite rolls back by itself after errors such as a full disk
    try {
      this.#rollback.run();
    } catch (error) {
      throw new StoreError(
        'store_unavailable',
        'A rollback failed; close this database',
        new AggregateError([cause, error]),
      );
    }
  }
}

/** How one transaction is driven. */
interface Way {
  readonly writes: boolean;
  /** Upkeep: neither gated nor counted. */
  readonly quiet: boolean;
  readonly gate: Gate | undefined;
  /** Channels to call after the commit. */
  readonly notified: string[];
}

interface BareStatement {
  run(): unknown;
}
