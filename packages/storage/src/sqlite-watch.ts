import type { NotificationState } from './database.js';
import { Listeners } from './listeners.js';
import type { Connection } from './sqlite-file.js';
import type { Notifications } from './store.js';

/** How often the store is asked whether another process committed, while somebody listens. */
const pollMs = 250;

/**
 * Notifications of a SQLite store. Those of this process come from its own commits. Of other processes SQLite tells only
 * that something was committed (PRAGMA data_version), so each listener is called.
 */
export class SqliteWatch implements Notifications {
  readonly #listeners = new Listeners();
  readonly #dataVersion: { get(): unknown };
  #seen: unknown;
  #timer: NodeJS.Timeout | undefined;
  readonly lastError = null;

  constructor(connection: Connection) {
    this.#dataVersion = connection.prepare('PRAGMA data_version').pluck();
  }

  get state(): NotificationState {
    return this.#timer === undefined ? 'idle' : 'live';
  }

  listen(channel: string, listener: () => void): () => void {
    const remove = this.#listeners.add(channel, listener);
    if (this.#timer === undefined) this.#start();
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Called after a commit of this process. */
  committed(channel: string): void {
    this.#listeners.call(channel);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    this.#seen = this.#version();
    this.#timer = setInterval(() => this.#poll(), pollMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const version = this.#version();
    if (version === this.#seen) return;
    this.#seen = version;
    this.#listeners.callAll();
  }

  /** A store that cannot be asked counts as changed: whoever looks then gets the typed error. */
  #version(): unknown {
    try {
      return this.#dataVersion.get();
    } catch {
      return Symbol('unknown');
    }
  }
}
