import type { Body, Context } from './context.js';
import { StoreError } from './errors.js';
import type { Statement, Transaction } from './statement.js';

let bodiesRunning = 0;

/**
 * Calls the body. Throws `body_refused` when it is async or answers anything else than a generator of statements: an
 * async body would commit at its first await.
 */
export function startBody<T>(body: Body<T>, ctx: Context): Transaction<T> {
  const transaction: unknown = body(ctx);
  if (isTransaction<T>(transaction)) return transaction;
  silence(transaction);
  throw new StoreError(
    'body_refused',
    `A transaction body answered ${describe(transaction)}; write it as a synchronous generator: function* (ctx) { yield* one(...) }`,
  );
}

/**
 * Resumes the body with the answer of its last statement. While it runs, `write` and `read` are refused: they would not
 * be part of this transaction.
 */
export function resumeBody<T>(transaction: Transaction<T>, answer: unknown): IteratorResult<Statement, T> {
  bodiesRunning += 1;
  try {
    return transaction.next(answer);
  } finally {
    bodiesRunning -= 1;
  }
}

/** Throws `body_refused` when it is called from inside a body. */
export function assertOutsideBody(call: string): void {
  if (bodiesRunning === 0) return;
  throw new StoreError(
    'body_refused',
    `${call}() was called inside a transaction body; use yield* to call the other body as part of this transaction`,
  );
}

/** The error for a yielded value that is no statement. */
export function refuseYield(value: unknown): StoreError {
  silence(value);
  return new StoreError(
    'body_refused',
    `A transaction body yielded ${describe(value)} instead of a statement and was rolled back; yield* only one, all, run, notify and other bodies`,
  );
}

/** The result of a body, unless it is a promise, whose end the transaction would not wait for. */
export function checkResult<T>(result: T): T {
  if (typeof result !== 'object' || result === null || !('then' in result)) return result;
  if (typeof result.then !== 'function') return result;
  silence(result);
  throw new StoreError(
    'body_refused',
    'A transaction body returned a promise and was rolled back; a body does nothing but statements',
  );
}

function isTransaction<T>(value: unknown): value is Transaction<T> {
  if (typeof value !== 'object' || value === null) return false;
  return Symbol.iterator in value && 'next' in value && typeof value.next === 'function';
}

/** The caller is told of the refusal; what the abandoned promise ends with has no one to go to. */
function silence(value: unknown): void {
  if (value instanceof Promise) value.catch(() => undefined);
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise';
  if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) return 'an async generator';
  return value === null ? 'null' : `a value of type ${typeof value}`;
}

/** The error for a statement of a `read` that would change or lock something. */
export function refuseInRead(sql: string): StoreError {
  return new StoreError('body_refused', `A read() may not write, lock or notify, and was rolled back: ${sql}`);
}
