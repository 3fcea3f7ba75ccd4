import { type Database, run } from '@stint/storage';
import { freshPostgres } from '@stint/storage/testing';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { testLedger } from './testing.js';

const tables = ['ledger_accounts', 'ledger_paths', 'ledger_requests', 'ledger_entries', 'ledger_subjects'];

let store: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  store = await freshPostgres(inject('pgUrl'));
});
afterAll(() => store.remove());

/** One database for all, emptied after each: making a database takes longer than a case does. */
testLedger({ describe, it }, 'Postgres', async () => {
  const opened: Database[] = [];
  return {
    location: store.location,
    async open(options) {
      const db = await store.open(options);
      opened.push(db);
      return db;
    },
    async remove() {
      const [first] = opened;
      await first?.write(function* () {
        for (const table of tables) yield* run(`DELETE FROM ${table}`);
      });
      await Promise.all(opened.map((db) => db.close()));
    },
  };
});
