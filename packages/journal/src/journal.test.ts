import { freshPostgres, freshSqlite } from '@stint/storage/testing';
import { describe, expect, inject, it, test } from 'vitest';
import { createJournal } from './journal.js';
import { testJournal } from './testing.js';
import { requestOf, responseOf } from './testing-fixture.js';

testJournal({ describe, it }, 'SQLite', async () => freshSqlite());
testJournal({ describe, it }, 'Postgres', () => freshPostgres(inject('pgUrl')));

test('the journal with a transaction for each call creates its tables, writes and reads', async () => {
  const store = freshSqlite();
  const db = await store.open();
  const journal = await createJournal(db);
  const owner = { kind: 'session', id: 's' } as const;
  await journal.insertTurn({ id: 't', owner, request: requestOf() });
  await journal.recordResponse('t', responseOf({ text: 'hi' }));
  expect((await journal.readTurn('t'))?.response?.text).toBe('hi');
  expect((await journal.resumeState(owner))?.response?.turnId).toBe('t');
  await store.remove();
});
