import { writeFileSync } from 'node:fs';
import { freshSqlite } from '@stint/storage/testing';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { ask, refusalOf } from './conformance-kit.js';
import { createLedger } from './ledger.js';

it('case L05: lets nothing through while another program locks the file, and goes on when it is free', async () => {
  const store = freshSqlite();
  const ledger = createLedger(await store.open({ busyTimeoutMs: 50 }));
  await ledger.migrate();
  await ledger.createAccount({ id: 'a' });
  const other = new Database(store.location);
  other.exec('BEGIN IMMEDIATE');
  const input = ask('a', 5);
  expect(refusalOf(await ledger.reserveRequest(input)).code).toBe('ledger_unavailable');
  other.exec('ROLLBACK');
  other.close();
  expect(await ledger.reserveRequest(input)).toEqual({ allowed: true, id: input.id });
  await store.remove();
});

it('case L05: lets nothing through when the file is full, read-only or damaged', async () => {
  for (const damage of ['full', 'read-only', 'damaged'] as const) {
    const store = freshSqlite();
    const ledger = createLedger(await store.open());
    await ledger.migrate();
    await ledger.createAccount({ id: 'a' });
    const other = new Database(store.location);
    if (damage === 'damaged') {
      other.pragma('wal_checkpoint(TRUNCATE)');
      writeFileSync(store.location, 'x'.repeat(4096));
    } else {
      const error = damage === 'full' ? 'database or disk is full' : 'attempt to write a readonly database';
      other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON ledger_requests BEGIN SELECT RAISE(ABORT, '${error}'); END`);
    }
    other.close();
    const answer = await ledger.reserveRequest(ask('a', 5));
    expect([damage, refusalOf(answer).code]).toEqual([damage, 'ledger_unavailable']);
    await store.remove().catch(() => 'a damaged store cannot be closed in order');
  }
});
