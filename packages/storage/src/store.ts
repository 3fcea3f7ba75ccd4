import { assertOutsideBody } from './body.js';
import type { Body, Clock } from './context.js';
import type { Database, Health, NotificationState } from './database.js';
import type { Engine } from './engine.js';
import { StoreError } from './errors.js';
import type { Heartbeat } from './heartbeat.js';
import { type MigrationSet, migrate } from './migrate.js';
import { openProcesses, type ProcessRecord } from './processes.js';

/** Learns of commits of other processes while somebody listens. */
export interface Notifications {
  readonly state: NotificationState;
  readonly lastError: string | null;
  listen(channel: string, listener: () => void): () => void;
  close(): Promise<void>;
}

export interface StoreParts {
  readonly engine: Engine;
  readonly heartbeat: Heartbeat;
  readonly notifications: Notifications;
  readonly walBytes: () => number | null;
}

/** The Database of both engines: an engine that drives bodies, a heartbeat, and notifications. */
export class Store implements Database {
  readonly #parts: StoreParts;
  readonly #engine: Engine;
  readonly #heartbeat: Heartbeat;
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#engine = parts.engine;
    this.#heartbeat = parts.heartbeat;
  }

  get engine(): 'sqlite' | 'postgres' {
    return this.#engine.kind;
  }

  get owner(): string {
    return this.#engine.owner;
  }

  get clock(): Clock {
    return this.#engine.clock;
  }

  get statementCount(): number {
    return this.#engine.statementCount;
  }

  write<T>(body: Body<T>): Promise<T> {
    assertOutsideBody('write');
    if (this.#closing !== undefined) return Promise.reject(closedError());
    if (!this.#heartbeat.due) return this.#engine.write(body);
    return this.#heartbeat.ensure().then(() => this.#engine.write(body));
  }

  read<T>(body: Body<T>): Promise<T> {
    assertOutsideBody('read');
    if (this.#closing !== undefined) return Promise.reject(closedError());
    return this.#engine.read(body);
  }

  async migrate(set: MigrationSet): Promise<void> {
    this.#assertOpen();
    await migrateWith(this.#engine, set);
  }

  listen(channel: string, listener: () => void): () => void {
    this.#assertOpen();
    return this.#parts.notifications.listen(channel, listener);
  }

  async endDeadProcesses(): Promise<number> {
    this.#assertOpen();
    return this.#heartbeat.sweep();
  }

  async processes(): Promise<readonly ProcessRecord[]> {
    this.#assertOpen();
    const { now, open } = await this.#engine.readQuietly(openProcesses);
    return open.filter((row) => row.expiresAt > now);
  }

  health(): Health {
    const { notifications, walBytes } = this.#parts;
    return {
      engine: this.engine,
      notifications: notifications.state,
      walBytes: this.#closing === undefined ? walBytes() : null,
      leaseExpiresAt: this.#heartbeat.expiresAt,
      lastBackgroundError: this.#heartbeat.lastError ?? notifications.lastError,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#parts.notifications.close();
    try {
      await this.#heartbeat.end();
    } finally {
      await this.#engine.close();
    }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw closedError();
  }
}

/** Runs the migrations of a set on an engine. */
export function migrateWith(engine: Engine, set: MigrationSet): Promise<void> {
  const target = {
    ...engine.migrationTarget,
    write: <T>(body: Body<T>): Promise<T> => engine.writeQuietly(body),
    read: <T>(body: Body<T>): Promise<T> => engine.readQuietly(body),
  };
  return migrate(target, set);
}

function closedError(): StoreError {
  return new StoreError('store_closed', 'The database was closed before this call');
}
