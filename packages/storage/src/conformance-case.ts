import assert from 'node:assert/strict';
import type { DatabaseOptions } from './database.js';
import { isStoreError, type StoreErrorCode } from './errors.js';
import type { FreshStore } from './fresh.js';
import type { MigrationSet } from './migrate.js';

/** One promise of the port, tried on a store of its own. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: (this: void, store: FreshStore<DatabaseOptions>) => Promise<void>;
}

/** Asserts that the promise is rejected with a StoreError of the code; answers the error. */
export async function refusal(attempt: Promise<unknown>, code: StoreErrorCode): Promise<Error> {
  const error: unknown = await attempt.then(
    (value) => assert.fail(`expected ${code}, but it resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  assert.ok(isStoreError(error), `expected a StoreError ${code}, not ${String(error)}`);
  assert.equal(error.code, code, error.message);
  return error;
}

/** A table to try things on. */
export const accounts: MigrationSet = {
  package: 'accounts',
  migrations: [
    {
      number: 1,
      name: 'accounts',
      statements: [
        'CREATE TABLE accounts (id TEXT PRIMARY KEY, balance BIGINT NOT NULL, note TEXT)',
        "INSERT INTO accounts (id, balance) VALUES ('a', 100)",
      ],
    },
  ],
};
