import assert from 'node:assert/strict';
import { accounts, type ConformanceCase, refusal } from './conformance-case.js';
import type { MigrationSet } from './migrate.js';
import { all, one } from './statement.js';

const selectApplied = "SELECT number, name FROM storage_migrations WHERE package = 'accounts' ORDER BY number";

/** `accounts` with further migrations, one a list of statements. */
function extended(...further: readonly (readonly string[])[]): MigrationSet {
  const migrations = further.map((statements, index) => ({ number: index + 2, name: `step ${index + 2}`, statements }));
  return { package: 'accounts', migrations: [...accounts.migrations, ...migrations] };
}

export const migrationCases: readonly ConformanceCase[] = [
  {
    name: 'migrations run once each, in order, and those of another start only when they are new',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      await db.migrate(accounts);
      await db.migrate(extended(['ALTER TABLE accounts ADD COLUMN owner TEXT'], ["UPDATE accounts SET owner = 'me'"]));
      const row = await db.read(() => one('SELECT id, balance, owner FROM accounts'));
      assert.deepEqual(row, { id: 'a', balance: 100, owner: 'me' });
      assert.deepEqual(await db.read(() => all(selectApplied)), [
        { number: 1, name: 'accounts' },
        { number: 2, name: 'step 2' },
        { number: 3, name: 'step 3' },
      ]);
    },
  },
  {
    name: 'starts at the same time migrate once',
    async run(store) {
      const databases = await Promise.all([store.open(), store.open(), store.open()]);
      const set = extended(["INSERT INTO accounts (id, balance) VALUES ('b', 1)"]);
      await Promise.all(databases.map((db) => db.migrate(set)));
      const count = await databases[0]?.read(() => one('SELECT COUNT(*) AS accounts FROM accounts'));
      assert.deepEqual(count, { accounts: 2 });
    },
  },
  {
    name: 'case C09: a failed migration is rolled back whole and can be run again',
    async run(store) {
      const db = await store.open();
      const broken = ['ALTER TABLE accounts ADD COLUMN owner TEXT', 'UPDATE nowhere SET owner = 1'];
      const error = await refusal(db.migrate(extended(broken)), 'migration_failed');
      assert.match(error.message, /accounts 2 \(step 2\)/);
      assert.deepEqual(await db.read(() => all(selectApplied)), [{ number: 1, name: 'accounts' }]);
      await db.migrate(extended(['ALTER TABLE accounts ADD COLUMN owner TEXT']));
      assert.deepEqual(await db.read(() => one('SELECT owner FROM accounts')), { owner: null });
    },
  },
  {
    name: 'case C09: a store of a newer version is refused with both versions in the message',
    async run(store) {
      const newer = await store.open();
      await newer.migrate(extended(['ALTER TABLE accounts ADD COLUMN owner TEXT']));
      const older = await store.open();
      const error = await refusal(older.migrate(accounts), 'store_newer');
      assert.match(error.message, /newer version: accounts is at migration 2 \(step 2\), this version knows 1/);
    },
  },
  {
    name: 'a list of migrations with a gap is refused before anything runs',
    async run(store) {
      const db = await store.open();
      const [first] = accounts.migrations;
      const gap: MigrationSet = { package: 'accounts', migrations: [{ ...first, number: 2 } as never] };
      await refusal(db.migrate(gap), 'options_refused');
    },
  },
];
