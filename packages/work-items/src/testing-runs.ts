import assert from 'node:assert/strict';
import { continueAction, retryAction } from './action-commands.js';
import { answerQuestion } from './answer-question.js';
import { type ClaimActionOptions, findActionWork } from './claim-action.js';
import { applyPlan } from './decisions.js';
import { acknowledgeInputs, addInput, bindInputs, closePendingInput, pendingInputs, unbindInputs } from './inputs.js';
import type { FoundWork } from './mailbox.js';
import { postMessage } from './messages.js';
import { add, assertApplied, outcomeOf, passingOutcome, threeSteps, type WorkCase } from './testing-harness.js';

const again = { status: 'retryable', reason: { code: 'no_outcome', message: 'No outcome was submitted' } } as const;
const gateOnly = [add('deliver', { kind: 'deliver' })];

export const runCases: readonly WorkCase[] = [
  {
    name: 'a dependency that completes unlocks exactly what waited for it, and hands over its outcome',
    async run(work) {
      const itemId = await work.planned([
        add('a'),
        add('b'),
        add('c', { dependencies: ['a'] }),
        add('end', { kind: 'deliver', dependencies: ['b', 'c'] }),
      ]);
      assert.deepEqual(
        (await work.look(itemId)).actions.map((action) => action.status),
        ['ready', 'ready', 'blocked', 'blocked'],
      );
      await work.complete('a', { summary: 'A is known' });
      assert.deepEqual(
        (await work.look(itemId)).actions.map((action) => action.status),
        ['completed', 'ready', 'ready', 'blocked'],
      );
      await work.complete('b');
      const { dependencies } = await work.claim('c');
      assert.deepEqual(dependencies, [{ slug: 'a', outcome: outcomeOf({ summary: 'A is known' }) }]);
    },
  },
  {
    name: 'case Y37: a claim skips what is blocked and takes the next that waited longest',
    async run(work) {
      const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };
      const edit = [add('edit', { kind: 'deliver', workspaceMode: 'shared' })];
      const first = await work.planned(edit, place);
      work.clock.now += 1;
      await work.planned(edit, place);
      work.clock.now += 1;
      const third = await work.planned(gateOnly);
      assert.equal((await work.claim('edit')).item.id, first);
      assert.equal((await work.claim('deliver')).item.id, third);
      assert.equal(await work.tryClaim(), null);
    },
  },
  {
    name: 'case Y26: one workspace is edited by one Run at a time over all items, readers overlap',
    async run(work) {
      const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };
      const mixed = [
        add('look'),
        add('edit', { workspaceMode: 'shared' }),
        add('end', { kind: 'deliver', dependencies: ['look', 'edit'] }),
      ];
      await work.planned(mixed, place);
      await work.planned(mixed, place);
      const claimed = [await work.claim(), await work.claim(), await work.claim()];
      assert.equal(await work.tryClaim(), null);
      const editing = claimed.filter(({ action }) => action.workspaceMode === 'shared');
      assert.equal(editing.length, 1);
      const fence = editing[0]?.fence ?? assert.fail();
      await work.end(fence, { status: 'completed', outcome: outcomeOf() });
      assert.equal((await work.claim('edit')).action.slug, 'edit');
    },
  },
  {
    name: 'a claim keeps the machine, the concurrency and the budget stop it is told',
    async run(work) {
      const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };
      const itemId = await work.planned(
        [add('a'), add('b'), add('end', { kind: 'deliver', dependencies: ['a', 'b'] })],
        place,
      );
      for (const machine of ['m2', 'm', 'm1:/repo']) assert.equal(await work.tryClaim({ machine }), null);
      assert.equal(await work.tryClaim({ itemIds: ['another'] }), null);
      const stop = { code: 'tokens_exhausted', message: 'Used up', account: `item:${itemId}` };
      // oxlint-disable-next-line require-yield -- a reader of the stop that needs no statement
      const stopOf = function* () {
        return stop;
      };
      assert.equal(await work.tryClaim({ stopOf }), null);
      const look = (options: ClaimActionOptions, passOver?: ReadonlySet<string>): Promise<FoundWork | null> =>
        work.read((ctx) => findActionWork(ctx, options, passOver));
      for (const options of [{ machine: 'm2' }, { itemIds: ['another'] }, { stopOf }])
        assert.equal(await look(options), null);
      assert.deepEqual(await look({ machine: 'm1' }), { id: `${itemId}/a`, itemId });
      assert.deepEqual(await look({}, new Set([`${itemId}/a`])), { id: `${itemId}/b`, itemId });
      await work.claim('a', { machine: 'm1', maxConcurrentActions: 1 });
      assert.equal(await work.tryClaim({ maxConcurrentActions: 1 }), null);
      assert.equal(await look({ maxConcurrentActions: 1 }), null);
      await assert.rejects(work.tryClaim({ maxConcurrentActions: 13 }), { code: 'invalid_field' });
    },
  },
  {
    name: 'case C03: attempts are bounded with growing waits, then the Action is set aside with its reason',
    async run(work) {
      const itemId = await work.planned(threeSteps, { maxAttempts: 3 });
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const { fence, run } = await work.claim('inspect');
        assert.equal(run.attempt, attempt);
        await work.end(fence, again);
        const { notBefore } = await work.action(itemId, 'inspect');
        if (notBefore === null) break;
        assert.equal(await work.tryClaim(), null);
        waits.push(notBefore - work.clock.now);
        work.clock.now = notBefore;
      }
      assert.deepEqual(waits, [1_000, 2_000]);
      const action = await work.action(itemId, 'inspect');
      assert.equal(action.status, 'failed');
      assert.equal(action.attention?.code, 'exhausted');
      assert.equal(action.attention.command, `stint retry ${action.id}`);
    },
  },
  {
    name: 'a deferred Run goes on from its journal as the same attempt, and not before its time',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const first = await work.claim('inspect');
      const reason = { code: 'backing_off', message: 'The provider asks to wait' };
      const notBefore = work.clock.now + 60_000;
      await work.end(first.fence, { status: 'deferred', reason, notBefore });
      assert.equal(await work.tryClaim(), null);
      assert.equal((await work.look(itemId)).item.status, 'ready');
      work.clock.now = notBefore;
      const second = await work.claim('inspect');
      assert.equal(second.run.attempt, 1);
      assert.equal(second.run.attemptId, first.run.id);
      assert.equal(second.run.resumesRunId, first.run.id);
      await work.end(second.fence, again);
      work.clock.now += 1_000;
      const third = await work.claim('inspect');
      assert.deepEqual([third.run.attempt, third.run.attemptId, third.run.resumesRunId], [2, third.run.id, null]);
    },
  },
  {
    name: 'case Y28: an item waits although another Action was deferred, as its status is derived from all',
    async run(work) {
      const itemId = await work.planned([
        add('a'),
        add('b'),
        add('end', { kind: 'deliver', dependencies: ['a', 'b'] }),
      ]);
      const a = await work.claim('a');
      const b = await work.claim('b');
      await work.end(a.fence, { status: 'waiting', question: 'Which one?' });
      assert.equal((await work.look(itemId)).item.status, 'running');
      await work.end(b.fence, { status: 'failed', reason: { code: 'tool', message: 'Broken' } });
      await work.think();
      assert.equal((await work.look(itemId)).item.status, 'running');
    },
  },
  {
    name: 'the answer to a waiting Run is its input, and the same attempt goes on',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const first = await work.claim('inspect');
      await work.end(first.fence, { status: 'waiting', question: 'Which file?' });
      const { item, openQuestions } = await work.look(itemId);
      assert.equal(item.status, 'waiting');
      assert.equal(item.attention?.command, `stint answer ${first.action.id} "your answer"`);
      const answer = { itemId, questionId: openQuestions[0]?.id ?? '', text: 'a.js', clientMessageId: 'x' };
      await work.write((ctx) => answerQuestion(ctx, answer));
      const second = await work.claim('inspect');
      assert.equal(second.run.resumesRunId, first.run.id);
      assert.equal(second.run.attemptId, first.run.id);
      assert.deepEqual(
        second.pendingInputs.map((input) => input.text),
        ['a.js'],
      );
    },
  },
  {
    name: 'case Y34: an input is bound to the turn that carries it, consumed with its answer, and given once',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence, action } = await work.claim('inspect');
      const input = { itemId, actionId: action.id, text: 'Look at b.js too', clientMessageId: 'i1' };
      await work.write((ctx) => addInput(ctx, input));
      assert.deepEqual(await work.write((ctx) => addInput(ctx, input)), { applied: true, duplicate: true });
      assert.equal(await work.write((ctx) => closePendingInput(ctx, fence)), false);
      const pending = await work.write((ctx) => pendingInputs(ctx, fence));
      const inputIds = pending.map(({ id }) => id);
      await work.write((ctx) => bindInputs(ctx, fence, { turnId: 't1', inputIds }));
      assert.deepEqual(await work.write((ctx) => pendingInputs(ctx, fence)), []);
      const early = await work.end(fence, { status: 'completed', outcome: outcomeOf() });
      assert.deepEqual(early, { ended: false, reason: 'input_pending' });
      await work.write((ctx) => unbindInputs(ctx, 't1'));
      assert.equal((await work.write((ctx) => pendingInputs(ctx, fence))).length, 1);
      await work.write((ctx) => bindInputs(ctx, fence, { turnId: 't2', inputIds }));
      await work.write((ctx) => acknowledgeInputs(ctx, 't2'));
      assert.equal((await work.end(fence, { status: 'completed', outcome: outcomeOf() })).ended, true);
    },
  },
  {
    name: 'an input bound to a Run that ends goes to the next attempt, once',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const first = await work.claim('inspect');
      await work.write((ctx) =>
        addInput(ctx, { itemId, actionId: first.action.id, text: 'Mind this', clientMessageId: 'i1' }),
      );
      const inputIds = (await work.write((ctx) => pendingInputs(ctx, first.fence))).map(({ id }) => id);
      await work.write((ctx) => bindInputs(ctx, first.fence, { turnId: 't1', inputIds }));
      await work.end(first.fence, again);
      work.clock.now += 1_000;
      const second = await work.claim('inspect');
      assert.deepEqual(
        second.pendingInputs.map(({ id }) => id),
        inputIds,
      );
    },
  },
  {
    name: 'case Y44: one clientMessageId is one message, and an error when it is meant for someone else',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const message = { itemId, text: 'Hello', clientMessageId: 'm1' };
      await work.write((ctx) => postMessage(ctx, message));
      assert.deepEqual(await work.write((ctx) => postMessage(ctx, message)), { applied: true, duplicate: true });
      const { messages, openMailbox } = await work.look(itemId);
      assert.equal(messages.length, 1);
      assert.equal(openMailbox.length, 1);
      const input = { itemId, actionId: `${itemId}/inspect`, text: 'Hello', clientMessageId: 'm1' };
      await assert.rejects(
        work.write((ctx) => addInput(ctx, input)),
        { code: 'client_message_conflict' },
      );
    },
  },
  {
    name: 'input to a failed Action starts its attempts anew, and goes with the next Run',
    async run(work) {
      const itemId = await work.planned(threeSteps, { maxAttempts: 1 });
      const { fence, action } = await work.claim('inspect');
      await work.end(fence, again);
      await work.write((ctx) =>
        addInput(ctx, { itemId, actionId: action.id, text: 'Try b.js', clientMessageId: 'i1' }),
      );
      const next = await work.claim('inspect');
      assert.equal(next.run.attempt, 1);
      assert.deepEqual(
        next.pendingInputs.map((input) => input.text),
        ['Try b.js'],
      );
    },
  },
  {
    name: 'input to an Action that is blocked or finished is refused, and nothing is kept of it',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      await work.complete('inspect');
      for (const slug of ['inspect', 'deliver']) {
        const input = { itemId, actionId: `${itemId}/${slug}`, text: 'x', clientMessageId: slug };
        await assert.rejects(
          work.write((ctx) => addInput(ctx, input)),
          { code: 'action_not_accepting_input' },
        );
      }
      assert.equal((await work.look(itemId)).openInputs.length, 0);
    },
  },
  {
    name: 'a Run with unknown effects waits for a person, who resolves them one by one',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const first = await work.claim('inspect');
      const unresolved = [
        { kind: 'operation', id: 'op1' },
        { kind: 'operation', id: 'op2' },
      ] as const;
      const reason = { code: 'tool_timeout', message: 'The shell did not end' };
      await work.end(first.fence, { status: 'outcome_unknown', reason, unresolved });
      const { item } = await work.look(itemId);
      assert.equal(item.status, 'needs_attention');
      assert.equal(item.attention?.command, 'stint resolve op1 --applied');
      const actionId = first.action.id;
      await assert.rejects(
        work.write((ctx) => retryAction(ctx, { itemId, actionId })),
        {
          code: 'action_not_retryable',
        },
      );
      await work.write((ctx) => continueAction(ctx, { itemId, actionId, unresolved: [unresolved[1]] }));
      assert.equal((await work.look(itemId)).item.attention?.command, 'stint resolve op2 --applied');
      await work.write((ctx) => continueAction(ctx, { itemId, actionId, unresolved: [] }));
      const second = await work.claim('inspect');
      assert.equal(second.run.resumesRunId, first.run.id);
      assert.equal(second.run.attempt, 1);
    },
  },
  {
    name: 'a retry or a resolution given from a stale screen changes nothing',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence, action } = await work.claim('inspect');
      const actionId = action.id;
      await work.end(fence, { status: 'failed', reason: { code: 'tool', message: 'Broken' } });
      const { generation } = await work.action(itemId, 'inspect');
      const retry = { itemId, actionId, expectedGeneration: generation };
      assert.equal((await work.write((ctx) => retryAction(ctx, retry))).applied, true);
      const again = await work.claim('inspect');
      await work.end(again.fence, { status: 'failed', reason: { code: 'tool', message: 'Broken' } });
      const stale = await work.write((ctx) => retryAction(ctx, retry));
      assert.ok(!stale.applied && stale.reason === 'stale');
      const before = await work.look(itemId);
      assert.equal(before.actions[0]?.status, 'failed');
      const resolved = await work.write((ctx) => continueAction(ctx, { itemId, actionId, unresolved: [] }));
      assert.deepEqual(resolved, { applied: true, duplicate: true });
      assert.deepEqual(await work.look(itemId), before);
    },
  },
  {
    name: 'a question of an Action is not answered by the resolution of an operation',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence, action } = await work.claim('inspect');
      await work.end(fence, { status: 'waiting', question: 'Which one?' });
      const before = await work.look(itemId);
      const resolution = { itemId, actionId: action.id, unresolved: [] };
      assert.deepEqual(await work.write((ctx) => continueAction(ctx, resolution)), { applied: true, duplicate: true });
      assert.deepEqual(await work.look(itemId), before);
    },
  },
  {
    name: 'replacing a failed Action points its dependents at the new one',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence } = await work.claim('inspect');
      await work.end(fence, { status: 'failed', reason: { code: 'tool', message: 'Broken' } });
      const thinking = await work.think();
      const left = await work.write((ctx) => applyPlan(ctx, thinking.fence, { mutations: [] }));
      assert.ok(!left.applied && left.reason === 'refused');
      assert.deepEqual(
        left.violations.map((violation) => violation.rule),
        ['failed_left', 'nothing_moves'],
      );
      const replacement = add('inspect-again');
      const mutation = {
        op: 'replace' as const,
        id: 'inspect',
        action: 'action' in replacement ? replacement.action : assert.fail(),
      };
      assertApplied(await work.write((ctx) => applyPlan(ctx, thinking.fence, { mutations: [mutation] })));
      assert.deepEqual((await work.action(itemId, 'fix')).dependencies, ['inspect-again']);
      await work.complete('inspect-again');
      await work.complete('fix');
      await work.complete('deliver', passingOutcome(0));
      assert.equal((await work.look(itemId)).item.status, 'done');
    },
  },
  {
    name: 'case Y31: a patched Action waits again, as a new generation that goes on from no older journal',
    async run(work) {
      const itemId = await work.planned([add('a'), add('end', { kind: 'deliver', dependencies: ['a'] })]);
      const first = await work.claim('a');
      await work.end(first.fence, { status: 'deferred', reason: { code: 'busy', message: 'Later' } });
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'Look first', clientMessageId: 'm1' }));
      await work.plan([add('look'), { op: 'patch_dependencies', id: 'a', dependencies: ['look'] }]);
      assert.equal((await work.action(itemId, 'a')).status, 'blocked');
      await work.complete('look');
      const second = await work.claim('a');
      assert.equal(second.run.generation, 2);
      assert.notEqual(second.run.specHash, first.run.specHash);
      assert.deepEqual([second.run.resumesRunId, second.run.attemptId], [null, second.run.id]);
    },
  },
  {
    name: 'superseding an Action needs its dependents patched, and loses nothing that is finished',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      await work.complete('inspect');
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'Do it another way', clientMessageId: 'm1' }));
      await work.plan([
        { op: 'supersede', id: 'fix', reason: 'Another way' },
        add('other', { dependencies: ['inspect'] }),
        { op: 'patch_dependencies', id: 'deliver', dependencies: ['other'] },
      ]);
      const { actions, item } = await work.look(itemId);
      assert.deepEqual(
        actions.map(({ slug, status }) => [slug, status]),
        [
          ['inspect', 'completed'],
          ['fix', 'superseded'],
          ['deliver', 'blocked'],
          ['other', 'ready'],
        ],
      );
      assert.equal(item.planRevision, 2);
      await work.complete('other');
      await work.complete('deliver', passingOutcome(0));
      assert.equal((await work.look(itemId)).item.status, 'done');
    },
  },
  {
    name: 'closing a running Action supersedes its Run and lets its dependents go on',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const running = await work.claim('inspect');
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'Skip that', clientMessageId: 'm1' }));
      await work.plan([{ op: 'close', id: 'inspect', reason: 'The person knows it' }]);
      const { runs } = await work.look(itemId);
      assert.equal(runs.find((run) => run.id === running.run.id)?.status, 'superseded');
      assert.deepEqual(await work.end(running.fence, again), { ended: false, reason: 'stale' });
      await work.claim('fix');
    },
  },
];
