import { StoreError } from './errors.js';
import type { Row, Value } from './value.js';

/** What the driver is asked for. Numbers, so that the driver's switch stays cheap. */
export const statementKind = { one: 0, all: 1, run: 2, notify: 3 } as const;
export type StatementKind = (typeof statementKind)[keyof typeof statementKind];

const brand = Symbol.for('@stint/storage:Statement');
const noParams: readonly Value[] = Object.freeze([]);

/**
 * One statement of a body. It is its own iterator and its own iterator result, so that `yield* one(...)` costs a single
 * allocation: the first `next` hands the statement to the driver, the second hands the driver's answer to the body.
 */
export class Statement {
  readonly kind: StatementKind;
  /** SQL text, or the channel of a `notify`. */
  readonly sql: string;
  readonly params: readonly Value[];
  done = false;
  value: unknown = undefined;
  #started = false;

  constructor(kind: StatementKind, sql: string, params: readonly Value[]) {
    this.kind = kind;
    this.sql = sql;
    this.params = params;
  }

  get [brand](): true {
    return true;
  }

  next(answer?: unknown): this {
    if (this.done) throw usedTwice(this.sql);
    if (this.#started) {
      this.done = true;
      this.value = answer;
    } else {
      this.#started = true;
      this.value = this;
    }
    return this;
  }

  return(value?: unknown): this {
    this.done = true;
    this.value = value;
    return this;
  }

  throw(error: unknown): never {
    this.done = true;
    throw error;
  }

  [Symbol.iterator](): this {
    return this;
  }
}

function usedTwice(sql: string): StoreError {
  return new StoreError(
    'body_refused',
    `A statement was used twice; call one, all, run or notify anew each time: ${sql}`,
  );
}

/** A body in motion: yields statements, is given their answers, ends with its result. */
export type Transaction<T> = Generator<Statement, T, unknown>;

/** True for a statement of any copy of this package. */
export function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && brand in value;
}

function statement<T>(kind: StatementKind, sql: string, params: readonly Value[]): Transaction<T> {
  // The statement has the four methods of a generator that `yield*` and the driver use, and no others.
  return new Statement(kind, sql, params) as unknown as Transaction<T>;
}

/** The first row, or undefined. Use with `yield*`. */
export function one<R = Row>(sql: string, params: readonly Value[] = noParams): Transaction<R | undefined> {
  return statement(statementKind.one, sql, params);
}

/** All rows, in the order of the statement. Use with `yield*`. */
export function all<R = Row>(sql: string, params: readonly Value[] = noParams): Transaction<R[]> {
  return statement(statementKind.all, sql, params);
}

/** Runs a statement that returns no rows; answers the number of rows changed. Use with `yield*`. */
export function run(sql: string, params: readonly Value[] = noParams): Transaction<number> {
  return statement(statementKind.run, sql, params);
}

/** Wakes the listeners of a channel once this transaction is committed, and not at all if it is not. Use with `yield*`. */
export function notify(channel: string): Transaction<void> {
  return statement(statementKind.notify, channel, noParams);
}
