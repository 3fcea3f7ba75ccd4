import assert from 'node:assert/strict';
import { retryAction } from './action-commands.js';
import { beginCoordinatorTurn, failCoordinatorTurn } from './coordinator-turns.js';
import { checkCoordinatorFence, checkRunFence } from './fences.js';
import { acknowledgeInputs, addInput, bindInputs, pendingInputs } from './inputs.js';
import { cancelItem, resumeItem } from './item-commands.js';
import { findDeadClaims, recoverClaim, resolveCoordinatorTurn } from './recover-claims.js';
import { findDeadRuns, type RecoverRunFacts, recoverRun } from './recover-runs.js';
import { findDeadHolds, recoverHold } from './workspace-holds.js';
import { applyPlan } from './decisions.js';
import { add, assertApplied, outcomeOf, threeSteps, type Work, type WorkCase } from './testing-harness.js';

const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };

/** Recovers every dead Run; answers how many there were. */
async function recoverDeadRuns(work: Work, facts: RecoverRunFacts = { unresolved: [] }): Promise<number> {
  await work.db.endDeadProcesses();
  const dead = await work.read((ctx) => findDeadRuns(ctx));
  for (const run of dead) assert.equal(await work.write((ctx) => recoverRun(ctx, run, facts)), true);
  return dead.length;
}

export const recoveryCases: readonly WorkCase[] = [
  {
    name: 'case C17: the Run of a dead process is interrupted and its Action goes on from the journal',
    async run(work) {
      const itemId = await work.planned(
        [add('edit', { workspaceMode: 'shared' }), add('end', { kind: 'deliver', dependencies: ['edit'] })],
        place,
      );
      const dying = await work.otherProcess();
      const first = await dying.claim('edit');
      assert.equal(await recoverDeadRuns(work), 0);
      await dying.db.close();
      assert.equal(await recoverDeadRuns(work), 1);
      assert.equal(await recoverDeadRuns(work), 0);
      const { runs, holds } = await work.look(itemId);
      assert.equal(runs[0]?.status, 'interrupted');
      assert.equal(holds.length, 0);
      const second = await work.claim('edit');
      assert.deepEqual([second.run.attempt, second.run.resumesRunId], [2, first.run.id]);
    },
  },
  {
    name: 'case C01: a process that slept past its lease can write nothing after another took over',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const sleeper = await work.otherProcess();
      const first = await sleeper.claim('inspect');
      await sleeper.db.close();
      await recoverDeadRuns(work);
      const second = await work.claim('inspect');
      const typed = { itemId, actionId: second.action.id, text: 'Mind this', clientMessageId: 'i1' };
      await work.write((ctx) => addInput(ctx, typed));
      assert.deepEqual(await work.write((ctx) => pendingInputs(ctx, first.fence)), []);
      const inputIds = (await work.write((ctx) => pendingInputs(ctx, second.fence))).map(({ id }) => id);
      await work.write((ctx) => bindInputs(ctx, second.fence, { turnId: 't', inputIds }));
      await work.write((ctx) => acknowledgeInputs(ctx, 't'));
      await work.end(second.fence, { status: 'completed', outcome: outcomeOf({ summary: 'By B' }) });
      assert.equal(await work.write((ctx) => checkRunFence(ctx, first.fence)), false);
      const late = await work.end(first.fence, { status: 'completed', outcome: outcomeOf({ summary: 'By A' }) });
      assert.deepEqual(late, { ended: false, reason: 'stale' });
      assert.equal((await work.action(itemId, 'inspect')).outcome?.summary, 'By B');
    },
  },
  {
    name: 'case C19: recovery leaves the Run of a living process alone',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const other = await work.otherProcess();
      const { run, action } = await other.claim('inspect');
      const claimed = { itemId, actionId: action.id, runId: run.id, owner: run.owner };
      assert.equal(await work.write((ctx) => recoverRun(ctx, claimed, { unresolved: [] })), false);
      assert.equal((await work.action(itemId, 'inspect')).status, 'running');
    },
  },
  {
    name: 'recovery of a Run that is no longer current changes nothing',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const dying = await work.otherProcess();
      const { run, action } = await dying.claim('inspect');
      const dead = { itemId, actionId: action.id, runId: run.id, owner: run.owner };
      await dying.db.close();
      await recoverDeadRuns(work);
      const next = await work.claim('inspect');
      assert.equal(await work.write((ctx) => recoverRun(ctx, dead, { unresolved: [] })), false);
      assert.equal(await work.write((ctx) => checkRunFence(ctx, next.fence)), true);
    },
  },
  {
    name: 'recovery of a Run in the name of a process that does not own it changes nothing',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const gone = await work.otherProcess();
      await gone.write((ctx) =>
        addInput(ctx, { itemId, actionId: `${itemId}/inspect`, text: 'x', clientMessageId: 'i' }),
      );
      const owner = gone.db.owner;
      await gone.db.close();
      const { run, action, fence } = await work.claim('inspect');
      const mistaken = { itemId, actionId: action.id, runId: run.id, owner };
      assert.equal(await work.write((ctx) => recoverRun(ctx, mistaken, { unresolved: [] })), false);
      assert.equal(await work.write((ctx) => checkRunFence(ctx, fence)), true);
    },
  },
  {
    name: 'a claim that was recovered, and one that was made anew, begin no turn in the name of the old one',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const dying = await work.otherProcess();
      const old = (await dying.claimMessage()) ?? assert.fail('nothing to claim');
      await dying.db.close();
      const [claim] = await work.read((ctx) => findDeadClaims(ctx));
      assert.ok(claim);
      assert.equal(claim.coordinatorTurnId, null);
      assert.equal(await work.write((ctx) => recoverClaim(ctx, claim)), true);
      assert.equal(await work.write((ctx) => beginCoordinatorTurn(ctx, old)), null);
      const anew = (await work.claimMessage()) ?? assert.fail('nothing to claim');
      assert.equal(await work.write((ctx) => beginCoordinatorTurn(ctx, old)), null);
      assert.notEqual(await work.write((ctx) => beginCoordinatorTurn(ctx, anew)), null);
    },
  },
  {
    name: 'unknown effects of an interrupted Run wait for a person',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const dying = await work.otherProcess();
      await dying.claim('inspect');
      await dying.db.close();
      await recoverDeadRuns(work, { unresolved: [{ kind: 'operation', id: 'op-7' }] });
      const { item } = await work.look(itemId);
      assert.equal(item.attention?.code, 'unknown_operation');
      assert.equal(item.attention.command, 'stint resolve op-7 --applied');
      assert.equal(await work.tryClaim(), null);
    },
  },
  {
    name: 'an unknown request of a Run asks a person, unless the item says that it is sent again',
    async run(work) {
      const asking = await work.planned(threeSteps);
      const retrying = await work.planned(threeSteps, { onUnknownRequest: 'retry' });
      const dying = await work.otherProcess();
      await dying.claim('inspect');
      await dying.claim('inspect');
      await dying.db.close();
      await recoverDeadRuns(work, { unresolved: [{ kind: 'turn', id: 'turn-3' }] });
      assert.equal((await work.look(asking)).item.attention?.command, 'stint resolve turn-3 --retry');
      assert.equal((await work.look(retrying)).item.status, 'ready');
    },
  },
  {
    name: 'an interrupted delivery of files or an answer goes on unaided',
    async run(work) {
      for (const deliveryTarget of ['response', 'workspace_files'] as const) {
        await work.planned([add('deliver', { kind: 'deliver' })], { deliveryTarget });
        const dying = await work.otherProcess();
        const first = await dying.claim('deliver');
        await dying.db.close();
        await recoverDeadRuns(work);
        assert.equal((await work.claim('deliver')).run.resumesRunId, first.run.id);
      }
    },
  },
  {
    name: 'an interrupted merge waits until a person lets it go on',
    async run(work) {
      const itemId = await work.planned([add('deliver', { kind: 'deliver' })], { deliveryTarget: 'merge' });
      const dying = await work.otherProcess();
      const first = await dying.claim('deliver');
      await dying.db.close();
      await recoverDeadRuns(work);
      const { item } = await work.look(itemId);
      assert.equal(item.attention?.command, `stint retry ${first.action.id}`);
      await work.write((ctx) => retryAction(ctx, { itemId, actionId: first.action.id }));
      assert.equal((await work.claim('deliver')).run.resumesRunId, first.run.id);
    },
  },
  {
    name: 'case Y38: an Action whose last attempt was interrupted fails and wakes the Coordinator',
    async run(work) {
      const itemId = await work.planned(threeSteps, { maxAttempts: 1 });
      const dying = await work.otherProcess();
      await dying.claim('inspect');
      await dying.db.close();
      await recoverDeadRuns(work);
      const { openMailbox } = await work.look(itemId);
      assert.equal((await work.action(itemId, 'inspect')).attention?.code, 'exhausted');
      assert.deepEqual(
        openMailbox.map((entry) => entry.kind),
        ['action_settled'],
      );
    },
  },
  {
    name: 'an input that a dead Run had bound is pending again',
    async run(work) {
      const itemId = await work.planned(threeSteps);
      const dying = await work.otherProcess();
      const { fence, action } = await dying.claim('inspect');
      await work.write((ctx) =>
        addInput(ctx, { itemId, actionId: action.id, text: 'Mind this', clientMessageId: 'i' }),
      );
      const inputIds = (await dying.write((ctx) => pendingInputs(ctx, fence))).map(({ id }) => id);
      await dying.write((ctx) => bindInputs(ctx, fence, { turnId: 't', inputIds }));
      await dying.db.close();
      await recoverDeadRuns(work);
      assert.deepEqual(
        (await work.claim('inspect')).pendingInputs.map(({ id }) => id),
        inputIds,
      );
    },
  },
  {
    name: 'case Y41: the claim of a dead process is given back once, and its late decision is refused',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const dying = await work.otherProcess();
      const late = await dying.think();
      assert.equal((await work.read((ctx) => findDeadClaims(ctx))).length, 0);
      await dying.db.close();
      const [claim] = await work.read((ctx) => findDeadClaims(ctx));
      assert.ok(claim);
      assert.equal(claim.coordinatorTurnId, late.turn.id);
      assert.equal(await work.write((ctx) => recoverClaim(ctx, claim)), true);
      assert.equal(await work.write((ctx) => recoverClaim(ctx, claim)), false);
      const again = await work.think();
      assert.equal(again.entry.id, late.entry.id);
      assert.equal(await work.write((ctx) => checkCoordinatorFence(ctx, late.fence)), false);
      const refused = await work.write((ctx) => applyPlan(ctx, late.fence, { mutations: threeSteps }));
      assert.equal(refused.applied, false);
      assertApplied(await work.write((ctx) => applyPlan(ctx, again.fence, { mutations: threeSteps })));
      assert.equal((await work.look(itemId)).actions.length, 3);
    },
  },
  {
    name: 'recovery leaves the claim of a living process, and a claim that was made anew, alone',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const other = await work.otherProcess();
      const first = await other.think();
      const { itemId: of, mailboxId, claimEpoch, owner } = first.fence;
      const claim = { itemId: of, mailboxId, claimEpoch, owner, coordinatorTurnId: first.turn.id };
      assert.equal(await work.write((ctx) => recoverClaim(ctx, claim)), false);
      const failure = { code: 'provider', message: '429', retryAt: work.clock.now };
      await other.write((ctx) => failCoordinatorTurn(ctx, first.fence, failure));
      const second = await other.think();
      assert.equal(second.fence.owner, owner);
      await other.db.close();
      assert.equal(await work.write((ctx) => recoverClaim(ctx, claim)), false);
      assert.equal((await work.look(itemId)).thinkingTurn?.id, second.turn.id);
      const current = { ...claim, claimEpoch: second.fence.claimEpoch };
      assert.equal(await work.write((ctx) => recoverClaim(ctx, current)), true);
    },
  },
  {
    name: 'case C03: a trigger over which process after process dies is set aside, and a person is asked',
    async run(work) {
      const itemId = await work.create({ onUnknownRequest: 'retry' });
      await work.start(itemId);
      for (let death = 1; death <= 5; death += 1) {
        const dying = await work.otherProcess();
        await dying.think();
        await dying.db.close();
        const [claim] = await work.read((ctx) => findDeadClaims(ctx));
        assert.ok(claim);
        await work.write((ctx) => recoverClaim(ctx, { ...claim, unknownTurnId: `turn-${death}` }));
        const { item } = await work.look(itemId);
        assert.equal(item.status, death < 5 ? 'ready' : 'needs_attention');
      }
      assert.equal(await work.tryThink(), null);
      await work.write((ctx) => resumeItem(ctx, { itemId }));
      assert.equal((await work.think()).entry.kind, 'resumed');
    },
  },
  {
    name: 'an unknown request of the Coordinator asks a person, and its trigger comes back when it is resolved',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const dying = await work.otherProcess();
      const { turn } = await dying.think();
      await dying.db.close();
      const [claim] = await work.read((ctx) => findDeadClaims(ctx));
      assert.ok(claim);
      await work.write((ctx) => recoverClaim(ctx, { ...claim, unknownTurnId: 'turn-9' }));
      const { item } = await work.look(itemId);
      assert.equal(item.attention?.command, 'stint resolve turn-9 --retry');
      const resolution = { itemId, coordinatorTurnId: turn.id, turnId: 'turn-9' };
      assert.equal(await work.write((ctx) => resolveCoordinatorTurn(ctx, resolution)), true);
      assert.equal(await work.write((ctx) => resolveCoordinatorTurn(ctx, resolution)), false);
      const { entry } = await work.think();
      assert.equal(entry.kind, 'recovery');
      assert.equal(entry.payload['trigger'], 'started');
    },
  },
  {
    name: 'a request of the Coordinator that is resolved after the item was cancelled wakes nobody',
    async run(work) {
      const itemId = await work.create();
      await work.start(itemId);
      const { turn } = await work.think();
      await work.write((ctx) => cancelItem(ctx, { itemId }));
      const resolution = { itemId, coordinatorTurnId: turn.id, turnId: 'turn-9' };
      assert.equal(await work.write((ctx) => resolveCoordinatorTurn(ctx, resolution)), false);
      assert.equal((await work.look(itemId)).openMailbox.length, 0);
    },
  },
  {
    name: 'the workspace of a cancelled Run whose owner died is freed by recovery',
    async run(work) {
      const edit = [add('edit', { kind: 'deliver', workspaceMode: 'shared' })];
      const itemId = await work.planned(edit, place);
      const dying = await work.otherProcess();
      const { run } = await dying.claim('edit');
      await work.write((ctx) => cancelItem(ctx, { itemId }));
      assert.deepEqual(await work.read((ctx) => findDeadHolds(ctx)), []);
      const held = { workspaceKey: place.workspaceKey, runId: run.id, owner: run.owner };
      assert.equal(await work.write((ctx) => recoverHold(ctx, held)), false);
      await dying.db.close();
      const [hold] = await work.read((ctx) => findDeadHolds(ctx));
      assert.ok(hold);
      assert.equal(await work.write((ctx) => recoverHold(ctx, hold)), true);
      await work.planned(edit, place);
      await work.claim('edit');
    },
  },
];
