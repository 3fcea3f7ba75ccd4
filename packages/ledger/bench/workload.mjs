// What every figure calls: one pair of reserve and settle in a tree of three levels.
import { createAccount, ledgerMigrations, reserveRequest, settleRequest } from '../dist/index.js';

export const usage = {
  inputTokens: 300,
  outputTokens: 80,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 380,
};

export async function createTree(db, leaves = ['leaf']) {
  await db.migrate(ledgerMigrations);
  await db.write(function* (ctx) {
    yield* createAccount(ctx, { id: 'root', limits: { maxTokens: 1e14, maxCostMicros: 1e14 } });
    yield* createAccount(ctx, { id: 'middle', parent: 'root', limits: { maxTokens: 1e14 } });
    for (const id of leaves)
      yield* createAccount(ctx, { id, parent: 'middle', limits: { maxRequests: 1e12, maxTokens: 1e14 } });
  });
}

export function reserve(db, id, account = 'leaf') {
  const input = {
    id,
    account,
    kind: 'action',
    model: 'simulated:default',
    estimate: { tokens: 400, costMicros: 900 },
    priceVersion: '1',
  };
  return db.write((ctx) => reserveRequest(ctx, input));
}

export function settle(db, id) {
  return db.write((ctx) => settleRequest(ctx, id, { usage, complete: true, costMicros: 800 }));
}

export async function pair(db, id, account = 'leaf') {
  await reserve(db, id, account);
  await settle(db, id);
}
