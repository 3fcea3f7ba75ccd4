import { reserveRequest } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';
import {
  addInput,
  applyPlan,
  beginCoordinatorTurn,
  type BegunTurn,
  claimAction,
  claimMailbox,
  failCoordinatorTurn,
} from '@stint/work-items';
import { expect, it } from 'vitest';
import { accountOf } from './account.js';
import type { OutcomeCollector } from './action-tools.js';
import { createRunInputs } from './run-inputs.js';
import { openBench } from './work-bench.test.helper.js';

const gate = {
  op: 'add',
  action: {
    id: 'deliver',
    kind: 'deliver',
    objective: 'Say what is asked for',
    approach: 'Think, then say it',
    expectedResult: 'One sentence that answers',
    dependencies: [],
    workspaceMode: 'read',
    checkpoint: false,
  },
} as const;

function* think(ctx: Context): Transaction<BegunTurn> {
  const claim = yield* claimMailbox(ctx);
  const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
  if (!begun) throw new Error('there is nothing to think about');
  return begun;
}

it('a resumed budget wakes an item that had nothing left to do by itself', async () => {
  await using bench = await openBench();
  const itemId = await bench.item({ withoutWorkDir: true, limits: { maxTokens: 5 } });
  await bench.db.write(function* (ctx) {
    const trouble = { code: 'resource_limit', message: 'The limit is reached', retryAt: null };
    yield* failCoordinatorTurn(ctx, (yield* think(ctx)).fence, trouble);
    const estimate = { tokens: 90, costMicros: 0 };
    const request = { id: ctx.newId(), account: accountOf(itemId), kind: 'coordinator', model: 'any:m', estimate };
    expect(yield* reserveRequest(ctx, request)).toMatchObject({ allowed: false });
  });
  expect((await bench.records(itemId)).openMailbox).toEqual([]);
  const { revision } = await bench.snapshot(itemId);
  await bench.commands.extendBudget({ itemId, revision, additions: { maxTokens: 1_000 } });
  const { revision: extended } = await bench.snapshot(itemId);
  expect(await bench.commands.resumeBudget({ itemId, revision: extended })).toMatchObject({ resumed: true });
  const { item, openMailbox } = await bench.records(itemId);
  expect([item.status, openMailbox.map(({ kind }) => kind)]).toEqual(['ready', ['resumed']]);
});

it('what a person says after an outcome was handed over is taken up first: that outcome did not know of it', async () => {
  await using bench = await openBench();
  const itemId = await bench.item({ withoutWorkDir: true });
  const claimed = await bench.db.write(function* (ctx) {
    yield* applyPlan(ctx, (yield* think(ctx)).fence, { mutations: [gate] });
    return yield* claimAction(ctx);
  });
  if (claimed === null) throw new Error('the Action is not ready');
  const outcome = { status: 'completed', summary: 'Said' } as unknown as OutcomeCollector['outcome'];
  const collector = { outcome, control: {} } as unknown as OutcomeCollector;
  const inputs = createRunInputs({ db: bench.db, fence: claimed.fence, collector });
  expect(await inputs.close()).toBe(true);
  const typed = { itemId, actionId: claimed.action.id, text: 'In French, please', clientMessageId: 'i1' };
  await bench.db.write((ctx) => addInput(ctx, typed));
  expect(await inputs.close()).toBe(false);
  expect((await inputs.drain()).map(({ message }) => message)).toEqual(['In French, please']);
  expect(collector.outcome).toBeNull();
});
