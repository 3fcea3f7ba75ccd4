import assert from 'node:assert/strict';
import { applyPlan, askHuman, completeItem } from './decisions.js';
import { checkCoordinatorFence, checkRunFence } from './fences.js';
import { cancelItem } from './item-commands.js';
import { postMessage } from './messages.js';
import { add, assertApplied, outcomeOf, threeSteps, type WorkCase } from './testing-harness.js';
import { updateContract } from './update-contract.js';
import { failCoordinatorTurn } from './coordinator-turns.js';

const twoAndGate = [add('a'), add('b'), add('end', { kind: 'deliver', dependencies: ['a', 'b'] })];

export const fenceCases: readonly WorkCase[] = [
  {
    name: 'case Y32: a Run fence holds only if every part of it is the current one',
    async run(work) {
      await work.planned(threeSteps);
      const { fence } = await work.claim('inspect');
      assert.equal(await work.write((ctx) => checkRunFence(ctx, fence)), true);
      const wrong = [
        { ...fence, itemId: 'other' },
        { ...fence, runId: 'other' },
        { ...fence, actionId: 'other' },
        { ...fence, generation: fence.generation + 1 },
        { ...fence, specHash: 'other' },
        { ...fence, leaseEpoch: fence.leaseEpoch - 1 },
        { ...fence, owner: 'other' },
      ];
      for (const other of wrong) assert.equal(await work.write((ctx) => checkRunFence(ctx, other)), false);
    },
  },
  {
    name: 'a Coordinator fence holds only if every part of it is the current one',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const { fence } = await work.think();
      assert.equal(await work.write((ctx) => checkCoordinatorFence(ctx, fence)), true);
      const wrong = [
        { ...fence, itemId: 'other' },
        { ...fence, mailboxId: 'other' },
        { ...fence, claimEpoch: fence.claimEpoch - 1 },
        { ...fence, owner: 'other' },
        { ...fence, turnId: 'other' },
      ];
      for (const other of wrong) assert.equal(await work.write((ctx) => checkCoordinatorFence(ctx, other)), false);
      const failure = { code: 'provider', message: '429', retryAt: work.clock.now };
      await work.write((ctx) => failCoordinatorTurn(ctx, fence, failure));
      const { fence: next } = await work.think();
      assert.equal(await work.write((ctx) => checkCoordinatorFence(ctx, { ...next, turnId: fence.turnId })), false);
      assert.equal(await work.write((ctx) => checkCoordinatorFence(ctx, next)), true);
    },
  },
  {
    name: 'a Run that ended can write nothing more, and its end cannot be written twice',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence } = await work.claim('inspect');
      const ending = { status: 'completed', outcome: outcomeOf() } as const;
      assert.equal((await work.end(fence, ending)).ended, true);
      const before = (await work.look(itemId)).item;
      assert.equal(await work.write((ctx) => checkRunFence(ctx, fence)), false);
      assert.deepEqual(await work.end(fence, ending), { ended: false, reason: 'stale' });
      assert.deepEqual((await work.look(itemId)).item, before);
    },
  },
  {
    name: 'a decision made on older results is refused and answered with the current fences',
    async run(work) {
      const itemId = await work.planned(twoAndGate);
      const running = await work.claim('a');
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'How is it?', clientMessageId: 'm1' }));
      const { fence } = await work.think();
      await work.end(running.fence, { status: 'completed', outcome: outcomeOf() });
      const result = await work.write((ctx) => applyPlan(ctx, fence, { mutations: [] }));
      assert.ok(!result.applied && result.reason === 'stale');
      assert.deepEqual(result.moved, ['resultsRevision']);
      assert.equal(result.current?.resultsRevision, fence.resultsRevision + 1);
      const outputs = [{ kind: 'response', value: 'Done' }];
      const decision = { summary: 'All is well', criteria: [], outputs, residualRisks: [] };
      const completion = await work.write((ctx) => completeItem(ctx, fence, decision));
      assert.ok(!completion.applied && completion.reason === 'stale');
      const failure = { code: 'stale', message: 'Results moved', retryAt: work.clock.now };
      await work.write((ctx) => failCoordinatorTurn(ctx, fence, failure));
      await work.plan([]);
      assert.equal((await work.look(itemId)).openMailbox.length, 0);
    },
  },
  {
    name: 'case Y46: a closed Action does not make later decisions stale',
    async run(work) {
      const itemId = await work.planned(twoAndGate);
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'Skip a', clientMessageId: 'm1' }));
      await work.plan([{ op: 'close', id: 'a', reason: 'Not needed' }]);
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'And now?', clientMessageId: 'm2' }));
      await work.plan([]);
      await work.complete('b');
      await work.claim('end');
    },
  },
  {
    name: 'a decision made before the contract changed is refused',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const { fence } = await work.think();
      await work.write((ctx) => updateContract(ctx, { itemId, change: { goal: 'Something else' } }));
      const result = await work.write((ctx) => askHuman(ctx, fence, { question: 'Sure?' }));
      assert.ok(!result.applied && result.reason === 'stale');
      assert.deepEqual(result.moved, ['revision']);
    },
  },
  {
    name: 'one Coordinator turn thinks at a time; entries of other items are answered meanwhile',
    async run(work) {
      const first = await work.create();
      await work.start(first);
      await work.write((ctx) => postMessage(ctx, { itemId: first, text: 'Hurry', clientMessageId: 'm1' }));
      const second = await work.create();
      await work.start(second);
      const one = await work.think();
      const two = await work.think();
      assert.deepEqual([one.item.id, two.item.id], [first, second]);
      assert.equal(await work.tryThink(), null);
      assertApplied(await work.write((ctx) => applyPlan(ctx, one.fence, { mutations: threeSteps })));
      assert.equal((await work.think()).entry.kind, 'message');
    },
  },
  {
    name: 'case Y01: a decision that arrives after cancel changes nothing',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const { fence } = await work.think();
      await work.write((ctx) => cancelItem(ctx, { itemId }));
      assert.equal(await work.write((ctx) => checkCoordinatorFence(ctx, fence)), false);
      const result = await work.write((ctx) => applyPlan(ctx, fence, { mutations: threeSteps }));
      assert.deepEqual(result, { applied: false, reason: 'stale', moved: ['claim'], current: null });
      assert.equal((await work.look(itemId)).actions.length, 0);
    },
  },
];
