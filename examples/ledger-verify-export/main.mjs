// The journal: a chain of hashes that proves what was admitted and charged. Verifies it, replays it, exports it as CSV.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedger } from '@stint/ledger';
import { openSqlite, run } from '@stint/storage';

const db = await openSqlite({ path: process.argv[2] ?? join(mkdtempSync(join(tmpdir(), 'ledger-')), 'budget.db') });
const ledger = createLedger(db);
await ledger.migrate();
await ledger.createAccount({ id: 'app', limits: { maxTokens: 5_000 } });
const usage = {
  inputTokens: 900,
  outputTokens: 250,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 1_150,
};
for (const id of ['request-1', 'request-2', 'request-3']) {
  await ledger.reserveRequest({
    id,
    account: 'app',
    kind: 'chat',
    model: 'simulated:default',
    estimate: { tokens: 1_500, costMicros: null },
  });
  await ledger.settleRequest(id, { usage, complete: true });
}

console.log('verify:', JSON.stringify(await ledger.verifyAccount('app')));
console.log('replay:', JSON.stringify(await ledger.replayAccount('app')));

console.log('seq,type,request,tokens,hash');
for (
  let page = await ledger.exportEntries('app');
  page.length > 0;
  page = await ledger.exportEntries('app', page.at(-1).seq)
) {
  for (const { seq, type, request, delta, hash } of page)
    console.log([seq, type, request ?? '', delta?.[1] ?? 0, hash.slice(0, 8)].join(','));
}

// Somebody makes a request cheaper in the database:
await db.write(() => run("UPDATE ledger_entries SET delta = '[0,-1400,0,-1500,0,-1]' WHERE seq = 3"));
console.log('after tampering:', JSON.stringify(await ledger.verifyAccount('app')));
await db.close();
