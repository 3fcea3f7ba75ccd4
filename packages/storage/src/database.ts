import type { Body, Clock, Gate, IdSource } from './context.js';
import type { MigrationSet } from './migrate.js';
import type { ProcessRecord } from './processes.js';

/** How notifications of other processes arrive at the moment. */
export type NotificationState =
  /** Nobody listens. */
  | 'idle'
  /** They arrive: SQLite looks every 250 ms, Postgres holds a LISTEN connection. */
  | 'live'
  /** The Postgres LISTEN connection is lost: every listener is called once per `pollMs` until it is back. */
  | 'polling';

/** Figures for a status page. */
export interface Health {
  readonly engine: 'sqlite' | 'postgres';
  readonly notifications: NotificationState;
  /** Bytes of the write-ahead log of SQLite; null on Postgres. */
  readonly walBytes: number | null;
  /** When the heartbeat row expires unless it is renewed, integer ms UTC; null before the first write. */
  readonly leaseExpiresAt: number | null;
  /** The last failure of a background task (renewal, LISTEN connection), null since it succeeded again. */
  readonly lastBackgroundError: string | null;
}

/** One store, whichever engine. All methods throw StoreError. */
export interface Database extends AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres';
  /**
   * Id of this process's heartbeat row. It changes when the row was lost (see `onLost`), so read it where you need it.
   */
  readonly owner: string;
  /** The clock that `ctx.now` follows, for use outside of bodies. */
  readonly clock: Clock;
  /** Statements driven since opening, for tests that count; heartbeats and the database's own are left out. */
  readonly statementCount: number;

  /**
   * Runs the body in one transaction and answers its result once that is committed. Nothing is kept when it throws.
   * The body may run again before it commits. @throws StoreError
   */
  write<T>(body: Body<T>): Promise<T>;
  /** Runs the body on one consistent snapshot; a statement that writes, locks or notifies is refused. */
  read<T>(body: Body<T>): Promise<T>;
  /**
   * Brings the tables of a package up to date, each migration in a transaction of its own, once, however many processes
   * do it at a time. @throws StoreError `store_newer` when the store has migrations this set does not know: nothing
   * was written then; `migration_failed` when one failed: it was rolled back and can be run again.
   */
  migrate(set: MigrationSet): Promise<void>;
  /**
   * Calls the listener after a commit that notified the channel, in this process at once and in others within 250 ms.
   * A listener is at times called without a cause: look at the store, do not count calls. Answers the way to stop.
   */
  listen(channel: string, listener: () => void): () => void;
  /**
   * Ends the heartbeat rows of processes of this host that are gone, by number and start time, and expired rows of any
   * host. When this process itself was late, after a suspend, live ones of this host get time to renew instead. Call it
   * before bodies that use `isOwnerDead`. Answers how many it ended.
   */
  endDeadProcesses(): Promise<number>;
  /** The processes that are alive, oldest first. */
  processes(): Promise<readonly ProcessRecord[]>;
  health(): Health;
  /** Ends the heartbeat row, stops timers and closes. Later calls throw `store_closed`; a second close does nothing. */
  close(): Promise<void>;
}

/** Options of both engines. */
export interface DatabaseOptions {
  /** What this process is, for `processes()`. @default 'process' */
  readonly role?: string;
  /** Source of `ctx.now`. @default Date.now on SQLite, the server's clock on Postgres */
  readonly clock?: Clock;
  /** Source of `ctx.newId()`. @default UUIDv7 */
  readonly ids?: IdSource;
  /** How long the heartbeat row lasts unless renewed, ms; it is renewed every third of it. @default 60000 */
  readonly leaseMs?: number;
  /** Called at `sql:<n>` before statement n since opening, `sql:commit` and `sql:committed` around commits. */
  readonly gate?: Gate;
  /**
   * Called when the heartbeat row was ended by others or deleted: they may have taken over what this process held. The
   * database has a new owner id from then on.
   */
  readonly onLost?: (lost: { readonly owner: string; readonly newOwner: string }) => void;
}
