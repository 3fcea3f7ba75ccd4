// The operations that the crash sweep kills between every two statements: what has to be there before, and what is done.
import * as ledger from '../dist/index.js';

const actor = { kind: 'person', id: 'ada' };
const usage = {
  inputTokens: 100,
  outputTokens: 60,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 160,
};
const ask = (id, tokens) => ({
  id,
  account: 'leaf',
  kind: 'action',
  run: 'run',
  model: 'simulated:default',
  estimate: { tokens, costMicros: 5 },
  attempt: { subject: 'step', run: 'run' },
});

/** The clock of a sweep stands still, so that the same operation writes the same rows. */
export const sweepTime = Date.UTC(2026, 2, 10, 12);

function* tree(ctx) {
  yield* ledger.createAccount(ctx, {
    id: 'root',
    limits: { maxTokens: 1000, windows: [{ per: 'day', maxTokens: 1000 }] },
  });
  yield* ledger.createAccount(ctx, { id: 'middle', parent: 'root' });
  yield* ledger.createAccount(ctx, {
    id: 'leaf',
    parent: 'middle',
    limits: { maxTokens: 500, maxRunRequests: 9, maxAttempts: 3 },
  });
}

function* held(ctx) {
  yield* tree(ctx);
  yield* ledger.reserveRequest(ctx, ask('held', 150));
}

function* stopped(ctx) {
  yield* held(ctx);
  yield* ledger.stopAccount(ctx, 'leaf', { code: 'paused', actor });
}

export const operations = {
  reserve: { before: tree, run: (ctx) => ledger.reserveRequest(ctx, ask('new', 200)) },
  'reserve that stops': { before: tree, run: (ctx) => ledger.reserveRequest(ctx, ask('new', 600)) },
  'settle above the hold': {
    before: held,
    run: (ctx) =>
      ledger.settleRequest(ctx, 'held', { usage: { ...usage, outputTokens: 500, totalTokens: 600 }, complete: true }),
  },
  settle: { before: held, run: (ctx) => ledger.settleRequest(ctx, 'held', { usage, complete: true }) },
  release: { before: held, run: (ctx) => ledger.releaseRequest(ctx, 'held', 'refused') },
  extend: {
    before: held,
    run: (ctx) => ledger.extendAccount(ctx, 'leaf', { revision: 1, additions: { maxTokens: 7 }, actor }),
  },
  resume: { before: stopped, run: (ctx) => ledger.resumeAccount(ctx, 'leaf', { revision: 2, actor }) },
  recover: { before: held, run: (ctx) => ledger.recoverRequest(ctx, 'held') },
};
