import { accountOf, createCommands } from '@stint/coordinator';
import { endOperation, insertTurn, journalMigrations, recordResponse, startOperation } from '@stint/journal';
import { ledgerMigrations, recordFailure } from '@stint/ledger';
import type { HistoryEntry, TurnResponse } from '@stint/provider-hooks';
import type { Context, Transaction } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import {
  applyPlan,
  beginCoordinatorTurn,
  claimAction,
  claimMailbox,
  endRun,
  workItemsMigrations,
} from '@stint/work-items';
import { expect, test } from 'vitest';
import { emptyRequest } from './frozen-request.test.helper.js';
import { ItemReader } from './item-reader.js';

const step = {
  id: 'publish',
  kind: 'work',
  objective: 'Publish',
  approach: 'Call',
  expectedResult: 'A release',
  dependencies: [],
  workspaceMode: 'read',
  checkpoint: false,
} as const;

const gate = { ...step, id: 'deliver', kind: 'deliver', dependencies: ['publish'] } as const;

async function openItem() {
  const store = freshSqlite();
  const db = await store.open();
  for (const set of [ledgerMigrations, journalMigrations, workItemsMigrations]) await db.migrate(set);
  const commands = createCommands(db);
  const { itemId } = await commands.create({ contract: { goal: 'g', deliveryTarget: 'response' }, start: true });
  return { store, db, commands, itemId, reader: new ItemReader(db, 'store', {}) };
}

/** The item's Action called a tool that did not end in time: the call has a result, and nobody knows its effect. */
function* runWithTimeOut(ctx: Context): Transaction<string> {
  const claim = yield* claimMailbox(ctx);
  const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
  const plan = { mutations: [step, gate].map((action) => ({ op: 'add', action }) as const) };
  expect(begun && (yield* applyPlan(ctx, begun.fence, plan))).toEqual({ applied: true });
  const claimed = yield* claimAction(ctx);
  if (claimed === null) throw new Error('the Action is not ready');
  const owner = { kind: 'run', id: claimed.fence.runId } as const;
  const key = { turnId: ctx.newId(), callIndex: 0 };
  const call = { toolCallId: 'c', tool: 'publish' };
  yield* insertTurn(ctx, { id: key.turnId, owner, request: emptyRequest });
  yield* recordResponse(ctx, key.turnId, answer);
  yield* startOperation(ctx, { ...key, ...call, owner, inputHash: 'h' });
  yield* endOperation(ctx, key, { effect: 'unknown', entry: timedOut(`result:${key.turnId}:0`) });
  const unresolved = [{ kind: 'operation', id: `${key.turnId}/0` }] as const;
  const reason = { code: 'tool_fatal', message: 'A tool did not end in time.' };
  yield* endRun(ctx, claimed.fence, { status: 'outcome_unknown', reason, unresolved });
  return unresolved[0].id;
}

const answer: TurnResponse = {
  content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'publish', input: '{}' }],
  text: '',
  finishReason: 'tool-calls',
  usage: null,
  model: 'm',
};

function timedOut(key: string): HistoryEntry {
  const output = { type: 'error-text', value: 'timed out' } as const;
  const part = { type: 'tool-result', toolCallId: 'c', toolName: 'publish', output } as const;
  return { key, kind: 'tool-result', message: { role: 'tool', content: [part] } };
}

test('an Action whose tool ran out of time needs its operation resolved, by id', async () => {
  const { store, db, itemId, reader } = await openItem();
  const operationId = await db.write(runWithTimeOut);
  const { needs } = await reader.detail(itemId);
  expect(needs).toMatchObject([
    { kind: 'unknown_operation', operationId, command: `stint resolve ${operationId} --applied` },
  ]);
  await store.remove();
});

test('an item that failed too often while it was paused says so after resume, with the command that frees it', async () => {
  const { store, db, commands, itemId, reader } = await openItem();
  await commands.pause({ itemId });
  for (let failure = 0; failure < 3; failure += 1)
    await db.write((ctx) => recordFailure(ctx, accountOf(itemId), `coordinator:${itemId}`));
  expect((await reader.detail(itemId)).needs).toMatchObject([{ kind: 'paused' }]);
  await commands.resume({ itemId });
  const { status, needs } = await reader.detail(itemId);
  expect(status).toBe('needs_attention');
  expect(needs).toMatchObject([{ command: `stint budget extend ${itemId} --failures 3 --resume` }]);
  expect(needs[0]?.text).toContain('failures');
  await store.remove();
});
