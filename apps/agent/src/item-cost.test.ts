import { accountOf } from '@stint/coordinator';
import { insertTurn, journalMigrations } from '@stint/journal';
import { createAccount, ledgerMigrations, reserveRequest } from '@stint/ledger';
import type { HistoryEntry } from '@stint/provider-hooks';
import type { Context, Database, Transaction } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import {
  applyPlan,
  beginCoordinatorTurn,
  claimAction,
  claimMailbox,
  createWorkItem,
  endRun,
  requestStart,
  workItemsMigrations,
} from '@stint/work-items';
import { expect, test } from 'vitest';
import { emptyRequest } from './frozen-request.test.helper.js';
import { ItemReader } from './item-reader.js';

const step = {
  id: 'look',
  kind: 'work',
  objective: 'Look',
  approach: 'Read',
  expectedResult: 'A note',
  dependencies: [],
  workspaceMode: 'read',
  checkpoint: false,
} as const;

const gate = { ...step, id: 'deliver', kind: 'deliver', dependencies: ['look'] } as const;

function failedResult(callId: string): HistoryEntry {
  const output = { type: 'error-text', value: 'no' } as const;
  const part = { type: 'tool-result', toolCallId: callId, toolName: 'shell', output } as const;
  return { key: `result:${callId}`, kind: 'tool-result', message: { role: 'tool', content: [part] } };
}

/** An item whose only Action was put off `runs` times; each Run asked once and called one tool in vain. */
function* itemWithRuns(ctx: Context, runs: number): Transaction<string> {
  const { itemId } = yield* createWorkItem(ctx, { goal: 'g', deliveryTarget: 'response' });
  yield* createAccount(ctx, { id: accountOf(itemId), limits: {}, actor: { kind: 'person', id: 'ann' } });
  yield* requestStart(ctx, { itemId });
  const claim = yield* claimMailbox(ctx);
  const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
  const plan = { mutations: [step, gate].map((action) => ({ op: 'add', action }) as const) };
  expect(begun && (yield* applyPlan(ctx, begun.fence, plan))).toEqual({ applied: true });
  for (let count = 0; count < runs; count += 1) yield* deferredRun(ctx, itemId);
  return itemId;
}

function* deferredRun(ctx: Context, itemId: string): Transaction<void> {
  const claimed = yield* claimAction(ctx, { itemIds: [itemId] });
  if (claimed === null) throw new Error('the Action is not ready');
  const id = ctx.newId();
  const { runId } = claimed.fence;
  const estimate = { tokens: 7, costMicros: 1 };
  const account = accountOf(itemId);
  yield* reserveRequest(ctx, { id, account, kind: 'action', run: runId, model: emptyRequest.model, estimate });
  const carried = { ...emptyRequest, entries: [failedResult(id)] };
  yield* insertTurn(ctx, { id, owner: { kind: 'run', id: runId }, request: carried });
  const reason = { code: 'later', message: 'Later.' };
  yield* endRun(ctx, claimed.fence, { status: 'deferred', reason, notBefore: ctx.now });
}

async function statementsOf(db: Database, work: () => Promise<unknown>): Promise<number> {
  const before = db.statementCount;
  await work();
  return db.statementCount - before;
}

test('a page, a detail and the board event of an item take as many statements after 1 000 Runs as after 10', async () => {
  const counts: Record<string, number>[] = [];
  for (const runs of [10, 1_000]) {
    const store = freshSqlite();
    const db = await store.open();
    for (const set of [ledgerMigrations, journalMigrations, workItemsMigrations]) await db.migrate(set);
    const itemId = await db.write((ctx) => itemWithRuns(ctx, runs));
    const reader = new ItemReader(db, 'store', {});
    const lastSeq = await reader.lastBoardSeq();
    const { statistics, actions } = await reader.detail(itemId);
    expect(statistics).toMatchObject({ runs, loops: runs, toolCalls: runs, failedToolCalls: runs });
    expect(actions[0]?.statistics).toMatchObject({ runs, requests: runs, tokens: 7 * runs, loops: runs });
    expect(actions[0]?.latestRun).toMatchObject({ status: 'deferred', loops: 1, failedToolCalls: 1 });
    expect((await reader.page({})).items[0]?.statistics).toEqual(statistics);
    counts.push({
      page: await statementsOf(db, () => reader.page({})),
      detail: await statementsOf(db, () => reader.detail(itemId)),
      boardEvents: await statementsOf(db, () => reader.boardEvents(lastSeq - 1)),
    });
    await store.remove();
  }
  expect(counts[1]).toEqual(counts[0]);
});
