import { freshSqlite } from '@stint/storage/testing';
import { expect, it } from 'vitest';
import { createLedger } from './ledger.js';
import { ledgerMigrations } from './schema.js';

const usage = {
  inputTokens: 10,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 20,
};

/** The middle one of these times: a pause of the machine in one of them does not count. */
const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

it('a request costs as much after ten thousand others as after a hundred, in statements and in time', async () => {
  const store = freshSqlite();
  const db = await store.open({ synchronous: 'normal' });
  await db.migrate(ledgerMigrations);
  const ledger = createLedger(db);
  await ledger.createAccount({ id: 'team', limits: { maxRequests: 1_000_000 } });
  await ledger.createAccount({ id: 'item', parent: 'team', limits: { maxTokens: 1_000_000_000 } });
  let number = 0;
  const pair = async (): Promise<number> => {
    number += 1;
    const id = `r${String(number).padStart(8, '0')}`;
    const began = performance.now();
    await ledger.reserveRequest({
      id,
      account: 'item',
      kind: 'action',
      run: `run-${number % 50}`,
      model: 'm:x',
      estimate: { tokens: 50, costMicros: 5 },
    });
    await ledger.settleRequest(id, { usage, complete: true, costMicros: 4 });
    return performance.now() - began;
  };
  const measure = async (): Promise<{ statements: number; time: number }> => {
    const before = db.statementCount;
    const times: number[] = [];
    for (let round = 0; round < 200; round += 1) times.push(await pair());
    return { statements: db.statementCount - before, time: median(times) };
  };
  while (number < 100) await pair();
  const early = await measure();
  while (number < 10_000) await pair();
  const late = await measure();
  expect(late.statements).toBe(early.statements);
  // A look at every request would cost several times as much; the bound only tells that apart from noise.
  expect(late.time).toBeLessThan(early.time * 2.5);
  await db.close();
  await store.remove();
});
