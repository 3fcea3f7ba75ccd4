import assert from 'node:assert/strict';
import { applyPlan, askHuman, completeItem } from './decisions.js';
import { failCoordinatorTurn } from './coordinator-turns.js';
import { hasFreshEvents, numberEvents, readBoardEvents, readEvents } from './events.js';
import { addInput } from './inputs.js';
import { cancelItem, pauseItem, requestStart, resumeItem, wakeItem } from './item-commands.js';
import { createWorkItem } from './items.js';
import { checkRunFence } from './fences.js';
import { recoverHold, releaseWorkspace } from './workspace-holds.js';
import { add, assertApplied, outcomeOf, passingOutcome, threeSteps, type WorkCase } from './testing-harness.js';
import { updateContract } from './update-contract.js';
import { answerQuestion } from './answer-question.js';
import { postMessage } from './messages.js';
import { retryAction } from './action-commands.js';

export const lifecycleCases: readonly WorkCase[] = [
  {
    name: 'an item goes from draft over plan, Actions and gate to done',
    async run(work) {
      const itemId = await work.create({ acceptanceCriteria: ['node --test passes'] });
      assert.equal((await work.look(itemId)).item.status, 'draft');
      const notStarted = { code: 'item_not_started', message: new RegExp(`stint start ${itemId}`) };
      for (const command of [pauseItem, resumeItem])
        await assert.rejects(
          work.write((ctx) => command(ctx, { itemId })),
          notStarted,
        );
      await work.start(itemId);
      assert.equal((await work.look(itemId)).item.status, 'ready');
      const { fence, entry } = await work.think();
      assert.equal(entry.kind, 'started');
      assert.equal((await work.look(itemId)).item.status, 'running');
      assertApplied(await work.write((ctx) => applyPlan(ctx, fence, { mutations: threeSteps, reply: 'Three steps' })));
      assert.equal((await work.look(itemId)).item.status, 'ready');
      await work.complete('inspect');
      await work.complete('fix');
      const gate = await work.complete('deliver', passingOutcome(1));
      const { item, messages } = await work.look(itemId);
      assert.equal(item.status, 'done');
      assert.equal(item.finalResult?.completedBy, 'gate');
      assert.deepEqual(item.finalResult.criteria[0]?.evidenceRunIds, [gate.run.id]);
      assert.deepEqual(item.finalResult.responses, [
        { actionId: gate.action.id, runId: gate.run.id, text: 'The test passes now' },
      ]);
      assert.deepEqual(
        messages.map((message) => message.text),
        ['Three steps'],
      );
      assert.equal(await work.tryThink(), null);
    },
  },
  {
    name: 'creating twice with one clientMessageId makes one item',
    async run(work) {
      const input = { goal: 'Once', clientMessageId: 'browser-1' };
      const first = await work.write((ctx) => createWorkItem(ctx, input));
      const second = await work.write((ctx) => createWorkItem(ctx, input));
      assert.deepEqual(second, { itemId: first.itemId, created: false });
    },
  },
  {
    name: 'starting twice wakes the Coordinator once',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      assert.deepEqual(await work.write((ctx) => requestStart(ctx, { itemId })), { applied: true, duplicate: true });
      assert.equal((await work.look(itemId)).openMailbox.length, 1);
    },
  },
  {
    name: 'case Y38: a gate that lacks evidence for a criterion does not complete, and the Coordinator is woken',
    async run(work) {
      const itemId = await work.planned(threeSteps, { acceptanceCriteria: ['one', 'two'] });
      await work.complete('inspect');
      await work.complete('fix');
      await work.complete('deliver', passingOutcome(1));
      const { item, openMailbox } = await work.look(itemId);
      assert.equal(item.status, 'ready');
      assert.deepEqual(
        openMailbox.map((entry) => entry.kind),
        ['plan_used_up'],
      );
    },
  },
  {
    name: 'a gate that lacks the output its target demands does not complete the item',
    async run(work) {
      const itemId = await work.planned(threeSteps, { deliveryTarget: 'workspace_files' });
      await work.complete('inspect');
      await work.complete('fix');
      await work.complete('deliver', passingOutcome(0));
      assert.equal((await work.look(itemId)).item.status, 'ready');
    },
  },
  {
    name: 'a gate does not complete an item whose person has said something that nobody answered',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      await work.complete('inspect');
      await work.complete('fix');
      const message = { itemId, text: 'One more thing', clientMessageId: 'm1' };
      await work.write((ctx) => postMessage(ctx, message));
      await work.complete('deliver', passingOutcome(0));
      const { item } = await work.look(itemId);
      assert.equal(item.status, 'ready');
      assert.equal(item.finalResult, null);
    },
  },
  {
    name: 'a decision of the Coordinator completes the item with Runs that passed each criterion',
    async run(work) {
      const itemId = await work.planned(threeSteps, { acceptanceCriteria: ['one'] });
      await work.complete('inspect');
      const fix = await work.complete('fix', passingOutcome(1));
      await work.complete('deliver', outcomeOf());
      const { fence } = await work.think();
      const outputs = [{ kind: 'response', value: 'Done' }];
      const base = { summary: 'All is well', outputs, residualRisks: [] };
      const without = await work.write((ctx) => completeItem(ctx, fence, { ...base, criteria: [] }));
      assert.ok(!without.applied && without.reason === 'refused');
      assert.deepEqual(
        without.violations.map((violation) => violation.rule),
        ['criterion_missing'],
      );
      const criteria = [{ id: 'c1', evidenceRunIds: [fix.run.id] }];
      assertApplied(await work.write((ctx) => completeItem(ctx, fence, { ...base, criteria })));
      assert.equal((await work.look(itemId)).item.status, 'done');
    },
  },
  {
    name: 'a Run that failed is no evidence for a criterion, whatever it says of itself; nor is one of another item',
    async run(work) {
      const other = await work.planned([add('deliver', { kind: 'deliver' })]);
      const foreign = await work.complete('deliver', passingOutcome(1));
      assert.equal((await work.look(other)).item.status, 'done');
      await work.planned([add('look', { checkpoint: true })], { acceptanceCriteria: ['one'] });
      const { fence: run } = await work.claim('look');
      const reason = { code: 'tool', message: 'Broken' };
      await work.end(run, { status: 'failed', reason, outcome: passingOutcome(1) });
      const failed = await work.think();
      assertApplied(
        await work.write((ctx) =>
          applyPlan(ctx, failed.fence, {
            mutations: [{ op: 'close', id: 'look', reason: 'In vain' }, add('again', { checkpoint: true })],
          }),
        ),
      );
      await work.complete('again', outcomeOf());
      const { fence } = await work.think();
      const outputs = [{ kind: 'response', value: 'Done' }];
      for (const evidence of [run.runId, foreign.run.id]) {
        const criteria = [{ id: 'c1', evidenceRunIds: [evidence] }];
        const decision = { summary: 'All is well', outputs, residualRisks: [], criteria };
        const result = await work.write((ctx) => completeItem(ctx, fence, decision));
        assert.ok(!result.applied && result.reason === 'refused');
        assert.deepEqual(
          result.violations.map(({ rule }) => rule),
          ['evidence_unknown'],
        );
      }
    },
  },
  {
    name: 'completion is refused while an Action is unfinished or a message waits',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'First', clientMessageId: 'm1' }));
      const { fence } = await work.think();
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'Second', clientMessageId: 'm2' }));
      const outputs = [{ kind: 'response', value: 'Done' }];
      const decision = { summary: 'All is well', outputs, residualRisks: [], criteria: [] };
      const result = await work.write((ctx) => completeItem(ctx, fence, decision));
      assert.ok(!result.applied && result.reason === 'refused');
      const rules = new Set(result.violations.map((violation) => violation.rule));
      assert.deepEqual(rules, new Set(['unfinished_action', 'pending_message']));
    },
  },
  {
    name: 'a question of the Coordinator makes the item wait until it is answered, once',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const { fence } = await work.think();
      assertApplied(await work.write((ctx) => askHuman(ctx, fence, { question: 'Which file?' })));
      const asked = await work.look(itemId);
      assert.equal(asked.item.status, 'waiting');
      assert.equal(asked.item.attention?.command, `stint answer ${itemId} "your answer"`);
      const questionId = asked.openQuestions[0]?.id ?? '';
      const answer = { itemId, questionId, text: 'a.js', clientMessageId: 'answer-1' };
      assert.equal((await work.write((ctx) => answerQuestion(ctx, answer))).applied, true);
      assert.deepEqual(await work.write((ctx) => answerQuestion(ctx, answer)), { applied: true, duplicate: true });
      const other = { ...answer, clientMessageId: 'answer-2' };
      await assert.rejects(
        work.write((ctx) => answerQuestion(ctx, other)),
        { code: 'question_closed' },
      );
      const answered = await work.look(itemId);
      assert.deepEqual(
        answered.openMailbox.map((entry) => entry.kind),
        ['message'],
      );
      assert.equal(answered.openQuestions.length, 0);
    },
  },
  {
    name: 'a message answers what the Coordinator asked, and leaves the question of an Action open',
    async run(work) {
      const itemId = await work.planned([add('a'), add('end', { kind: 'deliver', dependencies: ['a'] })]);
      const { fence: run } = await work.claim('a');
      await work.end(run, { status: 'waiting', question: 'Which one?' });
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'How is it?', clientMessageId: 'm1' }));
      const { fence } = await work.think();
      assertApplied(await work.write((ctx) => askHuman(ctx, fence, { question: 'Go on?' })));
      assert.equal((await work.look(itemId)).openQuestions.length, 2);
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'Yes', clientMessageId: 'm2' }));
      const { openQuestions } = await work.look(itemId);
      assert.deepEqual(
        openQuestions.map((question) => question.text),
        ['Which one?'],
      );
    },
  },
  {
    name: 'case Y52: cancel ends all that is unfinished, raises epochs and supersedes inputs',
    async run(work) {
      const itemId = await work.planned([
        add('broken'),
        add('running'),
        add('last', { kind: 'deliver', dependencies: ['broken', 'running'] }),
      ]);
      const broken = await work.claim('broken');
      const reason = { code: 'tool', message: 'It broke' };
      await work.end(broken.fence, { status: 'failed', reason });
      const running = await work.claim('running');
      const typed = { itemId, actionId: running.action.id, text: 'Mind this', clientMessageId: 'i1' };
      await work.write((ctx) => addInput(ctx, typed));
      assert.equal((await work.look(itemId)).openInputs.length, 1);
      assert.equal((await work.write((ctx) => cancelItem(ctx, { itemId }))).applied, true);
      const cancelled = await work.look(itemId);
      assert.equal(cancelled.openInputs.length, 0);
      assert.equal(cancelled.item.status, 'cancelled');
      assert.deepEqual(new Set(cancelled.actions.map((action) => action.status)), new Set(['cancelled']));
      for (const action of cancelled.actions) assert.equal(action.generation, 2);
      const after = cancelled.actions.find((action) => action.slug === 'running');
      assert.equal(after?.leaseEpoch, running.fence.leaseEpoch + 1);
      assert.equal(cancelled.runs.find((run) => run.id === running.run.id)?.status, 'cancelled');
      assert.equal(cancelled.openMailbox.length, 0);
      const late = await work.end(running.fence, { status: 'completed', outcome: passingOutcome(0) });
      assert.deepEqual(late, { ended: false, reason: 'stale' });
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      const { entry, fence } = await work.think();
      assert.equal(entry.kind, 'resumed');
      const again = await work.write((ctx) =>
        applyPlan(ctx, fence, { mutations: [add('broken', { kind: 'deliver' })] }),
      );
      assert.ok(!again.applied && again.reason === 'refused');
      assert.equal(again.violations[0]?.rule, 'slug_used');
      const fresh = [add('anew', { kind: 'deliver' })];
      assertApplied(await work.write((ctx) => applyPlan(ctx, fence, { mutations: fresh })));
      await work.complete('anew', passingOutcome(0));
      assert.equal((await work.look(itemId)).item.status, 'done');
    },
  },
  {
    name: 'what a person says to an item that was cancelled is refused with the command that revives it',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence, action } = await work.claim('inspect');
      await work.end(fence, { status: 'waiting', question: 'Which one?' });
      const questionId = (await work.look(itemId)).openQuestions[0]?.id ?? '';
      await work.write((ctx) => cancelItem(ctx, { itemId }));
      const said = { itemId, text: 'This one', clientMessageId: 'm1' };
      const refused = { code: 'item_finished', message: new RegExp(`stint resume ${itemId}`) };
      await assert.rejects(
        work.write((ctx) => answerQuestion(ctx, { ...said, questionId })),
        refused,
      );
      await assert.rejects(
        work.write((ctx) => addInput(ctx, { ...said, actionId: action.id })),
        refused,
      );
      await assert.rejects(
        work.write((ctx) => postMessage(ctx, said)),
        refused,
      );
      await assert.rejects(
        work.write((ctx) => retryAction(ctx, { itemId, actionId: action.id })),
        refused,
      );
      await assert.rejects(
        work.write((ctx) => pauseItem(ctx, { itemId })),
        refused,
      );
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      assert.deepEqual(await work.write((ctx) => postMessage(ctx, said)), { applied: true, duplicate: false });
    },
  },
  {
    name: 'cancel leaves the workspace held until the owner of the Run has let go',
    async run(work) {
      const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };
      const edit = [add('edit', { kind: 'deliver', workspaceMode: 'shared' })];
      const first = await work.planned(edit, place);
      const second = await work.planned(edit, place);
      const running = await work.claim('edit');
      assert.equal(running.item.id, first);
      await work.write((ctx) => cancelItem(ctx, { itemId: first }));
      assert.equal(await work.tryClaim(), null);
      assert.equal(await work.write((ctx) => releaseWorkspace(ctx, running.run.id)), true);
      assert.equal((await work.claim('edit')).item.id, second);
    },
  },
  {
    name: 'a workspace is not let go of while its Run still counts as running',
    async run(work) {
      const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };
      const edit = [add('edit', { kind: 'deliver', workspaceMode: 'shared' })];
      await work.planned(edit, place);
      await work.planned(edit, place);
      const running = await work.claim('edit');
      assert.equal(await work.write((ctx) => releaseWorkspace(ctx, running.run.id)), false);
      const hold = { workspaceKey: 'm1:/repo', runId: running.run.id, owner: 'a process that is gone' };
      assert.equal(await work.write((ctx) => recoverHold(ctx, hold)), false);
      assert.equal(await work.tryClaim(), null);
      assert.equal(await work.write((ctx) => checkRunFence(ctx, running.fence)), true);
    },
  },
  {
    name: 'a gate that passed the old contract does not complete the item while the new one waits for its decision',
    async run(work) {
      const itemId = await work.planned([add('deliver', { kind: 'deliver' })]);
      const { fence } = await work.claim('deliver');
      await work.write((ctx) => updateContract(ctx, { itemId, change: { goal: 'Make it pass on Windows too' } }));
      const thinking = await work.think();
      assert.equal(thinking.entry.kind, 'contract_changed');
      const trouble = { code: 'provider', message: 'The key was refused', retryAt: null };
      await work.write((ctx) => failCoordinatorTurn(ctx, thinking.fence, trouble));
      await work.end(fence, { status: 'completed', outcome: passingOutcome(0) });
      const { item, openMailbox } = await work.look(itemId);
      assert.equal(item.finalResult, null);
      assert.deepEqual([item.claimsHeld, openMailbox.map(({ kind }) => kind)], [true, ['plan_used_up']]);
    },
  },
  {
    name: 'a mailbox entry counts its failed turns, so that the next wait can grow with them',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const later = { code: 'provider', message: '429', retryAt: work.clock.now };
      for (const failures of [0, 1, 2]) {
        const { entry, fence } = await work.think();
        assert.equal(entry.failures, failures);
        await work.write((ctx) => failCoordinatorTurn(ctx, fence, later));
      }
      await work.plan(threeSteps);
      await work.write((ctx) => postMessage(ctx, { itemId, text: 'And now?', clientMessageId: 'm1' }));
      assert.equal((await work.think()).entry.failures, 0);
    },
  },
  {
    name: 'case Y26: a paused item begins nothing, also what was ready before; resume lets it go on',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      await work.write((ctx) => pauseItem(ctx, { itemId }));
      const paused = (await work.look(itemId)).item;
      assert.equal(paused.status, 'needs_attention');
      assert.equal(paused.attention?.code, 'paused');
      assert.equal(await work.tryClaim(), null);
      assert.equal(await work.tryThink(), null);
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      assert.equal((await work.think()).entry.kind, 'resumed');
      await work.claim('inspect');
    },
  },
  {
    name: 'two resumes before anyone answers are one wake-up',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      await work.write((ctx) => wakeItem(ctx, { itemId, sourceKey: 'ledger-entry-1' }));
      assert.equal(await work.write((ctx) => wakeItem(ctx, { itemId, sourceKey: 'ledger-entry-1' })), false);
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      assert.equal((await work.look(itemId)).openMailbox.length, 1);
    },
  },
  {
    name: 'a changed contract holds claims until a decision has taken it up',
    async run(work) {
      const itemId = await work.planned(threeSteps, { acceptanceCriteria: ['one', 'two'] });
      const change = { acceptanceCriteria: ['two', 'three'] };
      const command = { itemId, expectedRevision: 1, change };
      assert.equal((await work.write((ctx) => updateContract(ctx, command))).applied, true);
      const stale = await work.write((ctx) => updateContract(ctx, command));
      assert.ok(!stale.applied);
      assert.equal(stale.current.revision, 2);
      const { item } = await work.look(itemId);
      assert.deepEqual(item.acceptanceCriteria, [
        { id: 'c2', text: 'two' },
        { id: 'c3', text: 'three' },
      ]);
      assert.equal(await work.tryClaim(), null);
      await work.plan([]);
      await work.claim('inspect');
    },
  },
  {
    name: 'the directory is not changed while a Run is at work in it; the rest of the contract may be',
    async run(work) {
      const itemId = await work.planned(threeSteps, { workDir: '/repo', workspaceKey: 'm1:/repo' });
      const { fence } = await work.claim('inspect');
      const elsewhere = { workDir: '/other', workspaceKey: 'm1:/other' };
      const change = () => work.write((ctx) => updateContract(ctx, { itemId, change: elsewhere }));
      await assert.rejects(change(), { code: 'workspace_in_use' });
      await work.write((ctx) => updateContract(ctx, { itemId, change: { goal: 'Another goal' } }));
      await work.end(fence, { status: 'completed', outcome: outcomeOf() });
      assert.equal((await change()).applied, true);
      assert.equal((await work.look(itemId)).item.workspaceKey, 'm1:/other');
    },
  },
  {
    name: 'an item that is done stays done: no resume, message, cancel or change of its contract moves it',
    async run(work) {
      const itemId = await work.planned([add('deliver', { kind: 'deliver' })]);
      await work.complete('deliver', passingOutcome(0));
      const before = await work.look(itemId);
      assert.equal(before.item.status, 'done');
      const finished = { code: 'item_finished' };
      await assert.rejects(
        work.write((ctx) => resumeItem(ctx, { itemId })),
        finished,
      );
      await assert.rejects(
        work.write((ctx) => cancelItem(ctx, { itemId })),
        finished,
      );
      await assert.rejects(
        work.write((ctx) => pauseItem(ctx, { itemId })),
        finished,
      );
      await assert.rejects(
        work.write((ctx) => updateContract(ctx, { itemId, change: { goal: 'More' } })),
        finished,
      );
      const message = { itemId, text: 'More, please', clientMessageId: 'm1' };
      await assert.rejects(
        work.write((ctx) => postMessage(ctx, message)),
        finished,
      );
      assert.equal(await work.write((ctx) => wakeItem(ctx, { itemId, sourceKey: 'ledger-entry-1' })), false);
      assert.deepEqual(await work.look(itemId), before);
    },
  },
  {
    name: 'a failed Coordinator turn is tried again at its time, or a person is asked',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const first = await work.think();
      const later = { code: 'provider', message: '429', retryAt: work.clock.now + 5_000 };
      assert.equal(await work.write((ctx) => failCoordinatorTurn(ctx, first.fence, later)), true);
      assert.equal(await work.tryThink(), null);
      work.clock.now += 5_000;
      const second = await work.think();
      const final = { code: 'provider', message: 'The key was refused', retryAt: null };
      await work.write((ctx) => failCoordinatorTurn(ctx, second.fence, final));
      const { item } = await work.look(itemId);
      assert.equal(item.status, 'needs_attention');
      assert.deepEqual(item.attention, {
        code: 'provider',
        message: 'The key was refused',
        command: `stint resume ${itemId}`,
        ref: null,
      });
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      assert.equal((await work.look(itemId)).item.coordinatorTrouble, null);
      await work.plan(threeSteps);
    },
  },
  {
    name: 'a resume takes up at once what was put off',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const { fence } = await work.think();
      const later = { code: 'provider', message: '429', retryAt: work.clock.now + 60_000 };
      await work.write((ctx) => failCoordinatorTurn(ctx, fence, later));
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      assert.equal((await work.think()).entry.kind, 'started');
    },
  },
  {
    name: 'a failed Action wakes the Coordinator, and a person may retry it before that',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const { fence, action } = await work.claim('inspect');
      await work.end(fence, { status: 'failed', reason: { code: 'tool', message: 'No such file' } });
      const failed = await work.look(itemId);
      assert.deepEqual(
        failed.openMailbox.map((entry) => entry.kind),
        ['action_settled'],
      );
      await work.write((ctx) => retryAction(ctx, { itemId, actionId: action.id }));
      const retried = await work.look(itemId);
      assert.equal(retried.openMailbox.length, 0);
      const again = await work.claim('inspect');
      assert.equal(again.run.generation, 2);
      assert.equal(again.run.attempt, 1);
      assert.equal(again.run.resumesRunId, null);
    },
  },
  {
    name: 'a checkpoint wakes the Coordinator when it settles, and the plan goes on from there',
    async run(work) {
      const itemId = await work.planned([add('research', { checkpoint: true })]);
      await work.complete('research');
      const { fence, entry } = await work.think();
      assert.equal(entry.kind, 'action_settled');
      const rest = [add('deliver', { kind: 'deliver', dependencies: ['research'] })];
      assertApplied(await work.write((ctx) => applyPlan(ctx, fence, { mutations: rest })));
      await work.complete('deliver', passingOutcome(0));
      assert.equal((await work.look(itemId)).item.status, 'done');
    },
  },
  {
    name: 'case Y61: events of an item are numbered without gaps, those of the board over all items',
    async run(work) {
      const first = await work.planned(threeSteps);
      const second = await work.planned(threeSteps);
      await work.complete('inspect');
      const events = await work.read((ctx) => readEvents(ctx, { itemId: first, since: 0 }));
      assert.deepEqual(
        events.map((event) => event.seq),
        events.map((_, index) => index + 1),
      );
      assert.equal((await work.look(first)).item.lastEventSeq, events.length);
      assert.deepEqual(await work.read((ctx) => readBoardEvents(ctx, { since: 0 })), []);
      let numbered = 0;
      while (await work.read(hasFreshEvents)) numbered += await work.write((ctx) => numberEvents(ctx, { limit: 3 }));
      assert.equal(await work.write((ctx) => numberEvents(ctx)), 0);
      const board = await work.read((ctx) => readBoardEvents(ctx, { since: 0 }));
      assert.equal(board.length, numbered);
      assert.deepEqual(
        board.filter((event) => event.itemId === first).map((event) => event.seq),
        events.map((event) => event.seq),
      );
      assert.deepEqual(
        board.map((event) => event.boardSeq),
        board.map((_, index) => index + 1),
      );
      assert.deepEqual(new Set(board.map((event) => event.itemId)), new Set([first, second]));
      const rest = await work.read((ctx) => readEvents(ctx, { itemId: first, since: 9 }));
      assert.equal(rest[0]?.seq, 10);
    },
  },
];
