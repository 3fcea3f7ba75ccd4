import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountOf, createCommands, createCoordinator } from '@stint/coordinator';
import { insertTurn, journalMigrations, recordResponse, recordUnknown, startOperation } from '@stint/journal';
import {
  ledgerMigrations,
  type Limits,
  markRequestUnknown,
  recordFailure,
  type ReserveInput,
  reserveRequest,
} from '@stint/ledger';
import { type Context, type Database, openSqlite, type Transaction } from '@stint/storage';
import {
  applyPlan,
  askHuman,
  beginCoordinatorTurn,
  type BegunTurn,
  claimAction,
  type ClaimedAction,
  claimMailbox,
  type DeliveryTarget,
  endRun,
  failCoordinatorTurn,
  findDeadClaims,
  findDeadRuns,
  type PlanMutation,
  recoverClaim,
  recoverRun,
  type RunEnding,
  workItemsMigrations,
} from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { agentMigrations } from './agent-store.js';
import { runCommandLine } from './command-line.js';
import { emptyRequest } from './frozen-request.test.helper.js';

/** One store with one item, written to as its Coordinator and its Runs do. */
interface Place {
  readonly db: Database;
  readonly dataDirectory: string;
  readonly itemId: string;
  /** A process that is gone when this resolves. */
  readonly died: <T>(body: (ctx: Context) => Transaction<T>) => Promise<T>;
}

const migrations = [ledgerMigrations, journalMigrations, workItemsMigrations, agentMigrations];

async function withPlace(
  given: { readonly deliveryTarget?: DeliveryTarget; readonly limits?: Limits; readonly maxAttempts?: number },
  use: (place: Place) => Promise<void>,
): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'stint-agent-'));
  const path = join(dataDirectory, 'stint.db');
  const db = await openSqlite({ path });
  try {
    for (const set of migrations) await db.migrate(set);
    const { deliveryTarget = 'response', limits, maxAttempts } = given;
    const contract = { goal: 'Say hello', deliveryTarget, ...(maxAttempts !== undefined && { maxAttempts }) };
    const { itemId } = await createCommands(db).create({ contract, start: true, ...(limits && { limits }) });
    const died: Place['died'] = async (body) => {
      const other = await openSqlite({ path });
      const value = await other.write(body);
      await other.close();
      await db.endDeadProcesses();
      return value;
    };
    await use({ db, dataDirectory, itemId, died });
  } finally {
    await db.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

const step = {
  id: 'deliver',
  kind: 'deliver',
  objective: 'Say what is asked for',
  approach: 'Think, then say it',
  expectedResult: 'One sentence that answers',
  dependencies: [],
  workspaceMode: 'read',
  checkpoint: false,
} as const;
const gate: PlanMutation = { op: 'add', action: step };

function* think(ctx: Context): Transaction<BegunTurn> {
  const claim = yield* claimMailbox(ctx);
  const begun = claim && (yield* beginCoordinatorTurn(ctx, claim));
  if (!begun) throw new Error('there is nothing to think about');
  return begun;
}

function* runGate(ctx: Context): Transaction<ClaimedAction> {
  const { fence } = yield* think(ctx);
  expect(yield* applyPlan(ctx, fence, { mutations: [gate] })).toEqual({ applied: true });
  const claimed = yield* claimAction(ctx);
  if (claimed === null) throw new Error('the Action is not ready');
  return claimed;
}

function* requested(ctx: Context, itemId: string, owner: Parameters<typeof insertTurn>[1]['owner']) {
  const id = ctx.newId();
  const kind = owner.kind === 'run' ? 'action' : 'coordinator';
  yield* reserve(ctx, { id, account: accountOf(itemId), kind, tokens: 10 });
  yield* insertTurn(ctx, { id, owner, request: emptyRequest });
  return id;
}

const reserve = (
  ctx: Context,
  { tokens, ...input }: Pick<ReserveInput, 'id' | 'account' | 'kind'> & { tokens: number },
) => reserveRequest(ctx, { ...input, model: emptyRequest.model, estimate: { tokens, costMicros: 0 } });

/** A Run that ends so. */
const ended =
  (ending: RunEnding) =>
  async ({ db }: Place): Promise<void> => {
    await db.write(function* (ctx) {
      yield* endRun(ctx, (yield* runGate(ctx)).fence, ending);
    });
  };

/** What the Coordinator's thinking ends with. */
const troubled =
  (code: string) =>
  async ({ db }: Place): Promise<void> => {
    await db.write(function* (ctx) {
      yield* failCoordinatorTurn(ctx, (yield* think(ctx)).fence, { code, message: 'It went wrong', retryAt: null });
    });
  };

/** A request that does not fit into the item's limits any more. */
const denied =
  (tokens: number) =>
  async ({ db, itemId }: Place): Promise<void> => {
    await db.write(function* (ctx) {
      yield* reserve(ctx, { id: ctx.newId(), account: accountOf(itemId), kind: 'coordinator', tokens });
    });
  };

type Setting = Parameters<typeof withPlace>[0];
const failed = { code: 'tool', message: 'It broke' };

/** How an item comes to stand still, and what it is given. */
const table: readonly (readonly [name: string, setting: Setting, bring: (place: Place) => Promise<void>])[] = [
  [
    'the Coordinator asks',
    {},
    async ({ db }) => {
      await db.write(function* (ctx) {
        yield* askHuman(ctx, (yield* think(ctx)).fence, { question: 'Which one?' });
      });
    },
  ],
  ['an Action asks', {}, ended({ status: 'waiting', question: 'Which one?' })],
  [
    'a failed Action, which the Coordinator could not think about',
    {},
    async (place) => {
      await ended({ status: 'failed', reason: failed })(place);
      await troubled('refused_decision')(place);
    },
  ],
  [
    'an Action without attempts left',
    { maxAttempts: 1 },
    async (place) => {
      await ended({ status: 'retryable', reason: failed })(place);
      await troubled('provider')(place);
    },
  ],
  ['a provider that refuses the Coordinator', {}, troubled('provider')],
  ['a decision that was refused twice', {}, troubled('refused_decision')],
  ['a limit of its own', {}, troubled('resource_limit')],
  ['a defect', {}, troubled('anything')],
  [
    'a delivery outside that a crash cut off',
    { deliveryTarget: 'merge' },
    async ({ db, died }) => {
      await died(runGate);
      for (const dead of await db.read(findDeadRuns))
        await db.write((ctx) => recoverRun(ctx, dead, { unresolved: [] }));
    },
  ],
  [
    'an effect that nobody knows, of a delivery that a crash cut off',
    { deliveryTarget: 'merge' },
    async ({ db, itemId, died }) => {
      const id = await died(function* (ctx) {
        const { fence } = yield* runGate(ctx);
        const owner = { kind: 'run', id: fence.runId } as const;
        const turnId = yield* requested(ctx, itemId, owner);
        yield* recordResponse(ctx, turnId, answer);
        yield* startOperation(ctx, { turnId, callIndex: 0, owner, toolCallId: 'c', tool: 'publish', inputHash: 'h' });
        return `${turnId}/0`;
      });
      await createRecovery(db)();
      expect(id).toContain('/0');
    },
  ],
  [
    'a request of a Run that nobody knows the end of',
    {},
    async ({ db, itemId, died }) => {
      await died(function* (ctx) {
        const { fence } = yield* runGate(ctx);
        yield* requested(ctx, itemId, { kind: 'run', id: fence.runId });
      });
      await createRecovery(db)();
    },
  ],
  [
    'a request of the Coordinator that nobody knows the end of',
    {},
    async ({ db, itemId, died }) => {
      const turnId = await died(function* (ctx) {
        const { turn } = yield* think(ctx);
        return yield* requested(ctx, itemId, { kind: 'coordinator', id: turn.id });
      });
      await db.write(function* (ctx) {
        yield* markRequestUnknown(ctx, turnId);
        yield* recordUnknown(ctx, turnId, { error: { code: 'interrupted', message: 'Gone' }, asksPerson: true });
      });
      for (const claim of await db.read(findDeadClaims))
        await db.write((ctx) => recoverClaim(ctx, { ...claim, unknownTurnId: turnId }));
    },
  ],
  ['a pause', {}, async ({ db, itemId }) => void (await createCommands(db).pause({ itemId }))],
  ['tokens that are used up', { limits: { maxTokens: 5 } }, denied(90)],
  ['requests that are used up', { limits: { maxRequests: 0 } }, denied(1)],
  [
    'failures in a row',
    { limits: { maxConsecutiveFailures: 2 } },
    async ({ db, itemId }) => {
      for (const _ of [1, 2]) await db.write((ctx) => recordFailure(ctx, accountOf(itemId), `coordinator:${itemId}`));
    },
  ],
];

const answer = {
  content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'publish', input: '{}' }],
  text: '',
  finishReason: 'tool-calls',
  usage: null,
  model: 'm',
} as unknown as Parameters<typeof recordResponse>[2];

/** The sweep of a process that serves nothing. */
function createRecovery(db: Database): () => Promise<unknown> {
  const refuse = (): never => {
    throw new Error('nothing is served');
  };
  const coordinator = createCoordinator({ db, resolveModel: refuse, itemIds: [] });
  return () => coordinator.recover();
}

interface Shown {
  readonly status: string;
  readonly reason: { readonly code: string; readonly message: string } | null;
  readonly needs: readonly { readonly kind: string; readonly command: string }[];
}

/** Runs a command line on the place's store; answers what it wrote. */
async function stint(
  words: readonly string[],
  dataDirectory: string,
): Promise<{ code: number; out: string; notes: string }> {
  const out: string[] = [];
  const notes: string[] = [];
  const write = (text: string): void => void out.push(text);
  const output = {
    line: write,
    json: (value: unknown) => write(JSON.stringify(value)),
    note: (text: string) => void notes.push(text),
    interactive: false,
  };
  const code = await runCommandLine([...words, '--data-dir', dataDirectory], { output });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
}

const show = async ({ itemId, dataDirectory }: Place): Promise<Shown> =>
  JSON.parse((await stint(['show', itemId, '--json'], dataDirectory)).out) as Shown;

const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1);

describe('an item that stands still is freed by the commands that it prints, given as they are', () => {
  it.each(table)('after %s', async (_name, setting, bring) => {
    await withPlace(setting, async (place) => {
      await bring(place);
      let shown = await show(place);
      expect(['waiting', 'needs_attention']).toContain(shown.status);
      for (let given = 0; given < 3 && shown.status !== 'ready'; given += 1) {
        const [need] = shown.needs;
        const ended = await stint(wordsOf(need?.command ?? ''), place.dataDirectory);
        expect(ended.code, `${need?.command}: ${ended.notes}`).toBe(0);
        shown = await show(place);
      }
      expect(shown.status, JSON.stringify(shown.reason)).toBe('ready');
    });
  });
});
