// One process of the hammer: calls the ledger at random until it is told to end, and sometimes kills itself in the middle.
import { openPostgres, openSqlite } from '@stint/storage';
import { createLedger } from '../dist/index.js';
import { seededRandom } from './random.mjs';

const [engine, location, seed, seconds] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const db =
  engine === 'sqlite'
    ? await openSqlite({ path: location, synchronous: 'normal' })
    : await openPostgres({ url: location });
const ledger = createLedger(db);
const accounts = ['root', 'left', 'right', 'left.leaf'];
const actor = { kind: 'person', id: 'hammer' };
const held = [];
const counts = { refused: 0, recovered: 0 };
const end = performance.now() + Number(seconds) * 1000;
let last = 0;

const pick = (list) => list[Math.floor(random() * list.length)];
const used = (tokens) => ({
  inputTokens: tokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: tokens,
});

async function reserve() {
  last += 1;
  const tokens = 1 + Math.floor(random() * 500);
  const id = `${process.pid}-${seed}-${String(last).padStart(8, '0')}`;
  const result = await ledger.reserveRequest({
    id,
    account: pick(accounts),
    kind: 'action',
    model: 'simulated:default',
    estimate: { tokens, costMicros: tokens },
  });
  if (result.allowed) held.push({ id, tokens });
  else counts.refused += 1;
}

/** Half of the settlements are above their hold. */
async function settle() {
  const request = held.splice(Math.floor(random() * held.length), 1)[0];
  if (request === undefined) return;
  const tokens =
    random() < 0.5 ? request.tokens + 1 + Math.floor(random() * 50) : Math.floor(random() * request.tokens);
  await ledger.settleRequest(request.id, { usage: used(tokens), complete: true, costMicros: tokens });
}

async function release() {
  const request = held.pop();
  if (request !== undefined) await ledger.releaseRequest(request.id, 'refused');
}

async function resume() {
  for (const account of accounts) {
    const { revision, status } = await ledger.snapshotAccount(account);
    if (status !== 'stopped') continue;
    const extended = await ledger.extendAccount(account, { revision, additions: { maxTokens: 2000 }, actor });
    if (extended.changed) await ledger.resumeAccount(account, { revision: extended.revision, actor });
  }
}

counts.recovered += await ledger.recoverRequests();
while (performance.now() < end) {
  const dice = random();
  if (dice < 0.5) await reserve();
  else if (dice < 0.88) await settle();
  else if (dice < 0.94) await release();
  else if (dice < 0.98) await resume();
  else if (dice < 0.9985) counts.recovered += await ledger.recoverRequests();
  else if (process.send !== undefined) {
    void reserve();
    void settle();
    setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    await new Promise(() => undefined);
  }
}
for (const { id } of held) await ledger.markRequestUnknown(id);
process.send({ counts });
await db.close();
