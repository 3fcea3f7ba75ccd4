import { insertTurn, readTurn, recordResponse } from '@stint/journal';
import { recordFailure, reserveRequest } from '@stint/ledger';
import type { FrozenRequest } from '@stint/provider-hooks';
import type { Context, Transaction } from '@stint/storage';
import {
  applyPlan,
  beginCoordinatorTurn,
  claimAction,
  claimMailbox,
  type CoordinatorFence,
  endRun,
} from '@stint/work-items';
import { expect, it } from 'vitest';
import { accountOf } from './account.js';
import { applyAnswer, driverOf } from './apply-decision.js';
import { openBench } from './work-bench.test.helper.js';

const look = {
  op: 'add',
  action: {
    id: 'look',
    kind: 'work',
    objective: 'Look at it',
    approach: 'Read the files',
    expectedResult: 'What is there is known',
    dependencies: [],
    workspaceMode: 'read',
    checkpoint: true,
  },
} as const;

const request = {
  turnNumber: 1,
  model: 'any:m',
  hash: 'h',
  settings: {},
  purpose: 'decision',
  stream: true,
  entries: [],
  inputIds: [],
};
const response = { content: [], text: '', finishReason: 'stop', usage: null, model: 'm' };

function* think(ctx: Context): Transaction<CoordinatorFence> {
  const claim = yield* claimMailbox(ctx);
  const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
  if (!begun) throw new Error('there is nothing to think about');
  return begun.fence;
}

/** A paid answer of the Coordinator's turn. */
function* paid(ctx: Context, fence: CoordinatorFence): Transaction<string> {
  const id = ctx.newId();
  const estimate = { tokens: 10, costMicros: 0 };
  yield* reserveRequest(ctx, { id, account: accountOf(fence.itemId), kind: 'coordinator', model: 'any:m', estimate });
  const owner = { kind: 'coordinator', id: fence.turnId } as const;
  yield* insertTurn(ctx, { id, owner, request: request as unknown as FrozenRequest });
  yield* recordResponse(ctx, id, response as unknown as Parameters<typeof recordResponse>[2]);
  return id;
}

it('a decision that completes the item closes its account, forgets the failures, and is applied with its turn', async () => {
  await using bench = await openBench();
  const itemId = await bench.item({ withoutWorkDir: true });
  const account = accountOf(itemId);
  const { fence, runId, providerTurnId } = await bench.db.write(function* (ctx) {
    yield* applyPlan(ctx, yield* think(ctx), { mutations: [look] });
    const claimed = yield* claimAction(ctx);
    if (claimed === null) throw new Error('the Action is not ready');
    const checks = [{ criterionId: 'c1', status: 'passed' as const, evidence: 'node --test passes' }];
    const outcome = { summary: 'Seen', evidence: [], checks, outputs: [], residualRisks: [] };
    yield* endRun(ctx, claimed.fence, { status: 'completed', outcome });
    yield* recordFailure(ctx, account, driverOf(itemId));
    const decides = yield* think(ctx);
    return { fence: decides, runId: claimed.run.id, providerTurnId: yield* paid(ctx, decides) };
  });
  expect((await bench.snapshot(itemId)).failures).not.toEqual({});
  const judge = (text: string) =>
    bench.db.write((ctx) =>
      applyAnswer(ctx, { fence, answersPerson: false }, { providerTurnId, text, rejected: false }),
    );
  const decision = {
    decision: 'complete',
    summary: 'All is well',
    criteria: [{ id: 'c1', evidenceRunIds: [runId] }],
    outputs: [{ kind: 'response', text: 'Hello' }],
    residualRisks: [],
  };
  expect(await judge(JSON.stringify(decision))).toEqual({ verdict: 'applied' });
  expect((await bench.records(itemId)).item.status).toBe('done');
  expect(await bench.snapshot(itemId)).toMatchObject({ status: 'closed', failures: {} });
  expect((await bench.db.read((ctx) => readTurn(ctx, providerTurnId)))?.status).toBe('applied');
});

it('an answer that only explains is refused where no person has asked, and changes nothing but the mark of its turn', async () => {
  await using bench = await openBench();
  const itemId = await bench.item({ withoutWorkDir: true });
  const { fence, providerTurnId } = await bench.db.write(function* (ctx) {
    const decides = yield* think(ctx);
    return { fence: decides, providerTurnId: yield* paid(ctx, decides) };
  });
  const before = await bench.records(itemId);
  const text = JSON.stringify({ decision: 'answer', reply: 'It goes well.' });
  const verdict = await bench.db.write((ctx) =>
    applyAnswer(ctx, { fence, answersPerson: false }, { providerTurnId, text, rejected: false }),
  );
  expect(verdict).toMatchObject({ verdict: 'refused', reason: expect.stringContaining('message of the person') });
  expect(await bench.records(itemId)).toEqual(before);
  expect((await bench.db.read((ctx) => readTurn(ctx, providerTurnId)))?.status).toBe('rejected');
});
