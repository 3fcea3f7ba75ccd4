import { randomInt } from 'node:crypto';
import { type Body, type Database, one } from '@stint/storage';
import { freshPostgres, interleave, type Interleaving, schedules, type Side } from '@stint/storage/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { answerQuestion } from './answer-question.js';
import { claimAction } from './claim-action.js';
import { beginCoordinatorTurn, failCoordinatorTurn } from './coordinator-turns.js';
import { completeItem } from './decisions.js';
import { endRun, type RunEnding } from './end-run.js';
import { lastBoardSeq, numberEvents, readBoardEvents } from './events.js';
import { addInput } from './inputs.js';
import { cancelItem, pauseItem } from './item-commands.js';
import { lockItem } from './lock.js';
import { claimMailbox } from './mailbox.js';
import { postMessage } from './messages.js';
import { findDeadRuns, recoverRun } from './recover-runs.js';
import { add, outcomeOf, passingOutcome, threeSteps, Work } from './testing-harness.js';
import { seededRandom } from './testing-simulation.js';
import { updateContract } from './update-contract.js';

const seed = randomInt(2 ** 31);
const random = seededRandom(seed);
const schedulesPerPair = 4;
const longestBody = 24;

let store: Awaited<ReturnType<typeof freshPostgres>>;
let work: Work;

beforeAll(async () => {
  store = await freshPostgres(inject('pgUrl'));
  work = await Work.open(store);
});
afterAll(() => store.remove());

interface Pair {
  readonly first: Body<unknown>;
  readonly second: Body<unknown>;
  /** Looks at what the two did together. */
  readonly check: (result: Interleaving<unknown, unknown>) => Promise<void>;
}

/** Runs the pair in random orders of their statements, each time on records of its own. */
async function inAllOrders(prepare: () => Promise<Pair>): Promise<void> {
  for (const schedule of schedules(longestBody, longestBody, schedulesPerPair, random)) {
    const { first, second, check } = await prepare();
    const clock = () => work.clock.now;
    const owners = { first: ownerOf(work.db), second: ownerOf(work.db) };
    const result = await interleave({ url: store.location, first, second, schedule, clock, owners });
    try {
      await check(result);
    } catch (error) {
      throw new Error(`seed ${seed}, in this order:\n${result.trace.join('\n')}`, { cause: error });
    }
  }
}

/** Runs the pair in one order of their statements. */
function inOrder(schedule: readonly Side[], first: Body<unknown>, second: Body<unknown>) {
  const owners = { first: ownerOf(work.db), second: ownerOf(work.db) };
  return interleave({ url: store.location, first, second, schedule, clock: () => work.clock.now, owners });
}

/** A claim has looked for its candidates (begin, count, select), then the other commits, then the claim goes on. */
const otherCommitsAfterTheLook: readonly Side[] = [
  ...Array.from({ length: 3 }, () => 'first' as const),
  ...Array.from({ length: longestBody }, () => 'second' as const),
];

const ownerOf = (db: Database): string => db.owner;

const values = ({ first, second }: Interleaving<unknown, unknown>): unknown[] =>
  [first, second].map((side) => (side.status === 'committed' ? side.value : side.error));

const completed: RunEnding = { status: 'completed', outcome: outcomeOf() };

describe('two transactions at once, in any order of their statements', () => {
  it('claim one Action once', () =>
    inAllOrders(async () => {
      const itemId = await work.planned(threeSteps);
      const claim: Body<unknown> = (ctx) => claimAction(ctx, { itemIds: [itemId], maxConcurrentActions: 12 });
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result).filter((value) => value !== null)).toHaveLength(1);
        expect((await work.look(itemId)).runs).toHaveLength(1);
        await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return { first: claim, second: claim, check };
    }));

  it('give one workspace to one of two items', () =>
    inAllOrders(async () => {
      const name = `/repo-${random()}`;
      const place = { workDir: name, workspaceKey: `m1:${name}` };
      const edit = [add('edit', { kind: 'deliver', workspaceMode: 'shared' })];
      const items = [await work.planned(edit, place), await work.planned(edit, place)];
      const claim = (index: number): Body<unknown> => {
        const itemIds = items.slice(index, index + 1);
        return (ctx) => claimAction(ctx, { itemIds, maxConcurrentActions: 12 });
      };
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result).filter((value) => value !== null)).toHaveLength(1);
        for (const itemId of items) await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return { first: claim(0), second: claim(1), check };
    }));

  it('claim one mailbox entry once', () =>
    inAllOrders(async () => {
      const itemId = await work.create();
      await work.start(itemId);
      const claim: Body<unknown> = (ctx) => claimMailbox(ctx, { itemIds: [itemId] });
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result).filter((value) => value !== null)).toHaveLength(1);
      };
      return { first: claim, second: claim, check };
    }));

  it('end two dependencies, and what waited for both is ready', () =>
    inAllOrders(async () => {
      const itemId = await work.planned([
        add('a'),
        add('b'),
        add('end', { kind: 'deliver', dependencies: ['a', 'b'] }),
      ]);
      const [a, b] = [await work.claim('a', { itemIds: [itemId] }), await work.claim('b', { itemIds: [itemId] })];
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result)).toMatchObject([{ ended: true }, { ended: true }]);
        const { actions, item } = await work.look(itemId);
        expect(actions.map((action) => action.status)).toEqual(['completed', 'completed', 'ready']);
        expect(item.resultsRevision).toBe(2);
        await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return {
        first: (ctx) => endRun(ctx, a.fence, completed),
        second: (ctx) => endRun(ctx, b.fence, completed),
        check,
      };
    }));

  it('end a Run or cancel its item, and nothing is left open', () =>
    inAllOrders(async () => {
      const itemId = await work.planned(threeSteps);
      const { fence } = await work.claim('inspect', { itemIds: [itemId] });
      const check = async (result: Interleaving<unknown, unknown>) => {
        const [ended] = values(result) as [{ ended: boolean }];
        const { item, runs } = await work.look(itemId);
        expect(item.status).toBe('cancelled');
        expect(runs.map((run) => run.status)).toEqual([ended.ended ? 'completed' : 'cancelled']);
      };
      return {
        first: (ctx) => endRun(ctx, fence, completed),
        second: (ctx) => cancelItem(ctx, { itemId }),
        check,
      };
    }));

  it('end a Run, or recover it when its owner is taken for dead: one of the two', () =>
    inAllOrders(async () => {
      const itemId = await work.planned(threeSteps);
      const sleeper = await work.otherProcess();
      const { fence } = await sleeper.claim('inspect', { itemIds: [itemId] });
      await sleeper.db.close();
      const dead = (await work.read((ctx) => findDeadRuns(ctx))).find((run) => run.runId === fence.runId);
      const check = async (result: Interleaving<unknown, unknown>) => {
        const [ended, recovered] = values(result) as [{ ended: boolean }, boolean];
        expect(ended.ended).toBe(!recovered);
        const { runs } = await work.look(itemId);
        expect(runs.map((run) => run.status)).toEqual([recovered ? 'interrupted' : 'completed']);
        await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return {
        first: (ctx) => endRun(ctx, fence, completed),
        second: (ctx) => recoverRun(ctx, dead ?? expect.fail(), { unresolved: [] }),
        check,
      };
    }));

  it('say one message once', () =>
    inAllOrders(async () => {
      const itemId = await work.create();
      const say: Body<unknown> = (ctx) => postMessage(ctx, { itemId, text: 'Hello', clientMessageId: 'm1' });
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(new Set(values(result))).toEqual(
          new Set([
            { applied: true, duplicate: false },
            { applied: true, duplicate: true },
          ]),
        );
        expect((await work.look(itemId)).messages).toHaveLength(1);
      };
      return { first: say, second: say, check };
    }));

  it('answer one question once', () =>
    inAllOrders(async () => {
      const itemId = await work.planned(threeSteps);
      const { fence, action } = await work.claim('inspect', { itemIds: [itemId] });
      await work.end(fence, { status: 'waiting', question: 'Which?' });
      const questionId = (await work.look(itemId)).openQuestions[0]?.id ?? '';
      const answer = (text: string): Body<unknown> => {
        return (ctx) => answerQuestion(ctx, { itemId, questionId, text, clientMessageId: text });
      };
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result)).toContainEqual({ applied: true, duplicate: false });
        expect(values(result)).toContainEqual(expect.objectContaining({ code: 'question_closed' }));
        const { openInputs } = await work.look(itemId);
        expect(openInputs.filter((input) => input.actionId === action.id)).toHaveLength(1);
        await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return { first: answer('a.js'), second: answer('b.js'), check };
    }));

  it('complete an item while a person speaks: the message is answered or refused, never lost', () =>
    inAllOrders(async () => {
      const itemId = await work.planned([add('look', { checkpoint: true })]);
      const { fence: run } = await work.claim('look', { itemIds: [itemId] });
      await work.end(run, completed);
      const { fence } = await work.think();
      expect(fence.itemId).toBe(itemId);
      const outputs = [{ kind: 'response', value: 'Done' }];
      const decision = { summary: 'All is well', criteria: [], outputs, residualRisks: [] };
      const check = async (result: Interleaving<unknown, unknown>) => {
        const [decided, said] = values(result) as [{ applied: boolean }, { applied?: boolean; code?: string }];
        if (decided.applied) expect(said.code).toBe('item_finished');
        else expect(said.applied).toBe(true);
        const { item, openMailbox } = await work.look(itemId);
        expect(item.status === 'done').toBe(decided.applied);
        expect(openMailbox.some((entry) => entry.kind === 'message')).toBe(!decided.applied);
        if (!decided.applied) await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return {
        first: (ctx) => completeItem(ctx, fence, decision),
        second: (ctx) => postMessage(ctx, { itemId, text: 'Wait', clientMessageId: 'm1' }),
        check,
      };
    }));

  it('end the gate while a person gives it an input: the input is taken up or refused', () =>
    inAllOrders(async () => {
      const itemId = await work.planned([add('deliver', { kind: 'deliver' })]);
      const { fence, action } = await work.claim('deliver', { itemIds: [itemId] });
      const check = async (result: Interleaving<unknown, unknown>) => {
        const [ended, given] = values(result) as [{ ended: boolean; reason?: string }, { code?: string }];
        const { item, openInputs } = await work.look(itemId);
        expect(item.status).toBe(ended.ended ? 'done' : 'running');
        expect(openInputs).toHaveLength(ended.ended ? 0 : 1);
        if (ended.ended) expect(given.code).toBe('item_finished');
        else expect(ended.reason).toBe('input_pending');
        if (!ended.ended) await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return {
        first: (ctx) => endRun(ctx, fence, { status: 'completed', outcome: passingOutcome(0) }),
        second: (ctx) => addInput(ctx, { itemId, actionId: action.id, text: 'Wait', clientMessageId: 'i1' }),
        check,
      };
    }));

  it.each<readonly [string, (itemId: string) => Body<unknown>]>([
    ['a pause', (itemId) => (ctx) => pauseItem(ctx, { itemId })],
    ['a cancel', (itemId) => (ctx) => cancelItem(ctx, { itemId })],
    ['a changed contract', (itemId) => (ctx) => updateContract(ctx, { itemId, change: { goal: 'Another goal' } })],
  ])(
    '%s that comes between the look of a claim and its lock keeps the Action from beginning',
    async (_name, change) => {
      const itemId = await work.planned(threeSteps);
      const claim: Body<unknown> = (ctx) => claimAction(ctx, { itemIds: [itemId], maxConcurrentActions: 12 });
      const result = await inOrder(otherCommitsAfterTheLook, claim, change(itemId));
      expect(values(result), result.trace.join('\n')).toEqual([null, { applied: true, duplicate: false }]);
      expect((await work.look(itemId)).runs).toEqual([]);
      await work.write((ctx) => cancelItem(ctx, { itemId }));
    },
  );

  it('a claim that comes between the look of another and its lock leaves nothing for that one', async () => {
    const itemId = await work.planned(threeSteps);
    const claim: Body<unknown> = (ctx) => claimAction(ctx, { itemIds: [itemId], maxConcurrentActions: 12 });
    const result = await inOrder(otherCommitsAfterTheLook, claim, claim);
    expect(values(result), result.trace.join('\n')).toEqual([
      null,
      expect.objectContaining({ run: expect.anything() }),
    ]);
    await work.write((ctx) => cancelItem(ctx, { itemId }));
  });

  it('an Action that was claimed and put off between the look of a claim and its lock is not begun before its time', async () => {
    const itemId = await work.planned(threeSteps);
    const claim: Body<unknown> = (ctx) => claimAction(ctx, { itemIds: [itemId], maxConcurrentActions: 12 });
    const putOff: Body<unknown> = function* (ctx) {
      const claimed = yield* claimAction(ctx, { itemIds: [itemId], maxConcurrentActions: 12 });
      const reason = { code: 'provider_wait', message: 'Later' };
      const notBefore = ctx.now + 60_000;
      return yield* endRun(ctx, claimed?.fence ?? expect.fail(), { status: 'deferred', reason, notBefore });
    };
    const schedule = [...otherCommitsAfterTheLook, ...otherCommitsAfterTheLook.slice(3)];
    const result = await inOrder(schedule, claim, putOff);
    expect(values(result), result.trace.join('\n')).toMatchObject([null, { ended: true }]);
    await work.write((ctx) => cancelItem(ctx, { itemId }));
  });

  it.each<readonly [string, (itemId: string) => Body<unknown>]>([
    ['a pause', (itemId) => (ctx) => pauseItem(ctx, { itemId })],
    ['a cancel', (itemId) => (ctx) => cancelItem(ctx, { itemId })],
  ])(
    '%s that comes between the look of a claim and its lock keeps the Coordinator from thinking',
    async (_name, change) => {
      const itemId = await work.create();
      await work.start(itemId);
      const claim: Body<unknown> = (ctx) => claimMailbox(ctx, { itemIds: [itemId] });
      const result = await inOrder(otherCommitsAfterTheLook.slice(1), claim, change(itemId));
      expect(values(result)[0], result.trace.join('\n')).toBeNull();
      expect((await work.look(itemId)).openMailbox.filter((entry) => entry.status === 'claimed')).toEqual([]);
      await work.write((ctx) => cancelItem(ctx, { itemId }));
    },
  );

  it('a mailbox claim that comes between the look of another and its lock leaves nothing for that one', async () => {
    const itemId = await work.create();
    await work.start(itemId);
    const claim: Body<unknown> = (ctx) => claimMailbox(ctx, { itemIds: [itemId] });
    const result = await inOrder(otherCommitsAfterTheLook.slice(1), claim, claim);
    expect(values(result), result.trace.join('\n')).toEqual([null, expect.objectContaining({ itemId })]);
    await work.write((ctx) => cancelItem(ctx, { itemId }));
  });

  it('an entry that was answered in vain between the look of a claim and its lock is not taken up before its time', async () => {
    const itemId = await work.create();
    await work.start(itemId);
    const claim: Body<unknown> = (ctx) => claimMailbox(ctx, { itemIds: [itemId] });
    const inVain: Body<unknown> = function* (ctx) {
      const claimed = yield* claimMailbox(ctx, { itemIds: [itemId] });
      const begun = claimed && (yield* beginCoordinatorTurn(ctx, claimed));
      const failure = { code: 'provider', message: '429', retryAt: ctx.now + 60_000 };
      return yield* failCoordinatorTurn(ctx, begun?.fence ?? expect.fail(), failure);
    };
    const schedule = [...otherCommitsAfterTheLook.slice(1), ...otherCommitsAfterTheLook.slice(3)];
    const result = await inOrder(schedule, claim, inVain);
    expect(values(result), result.trace.join('\n')).toEqual([null, true]);
    await work.write((ctx) => cancelItem(ctx, { itemId }));
  });

  it('a claim passes over an item that another transaction has locked, and waits for nobody', async () => {
    const [busy, free] = [await work.planned(threeSteps), await work.planned(threeSteps)];
    const itemIds = [busy, free];
    const message = await work.create();
    await work.start(message);
    const claim: Body<unknown> = function* (ctx) {
      const claimed = yield* claimAction(ctx, { itemIds, maxConcurrentActions: 12 });
      return [claimed?.item.id, yield* claimMailbox(ctx, { itemIds: [message] })];
    };
    const hold: Body<unknown> = function* (ctx) {
      for (const itemId of [busy, message]) yield* lockItem(ctx, itemId);
      for (let step = 0; step < longestBody; step += 1) yield* one('SELECT 1 AS still');
    };
    const schedule: Side[] = ['second', 'second', 'second', ...Array.from({ length: 30 }, () => 'first' as const)];
    const result = await inOrder(schedule, claim, hold);
    expect(values(result)[0], result.trace.join('\n')).toEqual([free, null]);
    expect(result.trace).not.toContain('first: blocked');
    for (const itemId of [...itemIds, message]) await work.write((ctx) => cancelItem(ctx, { itemId }));
  });

  it('work on two items: neither waits for the other, and the board misses no event of either', () =>
    inAllOrders(async () => {
      const items = [await work.planned(threeSteps), await work.planned(threeSteps)] as const;
      const [a, b] = [
        await work.claim('inspect', { itemIds: [items[0]] }),
        await work.claim('inspect', { itemIds: [items[1]] }),
      ];
      await numberAll();
      const since = await lastNumber();
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result)).toMatchObject([{ ended: true }, { ended: true }]);
        expect(result.trace.filter((step) => step.endsWith('blocked'))).toEqual([]);
        await numberAll();
        const found = await work.read((ctx) => readBoardEvents(ctx, { since }));
        for (const itemId of items) {
          const seqs = found.filter((event) => event.itemId === itemId).map((event) => event.seq);
          const { lastEventSeq } = (await work.look(itemId)).item;
          expect(seqs).toEqual(seqs.map((_, index) => lastEventSeq - seqs.length + 1 + index));
          expect(seqs.length).toBeGreaterThan(2);
          await work.write((ctx) => cancelItem(ctx, { itemId }));
        }
      };
      return {
        first: (ctx) => endRun(ctx, a.fence, completed),
        second: (ctx) => endRun(ctx, b.fence, completed),
        check,
      };
    }));

  it('number the board while an item is worked on: no reader is ahead of an event that it has not seen', () =>
    inAllOrders(async () => {
      const itemId = await work.planned(threeSteps);
      const { fence } = await work.claim('inspect', { itemIds: [itemId] });
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(result.trace.filter((step) => step.endsWith('blocked'))).toEqual([]);
        const { lastEventSeq } = (await work.look(itemId)).item;
        const seen = await work.read((ctx) => readBoardEvents(ctx, { since: 0, limit: 100_000 }));
        await numberAll();
        const all = await work.read((ctx) => readBoardEvents(ctx, { since: 0, limit: 100_000 }));
        expect(all.slice(0, seen.length)).toEqual(seen);
        expect(all.filter((event) => event.itemId === itemId).map((event) => event.seq)).toEqual(
          Array.from({ length: lastEventSeq }, (_, index) => index + 1),
        );
        expect(new Set(all.map((event) => event.boardSeq)).size).toBe(all.length);
        await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return { first: (ctx) => endRun(ctx, fence, completed), second: (ctx) => numberEvents(ctx), check };
    }));

  it('number the board twice at once: each event gets one number', () =>
    inAllOrders(async () => {
      const itemId = await work.planned(threeSteps);
      const check = async (result: Interleaving<unknown, unknown>) => {
        expect(values(result)).toContain(0);
        const all = await work.read((ctx) => readBoardEvents(ctx, { since: 0, limit: 100_000 }));
        expect(all.map((event) => event.boardSeq)).toEqual(all.map((_, index) => index + 1));
        await work.write((ctx) => cancelItem(ctx, { itemId }));
      };
      return { first: (ctx) => numberEvents(ctx), second: (ctx) => numberEvents(ctx), check };
    }));
});

async function numberAll(): Promise<void> {
  while ((await work.write((ctx) => numberEvents(ctx))) > 0);
}

const lastNumber = (): Promise<number> => work.read((ctx) => lastBoardSeq(ctx));
