import { isStoreError, StoreError, type StoreErrorCode } from './errors.js';

/** The result code of a SQLite error (`SQLITE_BUSY`, `SQLITE_IOERR_WRITE` ...), undefined for any other value. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code.startsWith('SQLITE_') ? error.code : undefined;
}

/** True when another connection holds what is wanted, so that trying again later makes sense. */
export function isSqliteBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith('SQLITE_BUSY') ?? false;
}

/** Primary result codes (https://sqlite.org/rescode.html) that say something about the store, not the statement. */
const storeCodes: readonly (readonly [prefix: string, code: StoreErrorCode, advice: string])[] = [
  ['SQLITE_BUSY', 'store_busy', 'another process holds it; try again, or end that process'],
  ['SQLITE_LOCKED', 'store_busy', 'another connection holds it; try again'],
  ['SQLITE_FULL', 'store_full', 'free disk space, then try again'],
  ['SQLITE_READONLY', 'store_readonly', 'check that file and folder exist and may be written by this user'],
  ['SQLITE_CORRUPT', 'store_corrupt', 'restore a copy, or recover it with the sqlite3 tool'],
  ['SQLITE_NOTADB', 'store_corrupt', 'it is no SQLite database; check the path'],
  ['SQLITE_CANTOPEN', 'store_unavailable', 'check that the folder exists and that this user may write in it'],
  ['SQLITE_IOERR', 'store_unavailable', 'check the disk'],
  ['SQLITE_PERM', 'store_unavailable', 'check the rights of file and folder'],
  ['SQLITE_AUTH', 'store_unavailable', 'check the rights of file and folder'],
  ['SQLITE_PROTOCOL', 'store_unavailable', 'the locks of its write-ahead log are in disorder; try again'],
  ['SQLITE_NOMEM', 'store_unavailable', 'memory is short'],
];

/** Gives an error of better-sqlite3 its type. `what` is the statement, or what was done to which file. */
export function mapSqliteError(error: unknown, what: string): StoreError {
  if (isStoreError(error)) return error;
  const code = sqliteCode(error);
  const text = error instanceof Error ? error.message : String(error);
  const known = code === undefined ? undefined : storeCodes.find(([prefix]) => code.startsWith(prefix));
  if (known !== undefined) {
    return new StoreError(known[1], `The store failed at "${what}" (${code}: ${text}); ${known[2]}`, error);
  }
  return new StoreError('statement_failed', `The store refused "${what}": ${code ?? 'driver'}: ${text}`, error);
}
