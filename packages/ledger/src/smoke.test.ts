import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@stint/storage';
import { expect, test } from 'vitest';
import { createLedger } from './ledger.js';

test('smoke', async () => {
  const db = await openSqlite({ path: join(mkdtempSync(join(tmpdir(), 'ledger-')), 'a.db') });
  const ledger = createLedger(db);
  await ledger.migrate();
  await ledger.createAccount({ id: 'team', limits: { maxTokens: 1000 } });
  await ledger.createAccount({ id: 'app', parent: 'team', limits: { maxRunRequests: 2 } });
  const base = {
    account: 'app',
    kind: 'action',
    model: 'simulated:default',
    estimate: { tokens: 400, costMicros: null },
  };
  expect(await ledger.reserveRequest({ ...base, id: 'a', run: 'r1', attempt: { subject: 's', run: 'r1' } })).toEqual({
    allowed: true,
    id: 'a',
  });
  expect(await ledger.reserveRequest({ ...base, id: 'b', run: 'r1' })).toEqual({ allowed: true, id: 'b' });
  expect(await ledger.reserveRequest({ ...base, id: 'c' })).toMatchObject({
    allowed: false,
    reason: { code: 'tokens_exhausted', account: 'team', heldByOthers: true },
  });
  const usage = {
    inputTokens: 300,
    outputTokens: 200,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    totalTokens: 500,
  };
    JSON.stringify(await ledger.snapshotAccount('team'), null, 1),
    JSON.stringify(await ledger.snapshotAccount('app')),
  );
  await db.close();
});
