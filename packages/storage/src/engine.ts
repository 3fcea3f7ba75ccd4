import type { Body, Clock } from './context.js';
import type { MigrationTarget } from './migrate.js';

/** What an engine gives; `Store` makes a Database of it. */
export interface Engine {
  readonly kind: 'sqlite' | 'postgres';
  readonly clock: Clock;
  /** Id of the heartbeat row, given to bodies. */
  owner: string;
  readonly statementCount: number;
  readonly migrationTarget: Pick<MigrationTarget, 'selectMigrationTable' | 'lockMigrations'>;
  write<T>(body: Body<T>): Promise<T>;
  /** `write` without gate, for the database's own upkeep. */
  writeQuietly<T>(body: Body<T>): Promise<T>;
  read<T>(body: Body<T>): Promise<T>;
  /** `read` that is not counted. */
  readQuietly<T>(body: Body<T>): Promise<T>;
  close(): Promise<void>;
}
