import type { Transaction } from './statement.js';

/** Milliseconds since 1970 UTC, an integer. */
export type Clock = () => number;

/** A new unique id at each call, UUIDv7 text by default. */
export type IdSource = () => string;

/** Called at named points, synchronously; a test ends the process there. It must not call the database. */
export type Gate = (point: string) => void;

/** All a body may know beside its own arguments and what its statements answer. */
export interface Context {
  /** The time of this transaction: the clock given at opening, on Postgres the server's. Integer ms UTC. */
  readonly now: number;
  /** A new UUIDv7, later in text order than those before it. */
  newId(): string;
  /** Id of this process's heartbeat row. */
  readonly owner: string;
}

/**
 * A transaction, written once for both engines. It may run more than once before it commits (a busy store, a
 * deadlock), so it changes nothing but the database.
 */
export type Body<T> = (ctx: Context) => Transaction<T>;
