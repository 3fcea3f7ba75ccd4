import type { Client as PgClient } from 'pg';
import type { NotificationState } from './database.js';
import { Listeners } from './listeners.js';
import { postgresChannel } from './postgres-session.js';
import type { Notifications } from './store.js';

/** A connection that looks alive is asked this often whether it is. */
const pingMs = 10_000;
const firstReconnectMs = 100;
const longestReconnectMs = 5_000;

/** `unref` is public in pg and missing in its types. */
type Client = PgClient & { unref(): void };

export interface PostgresListenOptions {
  /** A new, unconnected client. */
  readonly createClient: () => PgClient;
  /** Sender of this database's own notifications, which its listeners got already. */
  readonly sender: string;
  readonly pollMs: number;
}

/**
 * Notifications of a Postgres store, over one LISTEN connection. States: *idle*, nobody listens; *live*, connected;
 * *polling*, the connection is lost: each listener is called every `pollMs` while it is being made again, and once more
 * when it is back, because what was notified in between is lost.
 */
export class PostgresListen implements Notifications {
  readonly #options: PostgresListenOptions;
  readonly #listeners = new Listeners();
  #state: NotificationState = 'idle';
  #client: Client | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #reconnectMs = firstReconnectMs;
  lastError: string | null = null;

  constructor(options: PostgresListenOptions) {
    this.#options = options;
  }

  get state(): NotificationState {
    return this.#state;
  }

  listen(channel: string, listener: () => void): () => void {
    const remove = this.#listeners.add(channel, listener);
    if (this.#state === 'idle') this.#poll();
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Called after a commit of this database. */
  committed(channel: string): void {
    this.#listeners.call(channel);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stop();
  }

  /** From idle or live to polling. */
  #poll(): void {
    this.#state = 'polling';
    this.#pollTimer ??= setInterval(() => this.#listeners.callAll(), this.#options.pollMs).unref();
    void this.#connect();
  }

  /** From polling to live. */
  #live(): void {
    this.#state = 'live';
    this.lastError = null;
    this.#reconnectMs = firstReconnectMs;
    clearInterval(this.#pollTimer);
    this.#pollTimer = undefined;
    this.#listeners.callAll();
  }

  /** To idle. */
  #stop(): void {
    this.#state = 'idle';
    clearInterval(this.#pollTimer);
    this.#pollTimer = undefined;
    clearTimeout(this.#reconnectTimer);
    this.#drop();
  }

  async #connect(): Promise<void> {
    const client = this.#options.createClient() as Client;
    this.#client = client;
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the connection was ended')));
    try {
      await client.connect();
      client.unref();
      await client.query(`LISTEN ${postgresChannel}`);
      if (this.#client !== client) return; // stopped meanwhile
      this.#pingTimer = setInterval(() => this.#ping(client), pingMs).unref();
      this.#live();
    } catch (error) {
      this.#lost(client, error);
    }
  }

  #receive(payload: string): void {
    const blank = payload.indexOf(' ');
    if (payload.slice(0, blank) !== this.#options.sender) this.#listeners.call(payload.slice(blank + 1));
  }

  #ping(client: Client): void {
    client.query('SELECT 1').catch((error: unknown) => this.#lost(client, error));
  }

  #lost(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.lastError = error instanceof Error ? error.message : String(error);
    this.#drop();
    this.#state = 'polling';
    this.#pollTimer ??= setInterval(() => this.#listeners.callAll(), this.#options.pollMs).unref();
    this.#reconnectTimer = setTimeout(() => void this.#connect(), this.#reconnectMs).unref();
    this.#reconnectMs = Math.min(2 * this.#reconnectMs, longestReconnectMs);
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    clearInterval(this.#pingTimer);
    client?.end().catch(() => undefined); // it is given up either way
  }
}
