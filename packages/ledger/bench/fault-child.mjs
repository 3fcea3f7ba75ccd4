// Reserves on a SQLite store until it is refused, and prints how many were admitted and why the next was not.
//   argv = path, most, [user id to become first]
import { openSqlite } from '@stint/storage';
import { createLedger } from '../dist/index.js';

const [path, most, user] = process.argv.slice(2);
if (user !== undefined) process.setuid(Number(user));

async function reserveUntilRefused() {
  const db = await openSqlite({ path, busyTimeoutMs: 50 });
  const ledger = createLedger(db);
  let admitted = 0;
  for (; admitted < Number(most); admitted += 1) {
    const input = { account: 'a', kind: 'action', model: 'simulated:default', estimate: { tokens: 5, costMicros: 1 } };
    const id = `${process.pid}-${String(admitted).padStart(6, '0')}-${'x'.repeat(400)}`;
    const result = await ledger.reserveRequest({ ...input, id });
    if (!result.allowed) return { admitted, code: result.reason.code, message: result.reason.message };
  }
  return { admitted, code: null, message: '' };
}

const outcome = await reserveUntilRefused().catch((error) => ({
  admitted: 0,
  code: `not opened: ${error.code}`,
  message: error.message,
}));
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0));
