import { freshSqlite } from '@stint/storage/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { add, passingOutcome } from './testing-harness.js';
import { WorkItems } from './work-items.js';

let store: ReturnType<typeof freshSqlite>;
beforeEach(() => {
  store = freshSqlite();
});
afterEach(() => store.remove());

it('the object alone takes an item from a draft to done', async () => {
  const work = await WorkItems.open(await store.open());
  const { itemId } = await work.createWorkItem({ goal: 'Say hello', deliveryTarget: 'response' });
  await work.requestStart({ itemId });
  const turn = await work.beginCoordinatorTurn();
  expect(turn?.entry.kind).toBe('started');
  const gate = [add('greet', { kind: 'deliver' })];
  expect(await work.applyPlan(turn?.fence ?? expect.fail(), { mutations: gate })).toEqual({ applied: true });
  const claimed = await work.claimAction();
  const ending = { status: 'completed', outcome: passingOutcome(0) } as const;
  expect(await work.endRun(claimed?.fence ?? expect.fail(), ending)).toMatchObject({ completedItem: true });
  expect((await work.listWorkItems()).map((item) => item.status)).toEqual(['done']);
  expect((await work.readEvents({ itemId, since: 0 })).map((event) => event.type)).toContain('item.done');
});

it('the object takes up what a dead process left, with what the caller knows to be unknown', async () => {
  const dying = await store.open();
  const dead = await WorkItems.open(dying);
  const { itemId } = await dead.createWorkItem({ goal: 'Say hello', deliveryTarget: 'response' });
  await dead.requestStart({ itemId });
  const turn = await dead.beginCoordinatorTurn();
  await dead.applyPlan(turn?.fence ?? expect.fail(), { mutations: [add('greet', { kind: 'deliver' })] });
  const claimed = await dead.claimAction();
  await dead.postMessage({ itemId, text: 'Hello?', clientMessageId: 'm1' });
  await dead.beginCoordinatorTurn();
  await dying.close();
  const work = await WorkItems.open(await store.open());
  // oxlint-disable-next-line require-yield -- a journal that needs no statement
  const moved = await work.recover(function* (_ctx, run) {
    return [{ kind: 'operation', id: `op-of-${run.runId}` }];
  });
  expect(moved).toBe(2);
  const records = await work.readItemRecords(itemId);
  expect(records?.actions[0]?.attention?.ref).toBe(`op-of-${claimed?.run.id}`);
  expect(records?.openMailbox.map((entry) => entry.status)).toEqual(['pending']);
});
