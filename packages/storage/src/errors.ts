/** What went wrong, stable across versions. Match on it, never on the text. */
export type StoreErrorCode =
  /** Another writer held the store for the whole wait. */
  | 'store_busy'
  /** The same rows were fought over again and again (deadlock, serialization failure). */
  | 'store_conflict'
  /** The disk or the allowed size is full. */
  | 'store_full'
  /** The file or the server refuses writes. */
  | 'store_readonly'
  /** The content is damaged, or is no store at all. */
  | 'store_corrupt'
  /** The store cannot be reached, opened, read or written. */
  | 'store_unavailable'
  /** The SQLite driver's compiled part is absent, or is for another Node: the message names the command that builds it. */
  | 'driver_missing'
  /** The store was written by a newer version of the program. */
  | 'store_newer'
  /** `close` was called before. */
  | 'store_closed'
  /** The connection broke while the commit was on its way: it may or may not have happened. */
  | 'commit_unknown'
  /** The body did what a body may not do: yield something else than a statement, be async, write in a read. */
  | 'body_refused'
  /** A number that is no safe integer, or a value of another type, on its way in or out. */
  | 'value_refused'
  /** The store refused the statement: syntax, constraint, unknown table. */
  | 'statement_failed'
  /** A migration failed and was rolled back; it runs again with the next start. */
  | 'migration_failed'
  /** The options are wrong, or an optional package is absent. */
  | 'options_refused';

const retryableCodes: ReadonlySet<StoreErrorCode> = new Set(['store_busy', 'store_conflict', 'store_unavailable']);

const unusableCodes: ReadonlySet<StoreErrorCode> = new Set([
  'store_busy',
  'store_full',
  'store_readonly',
  'store_corrupt',
  'store_unavailable',
  'driver_missing',
  'store_closed',
  'commit_unknown',
]);

const brand = Symbol.for('@stint/storage:StoreError');

/** The one error class of this package. `retryable` says whether the same call may succeed later, unchanged. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly retryable: boolean;
  readonly [brand] = true;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryableCodes.has(code);
  }
}

/** True for a StoreError of any copy of this package. */
export function isStoreError(error: unknown): error is StoreError {
  return typeof error === 'object' && error !== null && brand in error;
}

/**
 * True when nothing can be said about the store's content at the moment: busy, full, read-only, damaged, unreachable,
 * closed, or a commit whose end is unknown. Callers that guard money or effects fail closed on it.
 */
export function isStoreUnavailable(error: unknown): boolean {
  return isStoreError(error) && unusableCodes.has(error.code);
}
