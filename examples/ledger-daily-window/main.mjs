// A cap for each day of Berlin's calendar, beside one for ever. The clock is passed in, so that tomorrow can be tried today.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedger } from '@stint/ledger';
import { openSqlite } from '@stint/storage';

let now = Date.parse('2026-03-28T20:00:00Z');
const db = await openSqlite({
  path: process.argv[2] ?? join(mkdtempSync(join(tmpdir(), 'ledger-')), 'budget.db'),
  clock: () => now,
});
const ledger = createLedger(db);
await ledger.migrate();
const windows = [{ per: 'day', zone: 'Europe/Berlin', maxTokens: 1_000 }];
await ledger.createAccount({ id: 'bot', limits: { maxTokens: 100_000, windows } });

const ask = (id) => ({
  id,
  account: 'bot',
  kind: 'chat',
  model: 'simulated:default',
  estimate: { tokens: 600, costMicros: null },
});
console.log('first:', (await ledger.reserveRequest(ask('request-1'))).allowed);
const second = await ledger.reserveRequest(ask('request-2'));
if (second.allowed) throw new Error('600 and 600 do not fit into 1000');
const { code, retryAfter } = second.reason;
console.log('second:', code, 'until', new Date(retryAfter).toISOString());

now = retryAfter; // midnight in Berlin; the clocks are changed in the night after
console.log('next day:', (await ledger.reserveRequest(ask('request-3'))).allowed);
await db.close();
