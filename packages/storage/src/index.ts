export type { Body, Clock, Context, Gate, IdSource } from './context.js';
export type { Database, DatabaseOptions, Health, NotificationState } from './database.js';
export { isStoreError, isStoreUnavailable, StoreError, type StoreErrorCode } from './errors.js';
export { createIdSource } from './ids.js';
export type { Migration, MigrationSet } from './migrate.js';
export { isOwnerDead, type ProcessRecord } from './processes.js';
export { openSqlite, type SqliteOptions } from './sqlite.js';
export { all, notify, one, run, type Statement, type Transaction } from './statement.js';
export type { Row, Value } from './value.js';
