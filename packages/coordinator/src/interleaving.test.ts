import { randomInt } from 'node:crypto';
import type { RunEnd } from '@stint/engine';
import { insertTurn, journalMigrations, recordUnknown } from '@stint/journal';
import { createAccount, ledgerMigrations, markRequestUnknown, recordFailure, reserveRequest } from '@stint/ledger';
import type { FrozenRequest } from '@stint/provider-hooks';
import type { Body, Context, Database, Transaction } from '@stint/storage';
import { freshPostgres, interleave, type Interleaving, schedules } from '@stint/storage/testing';
import {
  applyPlan,
  beginCoordinatorTurn,
  cancelItem,
  claimAction,
  type ClaimedAction,
  claimMailbox,
  type CoordinatorFence,
  createWorkItem,
  endRun,
  type PlanMutation,
  requestStart,
  workItemsMigrations,
} from '@stint/work-items';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { accountOf } from './account.js';
import { applyAnswer, driverOf } from './apply-decision.js';
import { type BudgetChange, createCommands, type TurnFinding } from './commands.js';
import { failTurn } from './fail-turn.js';
import { finishRun } from './finish-run.js';
import type { Outcome } from './outcome.js';

const actor = { kind: 'person', id: 'tester' } as const;
const seed = randomInt(2 ** 31);
let draw = seed;
/** A linear congruential generator is random enough to draw orders. */
const random = (): number => {
  draw = (Math.imul(draw, 1_664_525) + 1_013_904_223) >>> 0;
  return draw / 2 ** 32;
};

let store: Awaited<ReturnType<typeof freshPostgres>>;
let db: Database;
let teams = 0;

beforeAll(async () => {
  store = await freshPostgres(inject('pgUrl'));
  db = await store.open();
  for (const set of [ledgerMigrations, journalMigrations, workItemsMigrations]) await db.migrate(set);
});
afterAll(() => store.remove());

const emptyRequest: FrozenRequest = {
  model: 'any:model',
  provider: 'any',
  modelId: 'model',
  prompt: [],
  tools: [],
  settings: {},
  hash: 'h',
  stream: true,
  turnNumber: 1,
  inputIds: [],
  entries: [],
  purpose: 'turn',
};

const noUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
};

/** A loop that ended because an outcome was handed over. */
const handedOver: RunEnd = {
  type: 'run-end',
  reason: 'ended_by_tool',
  text: '',
  error: null,
  notBefore: null,
  turnNumber: 1,
  usage: noUsage,
  unmeasuredTurns: 0,
  costMicros: null,
  requests: 1,
  entries: [],
};

const outcome: Outcome = {
  status: 'completed',
  summary: 'Said',
  evidence: [],
  checks: [],
  outputs: [{ kind: 'response', value: 'Hello' }],
  residualRisks: [],
};

const gate: PlanMutation = {
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
};

/** Two started items whose accounts hang on one team's. */
async function twoItems(): Promise<readonly [string, string]> {
  teams += 1;
  const parent = `team-${teams}`;
  await db.write((ctx) => createAccount(ctx, { id: parent, actor }));
  const items = [1, 2].map(() =>
    db.write(function* (ctx) {
      const { itemId } = yield* createWorkItem(ctx, { goal: 'Say hello', deliveryTarget: 'response' });
      yield* createAccount(ctx, { id: accountOf(itemId), parent, limits: { maxTokens: 1_000_000 }, actor });
      yield* requestStart(ctx, { itemId });
      return itemId;
    }),
  );
  return (await Promise.all(items)) as [string, string];
}

function* think(ctx: Context, itemId: string): Transaction<CoordinatorFence> {
  const claim = yield* claimMailbox(ctx, { itemIds: [itemId] });
  const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
  if (!begun) throw new Error(`${itemId} has nothing to think about`);
  return begun.fence;
}

/** The item's gate, at work. */
const runningGate = (itemId: string): Promise<ClaimedAction> =>
  db.write(function* (ctx) {
    yield* applyPlan(ctx, yield* think(ctx, itemId), { mutations: [gate] });
    const claimed = yield* claimAction(ctx, { itemIds: [itemId], maxConcurrentActions: 12 });
    if (claimed === null) throw new Error(`${itemId} has nothing to run`);
    return claimed;
  });

/** A request of the owner that is on its way. */
function* dispatched(ctx: Context, itemId: string, owner: Parameters<typeof insertTurn>[1]['owner']) {
  const id = ctx.newId();
  const kind = owner.kind === 'run' ? 'action' : 'coordinator';
  const estimate = { tokens: 10, costMicros: 0 };
  yield* reserveRequest(ctx, { id, account: accountOf(itemId), kind, model: 'any:model', estimate });
  yield* insertTurn(ctx, { id, owner, request: emptyRequest });
  return id;
}

/** The body that a command writes. */
function bodyOf(give: (commands: ReturnType<typeof createCommands>) => Promise<unknown>): Body<unknown> {
  const bodies: Body<unknown>[] = [];
  const recorder = {
    write(body: Body<unknown>) {
      bodies.push(body);
      return Promise.resolve();
    },
  };
  void give(createCommands(recorder as unknown as Database));
  const [body] = bodies;
  if (body === undefined) throw new Error('the command writes nothing');
  return body;
}

type Side = (itemId: string) => Promise<Body<unknown>>;

/** What may happen to one item while another one under the same team account is worked on. */
const sides: Readonly<Record<string, Side>> = {
  async 'ends its gate and closes its account'(itemId) {
    const claimed = await runningGate(itemId);
    await db.write((ctx) => dispatched(ctx, itemId, { kind: 'run', id: claimed.fence.runId }));
    // oxlint-disable-next-line require-yield -- there is no operation to settle
    const settleOperations = function* () {
      return undefined;
    };
    return (ctx) => finishRun(ctx, claimed, { end: handedOver, outcome, settleOperations });
  },
  async 'fails to think'(itemId) {
    const fence = await db.write((ctx) => think(ctx, itemId));
    await db.write((ctx) => dispatched(ctx, itemId, { kind: 'coordinator', id: fence.turnId }));
    return function* (ctx) {
      yield* recordFailure(ctx, accountOf(itemId), driverOf(itemId));
      yield* failTurn(ctx, fence, { error: null, stopped: true });
    };
  },
  async plans(itemId) {
    const fence = await db.write((ctx) => think(ctx, itemId));
    const text = JSON.stringify({ decision: 'plan', mutations: [gate] });
    const providerTurnId = await db.write((ctx) => dispatched(ctx, itemId, { kind: 'coordinator', id: fence.turnId }));
    return (ctx) => applyAnswer(ctx, { fence, answersPerson: false }, { providerTurnId, text, rejected: true });
  },
  async 'is paused'(itemId) {
    return bodyOf((commands) => commands.pause({ itemId }));
  },
  async 'is extended'(itemId) {
    const change: BudgetChange = { itemId, revision: 1 };
    return bodyOf((commands) => commands.extendBudget({ ...change, additions: { maxTokens: 5 } }));
  },
};

const names = Object.keys(sides);
const pairs = names.flatMap((first, index) => names.slice(index).map((second) => [first, second] as const));

describe('two items under one team account', () => {
  it.each(pairs)('one %s while the other %s: neither ends the other in a deadlock', async (first, second) => {
    for (const schedule of schedules(30, 30, 3, random)) {
      const items = await twoItems();
      const [one, other] = [await sides[first]?.(items[0]), await sides[second]?.(items[1])];
      if (one === undefined || other === undefined) throw new Error(`no such side: ${first}, ${second}`);
      const owners = { first: db.owner, second: db.owner };
      const result = await interleave({ url: store.location, first: one, second: other, schedule, owners });
      expectCommitted(result);
    }
  });
});

function expectCommitted({ first, second, trace }: Interleaving<unknown, unknown>): void {
  const failure = `seed ${seed}, in this order:\n${trace.join('\n')}`;
  expect([first, second], failure).toMatchObject([
    { status: 'committed', conflicts: 0 },
    { status: 'committed', conflicts: 0 },
  ]);
}

it('a person who settles a request locks item and Action before the account', async () => {
  const [itemId, other] = await twoItems();
  const claimed = await runningGate(itemId);
  const owner = { kind: 'run', id: claimed.fence.runId } as const;
  const turnId = await db.write(function* (ctx) {
    const id = yield* dispatched(ctx, itemId, owner);
    yield* markRequestUnknown(ctx, id);
    yield* recordUnknown(ctx, id, { error: { code: 'interrupted', message: 'Gone' }, asksPerson: true });
    const reason = { code: 'interrupted', message: 'Gone' };
    yield* endRun(ctx, claimed.fence, { status: 'outcome_unknown', reason, unresolved: [{ kind: 'turn', id }] });
    return id;
  });
  const finding: TurnFinding = { kind: 'not_billed' };
  const { trace } = await interleave({
    url: store.location,
    first: bodyOf((commands) => commands.resolveTurn({ turnId, finding })),
    second: (ctx) => cancelItem(ctx, { itemId: other }),
    schedule: Array.from({ length: 60 }, () => 'first' as const),
  });
  const locks = trace.filter((step) => step.startsWith('first: ') && step.includes('FOR NO KEY UPDATE'));
  const first = (table: string): number => locks.findIndex((step) => step.includes(table));
  expect(first('work_items')).toBe(0);
  expect(first('work_actions')).toBe(1);
  expect(first('ledger_accounts')).toBeGreaterThan(1);
});
