import { type Database, run } from '@stint/storage';
import { freshPostgres } from '@stint/storage/testing';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { testWorkItems } from './testing.js';

const emptyTables = [
  'DELETE FROM work_holds',
  'DELETE FROM work_items',
  'UPDATE work_board SET seq = 0, item_count = 0 WHERE id = 1',
];

let store: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  store = await freshPostgres(inject('pgUrl'));
});
afterAll(() => store.remove());

/** One database for all, emptied after each: making a database takes longer than a case does. */
testWorkItems({ describe, it }, 'Postgres', async () => {
  const opened: Database[] = [];
  return {
    location: store.location,
    async open(options) {
      const db = await store.open(options);
      opened.push(db);
      return db;
    },
    async remove() {
      await Promise.all(opened.map((db) => db.close()));
      const db = await store.open();
      await db.write(function* () {
        for (const statement of emptyTables) yield* run(statement);
      });
      await db.close();
    },
  };
});
