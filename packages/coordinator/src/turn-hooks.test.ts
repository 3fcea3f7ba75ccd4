import { listTurns, readHistory, readTurn, type TurnOwner } from '@stint/journal';
import { createAccount, type Limits, readRequest, snapshotAccount } from '@stint/ledger';
import {
  type FailFacts,
  type FrozenRequest,
  ProviderError,
  type TurnResponse,
  type Usage,
} from '@stint/provider-hooks';
import type { Database } from '@stint/storage';
import { describe, expect, it } from 'vitest';
import { createTurnHooks, TurnDenied } from './turn-hooks.js';
import { type Bench, openBench } from './work-bench.test.helper.js';

const owner: TurnOwner = { kind: 'run', id: 'run-1' };
const request: FrozenRequest = {
  model: 'simulated:default',
  provider: 'simulated',
  modelId: 'default',
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  settings: { maxOutputTokens: 100 },
  hash: 'h',
  stream: true,
  turnNumber: 1,
  inputIds: ['in-1'],
  entries: [{ key: 'prompt', kind: 'input', message: { role: 'user', content: [{ type: 'text', text: 'Hello' }] } }],
  purpose: 'turn',
};
const usage: Usage = {
  inputTokens: 7,
  outputTokens: 5,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 12,
};
const response: TurnResponse = {
  content: [{ type: 'text', text: 'Hi' }],
  text: 'Hi',
  finishReason: 'stop',
  usage,
  model: 'default',
};
const unsent: FailFacts = {
  sent: false,
  status: null,
  refusedByProvider: false,
  proof: 'not_sent',
  usage: null,
  retryAfterMs: null,
  partialText: '',
};

async function withHooks(
  limits: Limits,
  use: (parts: {
    bench: Bench;
    hooks: ReturnType<typeof createTurnHooks>;
    fence: { holds: boolean };
    inputs: string[];
    points: string[];
  }) => Promise<void>,
  around: (db: Database) => Database = (db) => db,
): Promise<void> {
  await using bench = await openBench();
  await bench.db.write((ctx) => createAccount(ctx, { id: 'a', limits }));
  const fence = { holds: true };
  const inputs: string[] = [];
  const points: string[] = [];
  // oxlint-disable require-yield -- these fakes of the inputs need no statement
  const hooks = createTurnHooks({
    db: around(bench.db),
    owner,
    budget: { account: 'a', kind: 'action', run: 'run-1' },
    pricing: {
      estimate: () => ({ tokens: 50, costMicros: 100 }),
      cost:
        () =>
        (_request, { totalTokens }) =>
          totalTokens * 2,
    },
    gate: (point) => points.push(point),
    log: ({ level, message, turnId }) => points.push(`${level}: ${message} ${String(turnId)}`),
    *fence() {
      return fence.holds;
    },
    inputs: {
      *bind(_ctx, _turnId, ids) {
        inputs.push(`bind ${ids.join()}`);
      },
      *acknowledge() {
        inputs.push('acknowledge');
      },
      *unbind() {
        inputs.push('unbind');
      },
    },
  });
  // oxlint-enable require-yield
  await use({ bench, hooks, fence, inputs, points });
}

async function booked(bench: Bench, id: string) {
  return await bench.db.read(function* (ctx) {
    const turn = yield* readTurn(ctx, id);
    const entry = yield* readRequest(id);
    const history = yield* readHistory(ctx, owner);
    return {
      turn: turn?.status,
      request: entry?.status,
      charged: entry?.chargedTokens,
      history: history.map(({ key }) => key),
    };
  });
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

async function prepared(hooks: ReturnType<typeof createTurnHooks>) {
  const turn = await hooks.prepare(request);
  if (turn === null) throw new Error('a guard answers a handle');
  return turn;
}

describe('the one hook set', () => {
  it('stores nothing when a request is prepared (case Y02)', async () => {
    await withHooks({}, async ({ bench, hooks, points }) => {
      const turn = await prepared(hooks);
      expect(await booked(bench, turn.id)).toEqual({ history: [] });
      expect(points).toEqual(['turn:prepared']);
    });
  });

  it('reserves, journals and binds in one step at start, and settles, stores and acknowledges in one at finish', async () => {
    await withHooks({}, async ({ bench, hooks, inputs, points }) => {
      const turn = await prepared(hooks);
      await hooks.start(turn);
      expect(await booked(bench, turn.id)).toEqual({
        turn: 'dispatching',
        request: 'reserved',
        charged: 50,
        history: ['prompt'],
      });
      await hooks.finish(turn, response);
      const history = ['prompt', `response:${turn.id}`];
      expect(await booked(bench, turn.id)).toEqual({ turn: 'responded', request: 'reported', charged: 12, history });
      expect(inputs).toEqual(['bind in-1', 'acknowledge']);
      expect(points).toEqual(['turn:prepared', 'turn:started', 'turn:answered', 'turn:finished']);
    });
  });

  it('commits a denial with its stop, cancels the turn and throws the reason', async () => {
    await withHooks({ maxTokens: 40 }, async ({ bench, hooks, inputs }) => {
      const turn = await prepared(hooks);
      const denial = await hooks.start(turn).catch((error: unknown) => error);
      expect(denial).toBeInstanceOf(TurnDenied);
      expect(denial).toMatchObject({ code: 'turn_denied', reason: { code: 'tokens_exhausted', stopped: true } });
      await hooks.fail(turn, new ProviderError('denied', 'denied', { cause: denial }), unsent);
      expect(await booked(bench, turn.id)).toEqual({ turn: 'cancelled', history: [] });
      expect(inputs).toEqual([]);
      const again = await prepared(hooks);
      await expect(hooks.start(again)).rejects.toMatchObject({ reason: { stopped: true } });
    });
  });

  it('lets nothing leave and stores nothing once the claim is lost', async () => {
    await withHooks({}, async ({ bench, hooks, fence }) => {
      const turn = await prepared(hooks);
      fence.holds = false;
      await expect(hooks.start(turn)).rejects.toMatchObject({ code: 'lease_lost' });
      expect(await booked(bench, turn.id)).toEqual({ history: [] });
    });
  });

  it('books an answer that came after the claim was lost, and does not let it count (case Y01)', async () => {
    await withHooks({}, async ({ bench, hooks, fence, inputs }) => {
      const turn = await prepared(hooks);
      await hooks.start(turn);
      fence.holds = false;
      await expect(hooks.finish(turn, response)).rejects.toMatchObject({ code: 'lease_lost' });
      const after = await booked(bench, turn.id);
      expect(after).toMatchObject({ turn: 'unknown', request: 'reported', charged: 12 });
      expect(after.history).not.toContain(`response:${turn.id}`);
      expect(inputs).not.toContain('acknowledge');
    });
  });

  it.each([
    ['was never sent', { ...unsent }, 'refused', 'released', 0],
    [
      'was refused',
      { ...unsent, sent: true, status: 429, refusedByProvider: true, proof: 'refused' },
      'refused',
      'released',
      0,
    ],
    ['broke after sending', { ...unsent, sent: true, status: 200, proof: null }, 'unknown', 'unknown', 50],
    [
      'was refused, with usage',
      { ...unsent, sent: true, status: 429, proof: 'refused', usage },
      'unknown',
      'unknown',
      50,
    ],
  ] as const)('settles by the facts when a request %s', async (_, facts, turnStatus, requestStatus, charged) => {
    await withHooks({}, async ({ bench, hooks, inputs }) => {
      const turn = await prepared(hooks);
      await hooks.start(turn);
      await hooks.fail(turn, new ProviderError('connection', 'broke'), facts);
      expect(await booked(bench, turn.id)).toMatchObject({ turn: turnStatus, request: requestStatus, charged });
      expect(inputs).toEqual(['bind in-1', 'unbind']);
      const [stored] = await bench.db.read((ctx) => listTurns(ctx, owner));
      expect(stored?.asksPerson).toBe(false);
    });
  });

  it('books the price of what a broken answer is known to have used, and stops there (case L19)', async () => {
    await withHooks({ maxCostMicros: 5_000 }, async ({ bench, hooks }) => {
      const turn = await prepared(hooks);
      await hooks.start(turn);
      const known = { ...usage, inputTokens: 1_000, outputTokens: 9_000, totalTokens: 10_000 };
      const facts = { ...unsent, sent: true, status: 200, proof: null, usage: known };
      await hooks.fail(turn, new ProviderError('incomplete', 'broke'), facts);
      const request = await bench.db.read(() => readRequest(turn.id));
      expect(request).toMatchObject({ status: 'unknown', chargedTokens: 10_000, chargedCostMicros: 20_000 });
      const account = await bench.db.read((ctx) => snapshotAccount(ctx, 'a'));
      expect(account).toMatchObject({ status: 'stopped', stopReason: { code: 'cost_exhausted' } });
    });
  });

  it.each(['before', 'after'] as const)(
    'takes back a start that was given up %s it was recorded: no hold, no turn in flight, inputs pending',
    async (when) => {
      const slow = { until: () => undefined as void, reached: Promise.resolve() };
      let late = true;
      const around = (db: Database): Database => {
        const gate = deferred();
        const reached = deferred();
        slow.until = gate.resolve;
        slow.reached = reached.promise;
        const write: Database['write'] = async (body) => {
          if (!late) return await db.write(body);
          late = false;
          const held = async () => {
            reached.resolve();
            await gate.promise;
          };
          if (when === 'before') await held();
          const result = await db.write(body);
          if (when === 'after') await held();
          return result;
        };
        return Object.create(db, {
          write: { value: write },
          read: { value: db.read.bind(db) },
        }) as Database;
      };
      await withHooks(
        {},
        async ({ bench, hooks, inputs }) => {
          const turn = await prepared(hooks);
          const started = hooks.start(turn).catch((error: unknown) => error);
          await slow.reached;
          await hooks.fail(turn, new ProviderError('hook_failed', 'The start hook did not answer in time.'), unsent);
          slow.until();
          expect(await started).toMatchObject({ code: 'start_late' });
          const wasStored = when === 'after';
          expect(await booked(bench, turn.id)).toMatchObject(
            wasStored
              ? { turn: 'cancelled', request: 'released', charged: 0 }
              : { turn: undefined, request: undefined },
          );
          expect(inputs).toEqual(wasStored ? ['bind in-1', 'unbind'] : []);
          const account = await bench.db.read((ctx) => snapshotAccount(ctx, 'a'));
          expect(account).toMatchObject({ inFlight: 0, held: { tokens: 0 } });
          expect(account?.usage).toMatchObject({ tokens: 0 });
        },
        around,
      );
    },
  );

  it.each([
    ['retryable', 2],
    ['lasting', 1],
  ] as const)(
    'takes a late start back again when the store fails by a %s error, or says so',
    async (kind, failures) => {
      const gate = deferred();
      const reached = deferred();
      let writes = 0;
      const around = (db: Database): Database => {
        const write: Database['write'] = async (body) => {
          writes += 1;
          if (writes > 1 && writes <= 1 + failures) {
            await db.write(function* (ctx) {
              yield* body(ctx);
              throw Object.assign(new Error('the store is busy'), { retryable: kind === 'retryable' });
            });
          }
          const result = await db.write(body);
          reached.resolve();
          if (writes === 1) await gate.promise;
          return result;
        };
        return Object.create(db, { write: { value: write }, read: { value: db.read.bind(db) } }) as Database;
      };
      await withHooks(
        {},
        async ({ bench, hooks, points }) => {
          const turn = await prepared(hooks);
          const started = hooks.start(turn).catch((error: unknown) => error);
          await reached.promise;
          await hooks.fail(turn, new ProviderError('hook_failed', 'The start hook did not answer in time.'), unsent);
          gate.resolve();
          expect(await started).toMatchObject({ code: 'start_late' });
          const isBack = kind === 'retryable';
          expect(await booked(bench, turn.id)).toMatchObject(
            isBack ? { turn: 'cancelled', request: 'released' } : { turn: 'dispatching', request: 'reserved' },
          );
          const said = points.filter((point) => point.startsWith('error:') && point.endsWith(turn.id));
          expect(said).toHaveLength(isBack ? 0 : 1);
        },
        around,
      );
    },
  );

  it('stops a started request at a callback of the provider once the claim is lost, and pays nothing for asking', async () => {
    await withHooks({}, async ({ bench, hooks, fence }) => {
      const turn = await prepared(hooks);
      await hooks.start(turn);
      await hooks.recheck?.(turn);
      fence.holds = false;
      await expect(hooks.recheck?.(turn)).rejects.toMatchObject({ code: 'lease_lost' });
      expect(await booked(bench, turn.id)).toMatchObject({ turn: 'dispatching', charged: 50 });
    });
  });

  it('sends nothing when the store cannot be written', async () => {
    await withHooks({}, async ({ bench, hooks }) => {
      const turn = await prepared(hooks);
      await bench.db.close();
      await expect(hooks.start(turn)).rejects.toMatchObject({ code: 'store_closed' });
    });
  });
});
