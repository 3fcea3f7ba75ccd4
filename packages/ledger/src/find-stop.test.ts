import { freshSqlite } from '@stint/storage/testing';
import { expect, it } from 'vitest';
import { findStop } from './find-stop.js';
import { createLedger } from './ledger.js';
import { ledgerMigrations } from './schema.js';

it('finds the nearest stop on the way to the root, by one statement, and nothing while all are open', async () => {
  const store = freshSqlite();
  const db = await store.open();
  try {
    await db.migrate(ledgerMigrations);
    const ledger = createLedger(db);
    for (const [id, parent] of [['team'], ['item', 'team'], ['other', 'team']] as const)
      await ledger.createAccount({ id: String(id), ...(parent && { parent }) });
    const look = (account: string) => db.read((ctx) => findStop(ctx, account));
    expect(await look('item')).toBeNull();
    await ledger.stopAccount('team', { code: 'tokens_exhausted' });
    expect(await look('item')).toMatchObject({ account: 'team', stopReason: { code: 'tokens_exhausted' } });
    await ledger.stopAccount('item', { code: 'paused' });
    const before = db.statementCount;
    expect(await look('item')).toMatchObject({ account: 'item', status: 'stopped', stopReason: { code: 'paused' } });
    expect(await look('other')).toMatchObject({ account: 'team' });
    expect(db.statementCount - before).toBe(2);
    await expect(look('nobody')).rejects.toMatchObject({ code: 'account_unknown' });
  } finally {
    await store.remove();
  }
});
