// A team's budget with two projects beneath: each has a cap of its own, and the team's binds both together, at every instant.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedger } from '@stint/ledger';
import { openSqlite } from '@stint/storage';

const db = await openSqlite({ path: process.argv[2] ?? join(mkdtempSync(join(tmpdir(), 'ledger-')), 'budget.db') });
const ledger = createLedger(db);
await ledger.migrate();
await ledger.createAccount({ id: 'team', limits: { maxTokens: 10_000 } });
await ledger.createAccount({ id: 'search', parent: 'team', limits: { maxTokens: 8_000 } });
await ledger.createAccount({ id: 'support', parent: 'team', limits: { maxTokens: 8_000 } });

const ask = (id, account, tokens) => ({
  id,
  account,
  kind: 'chat',
  model: 'simulated:default',
  estimate: { tokens, costMicros: null },
});
const used = (tokens) => ({
  inputTokens: tokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: tokens,
});

await ledger.reserveRequest(ask('request-1', 'search', 7_000));
const held = await ledger.reserveRequest(ask('request-2', 'support', 5_000));
console.log(
  'while 7000 are held:',
  held.allowed
    ? 'allowed'
    : `${held.reason.code} at ${held.reason.account}, held by others: ${held.reason.heldByOthers}`,
);

await ledger.settleRequest('request-1', { usage: used(2_000), complete: true });
const later = await ledger.reserveRequest(ask('request-3', 'support', 5_000));
console.log('after it took 2000 only:', later.allowed ? 'allowed' : later.reason.code);

for (const account of ['team', 'search', 'support']) {
  const { usage, remaining } = await ledger.snapshotAccount(account);
  console.log(`${account}: ${usage.tokens} charged, ${usage.heldTokens} of them held, ${remaining.tokens} left`);
}
await db.close();
