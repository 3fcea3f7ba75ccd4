import { isStoreError, StoreError, type StoreErrorCode } from './errors.js';

/** The SQLSTATE of a server's error, undefined for any other value. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error ? error.code : undefined;
}

/** True for a deadlock or a serialization failure: the same body may pass when it runs again. */
export function isConflict(error: unknown): boolean {
  return isStoreError(error) && error.code === 'store_conflict';
}

/** SQLSTATEs or their classes (https://www.postgresql.org/docs/current/errcodes-appendix.html), first match counts. */
const states: readonly (readonly [prefix: string, code: StoreErrorCode, advice: string])[] = [
  ['40001', 'store_conflict', 'try again'],
  ['40P01', 'store_conflict', 'try again; take row locks in one order'],
  ['55P03', 'store_busy', 'another transaction holds the rows; try again'],
  ['53100', 'store_full', 'free disk space of the server'],
  ['53', 'store_unavailable', 'the server is short of memory or connections; try again'],
  ['25006', 'store_readonly', 'the server is read-only, a standby perhaps; use the primary'],
  ['XX001', 'store_corrupt', 'restore a copy'],
  ['XX002', 'store_corrupt', 'reindex or restore a copy'],
  ['57P', 'store_unavailable', 'the server ended the connection; try again'],
  ['58', 'store_unavailable', 'the server has trouble with its system; see its log'],
  ['08', 'store_unavailable', 'the connection broke; try again'],
  ['25P03', 'store_unavailable', 'the transaction was idle too long'],
  ['28', 'store_unavailable', 'check user and password'],
  ['22021', 'value_refused', 'Postgres keeps no text with a NUL character; take it out or store JSON'],
  ['3D', 'store_unavailable', 'create the database'],
];

/** Gives an error of pg its type. An error without SQLSTATE comes from the connection. */
export function mapPostgresError(error: unknown, what: string): StoreError {
  if (isStoreError(error)) return error;
  const state = sqlState(error);
  const text = error instanceof Error ? error.message || error.name : String(error);
  if (state === undefined) {
    return new StoreError('store_unavailable', `The server was lost at "${what}" (${text}); try again`, error);
  }
  const known = states.find(([prefix]) => state.startsWith(prefix));
  if (known === undefined) {
    return new StoreError('statement_failed', `The store refused "${what}": ${state}: ${text}`, error);
  }
  return new StoreError(known[1], `The store failed at "${what}" (${state}: ${text}); ${known[2]}`, error);
}

/** A commit that broke with the connection may have happened; one that the server refused has not. */
export function mapCommitError(error: unknown): StoreError {
  const mapped = mapPostgresError(error, 'COMMIT');
  if (mapped.code !== 'store_unavailable') return mapped;
  return new StoreError(
    'commit_unknown',
    'The connection broke during COMMIT, which may or may not have happened; read before you do it again',
    error,
  );
}
