/** Faults that people met in tools of this kind, each by the id under which it is known. */
import assert from 'node:assert/strict';
import type { Usage } from '@stint/provider-hooks';
import { all, type Database, StoreError } from '@stint/storage';
import { ask, askCost, hold, type LedgerCase, person, refusalOf, used } from './conformance-kit.js';
import { costBy, costOfUsage } from './cost.js';
import { type EstimatedRequest, estimateRequest } from './estimate.js';
import { createLedger, type Ledger } from './ledger.js';
import { parseLimits } from './limits.js';
import { overridePrices, type PriceBook } from './price-book.js';
import { defaultPriceBook } from './price-data.js';
import { settleRequest } from './settle.js';

const source = { address: 'made up', readOn: '2026-11-30' };
/** A dollar and two a million tokens; and ten times that. */
const book: PriceBook = {
  version: 'test',
  models: {
    'maker:cheap': {
      rates: { input: 1_000_000, output: 2_000_000, cacheRead: 100_000, cacheWrite: 1_250_000 },
      toolFeesMicros: { web_search: 10_000 },
      source,
    },
    'maker:dear': { rates: { input: 10_000_000, output: 20_000_000 }, source },
  },
};

/** Eight requests at one moment from two processes; answers how many were admitted. */
async function fireTogether(ledgers: readonly Ledger[], costMicros: number): Promise<number> {
  const asked = Array.from({ length: 8 }, (_, index) =>
    (ledgers[index % ledgers.length] as Ledger).reserveRequest(askCost('a', costMicros)),
  );
  const results = await Promise.all(asked);
  for (const result of results) {
    if (!result.allowed) assert.equal(result.reason.code, 'cost_exhausted');
  }
  return results.filter(({ allowed }) => allowed).length;
}

/** Reads what the requests of an account are charged, again and again until `done`; answers the most it saw. */
async function watchCharges(db: Database, done: { now: boolean }): Promise<number> {
  let most = 0;
  while (!done.now) {
    const rows = await db.read(() => all<{ cost: number }>('SELECT charged_cost AS cost FROM ledger_requests'));
    most = Math.max(
      most,
      rows.reduce((sum, { cost }) => sum + cost, 0),
    );
    await new Promise(setImmediate);
  }
  return most;
}

function failingStore(db: Database, code: 'store_full' | 'store_readonly' | 'store_busy'): Database {
  const fail = async (): Promise<never> => {
    throw new StoreError(code, 'made to fail');
  };
  return new Proxy(db, { get: (target, key) => (key === 'write' ? fail : Reflect.get(target, key)) });
}

export const faultCases: readonly LedgerCase[] = [
  {
    name: 'case L01: of eight requests fired at once from two processes only those that fit are admitted',
    async run(kit) {
      await kit.ledger.createAccount({ id: 'a', limits: { maxCostMicros: 1_000_000 } });
      const [second, outside] = [await kit.another(), await kit.another()];
      const done = { now: false };
      const watching = watchCharges(outside.db, done);
      assert.equal(await fireTogether([kit.ledger, second.ledger], 300_000), 3);
      done.now = true;
      assert.ok((await watching) <= 1_000_000);
      assert.deepEqual(await second.ledger.snapshotAccount('a'), await kit.ledger.snapshotAccount('a'));
    },
  },
  {
    name: 'case L03: a model without a price is refused by name under a money cap, or held at a fallback price, never at 0',
    async run(kit) {
      await kit.ledger.createAccount({ id: 'a', limits: { maxCostMicros: 20_000 } });
      for (const model of ['anthropic:claude-opus-4.1', 'openrouter:auto']) {
        const { costMicros, tokens } = kit.ledger.estimateRequest({
          model,
          prompt: [],
          settings: { maxOutputTokens: 5 },
        });
        assert.equal(costMicros, null);
        const reason = refusalOf(
          await kit.ledger.reserveRequest(ask('a', tokens, { model, estimate: { tokens, costMicros } })),
        );
        assert.equal(reason.code, 'price_unknown');
        assert.ok(reason.message.includes(model));
      }
      const fallback = { rates: { input: 100_000_000, output: 200_000_000 }, source };
      const prices = overridePrices(defaultPriceBook, { version: 'own', models: {}, fallback });
      const { costMicros } = estimateRequest(
        { model: 'openrouter:auto', prompt: [], settings: { maxOutputTokens: 5 } },
        { prices },
      );
      assert.equal(costMicros, 1000);
    },
  },
  {
    name: 'case L05: a store that cannot answer lets nothing through, and says so in other words than a full budget',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1 } });
      for (const code of ['store_full', 'store_readonly', 'store_busy'] as const) {
        const broken = createLedger(failingStore(db, code));
        assert.equal(refusalOf(await broken.reserveRequest(ask('a', 1))).code, 'ledger_unavailable');
      }
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 2))).code, 'tokens_exhausted');
      assert.equal((await ledger.snapshotAccount('a')).usage.requests, 0);
    },
  },
  {
    name: 'case L07: an unknown or misplaced key in the limits, a text or a fraction is an error that names the nearest key',
    async run({ ledger }) {
      const wrong: [Record<string, unknown>, RegExp][] = [
        [{ maxCostUSD: 5 }, /'maxCostUSD'.*'maxCostMicros'/u],
        [{ limits: { maxTokens: 5 } }, /unknown key 'limits'/u],
        [{ max_turns: 5 }, /unknown key 'max_turns'/u],
        [{ maxTokens: '5' }, /limits.*maxTokens is the text '5'/u],
        [{ maxCostMicros: 5e-1 }, /maxCostMicros is 0.5/u],
        [{ windows: [{ per: 'day', maxToken: 5 }] }, /'maxToken'.*'maxTokens'/u],
        [{ windows: [{ per: 'fortnight', maxTokens: 5 }] }, /windows\[0\]\.per/u],
        [{ windows: [{ per: 'day', zone: 'Europe/Atlantis', maxTokens: 5 }] }, /zone/u],
        [{ protected: { coordinator: { token: 5 } } }, /'token'.*'tokens'/u],
      ];
      for (const [limits, message] of wrong) {
        await assert.rejects(ledger.createAccount({ id: 'a', limits }), { code: 'invalid_limits', message });
        assert.throws(() => parseLimits(limits, { name: 'limits of budget.json' }), { code: 'invalid_limits' });
      }
      await assert.rejects(ledger.snapshotAccount('a'), { code: 'account_unknown' });
    },
  },
  {
    name: 'case L09: two children share what the parent has left, and the parent moves with each of their requests',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'parent', limits: { maxTokens: 100 } });
      await ledger.createAccount({ id: 'one', parent: 'parent' });
      await ledger.createAccount({ id: 'two', parent: 'parent' });
      await ledger.settleRequest(await hold(ledger, ask('parent', 60)), { usage: used(60), complete: true });
      const results = await Promise.all([ledger.reserveRequest(ask('one', 40)), ledger.reserveRequest(ask('two', 40))]);
      assert.equal(results.filter(({ allowed }) => allowed).length, 1);
      const { usage } = await ledger.snapshotAccount('parent');
      assert.deepEqual([usage.tokens, usage.heldTokens], [100, 40]);
    },
  },
  {
    name: 'case L11: an answer without usage stays charged at its hold, flagged and listed as unmeasured',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const without = await hold(ledger, ask('a', 900));
      const zeros = await hold(ledger, ask('a', 800));
      const empty = await hold(ledger, ask('a', 700));
      await ledger.settleRequest(without, { usage: null, complete: true });
      await ledger.settleRequest(zeros, { usage: used(0), complete: true });
      await assert.rejects(ledger.settleRequest(empty, { usage: {} as Usage, complete: true }), {
        code: 'invalid_usage',
      });
      const { usage, unmeasured, unknown, held } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.tokens, unmeasured, unknown, held.tokens], [2400, 2, 0, 700]);
      const listed = await ledger.listRequests('a', { flag: 'unmeasured' });
      assert.deepEqual(
        listed.map(({ id }) => id),
        [without, zeros],
      );
    },
  },
  {
    name: 'case L13: cached prompt tokens are priced once, at their own rate',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const inclusive = {
        inputTokens: 20_212 - 16_298,
        outputTokens: 931,
        cacheReadTokens: 16_298,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        totalTokens: 21_143,
      };
      const separate = {
        inputTokens: 25,
        outputTokens: 931,
        cacheReadTokens: 16_298,
        cacheWriteTokens: 3889,
        reasoningTokens: 0,
        totalTokens: 21_143,
      };
      const model = 'maker:cheap';
      for (const [usage, micros] of [
        [inclusive, Math.ceil(3914 + 1629.8 + 1862)],
        [separate, Math.ceil(25 + 1629.8 + 4861.25 + 1862)],
      ] as const) {
        const id = await hold(
          ledger,
          ask('a', 50_000, { model, estimate: { tokens: 50_000, costMicros: 90_000 }, priceVersion: book.version }),
        );
        const result = await ledger.settleRequest(id, { usage, complete: true, costMicros: costBy(book) });
        assert.ok(result.settled);
        assert.deepEqual([result.chargedTokens, result.chargedCostMicros], [21_143, micros]);
      }
    },
  },
  {
    name: 'case L15: reports of a stream that grow are not summed, and the last is not lost',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 10));
      for (const tokens of [1, 15, 40]) await ledger.markRequestUnknown(id, used(tokens));
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 40);
      await ledger.settleRequest(id, { usage: used(40), complete: true });
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 40);
    },
  },
  {
    name: 'case L17: a settlement that failed and is tried again counts once, and the hold is gone',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxCostMicros: 1_000_000 } });
      const id = await hold(ledger, askCost('a', 300_000));
      const settlement = { usage: used(10), complete: true, costMicros: 120_000 };
      const failing = db.write(function* (ctx) {
        yield* settleRequest(ctx, id, settlement);
        yield* all('SELECT nothing FROM nowhere');
      });
      await assert.rejects(failing);
      assert.ok((await ledger.settleRequest(id, settlement)).settled);
      const { usage, held } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.costMicros, held.costMicros], [120_000, 0]);
    },
  },
  {
    name: 'case L19: each attempt over the wire has its own hold and settlement, failed ones too',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a' });
      const first = await hold(ledger, askCost('a', 100, { run: 'run' }));
      await ledger.markRequestUnknown(first, used(5));
      const second = await hold(ledger, askCost('a', 100, { run: 'run', retryOf: first }));
      await ledger.markRequestUnknown(second, used(6));
      const third = await hold(ledger, askCost('a', 100, { run: 'run', retryOf: second }));
      await ledger.settleRequest(third, { usage: used(10), complete: true, costMicros: 70 });
      const { runTotals } = await import('./reports.js');
      const totals = await db.read((ctx) => runTotals(ctx, 'a', ['run']));
      assert.deepEqual(totals.get('run'), { requests: 3, tokens: 30, costMicros: 270 });
    },
  },
  {
    name: 'case L21: an async function as a transaction is refused, and nothing of it is kept',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 10));
      const body = async (): Promise<void> => {
        await new Promise(setImmediate);
        throw new Error('late');
      };
      await assert.rejects(db.write(body as never), { code: 'body_refused' });
      assert.equal((await ledger.readRequest(id))?.status, 'reserved');
    },
  },
  {
    name: 'case L23: an answer is priced by the model that gave it, and a dearer one needs a larger hold before it is called',
    async run({ ledger }) {
      const usage = {
        inputTokens: 412,
        outputTokens: 264,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        totalTokens: 676,
      };
      await ledger.createAccount({ id: 'a', limits: { maxCostMicros: 12_000 } });
      const asked = { model: 'maker:dear', estimate: { tokens: 700, costMicros: 9400 }, priceVersion: book.version };
      const id = await hold(ledger, ask('a', 700, asked));
      const result = await ledger.settleRequest(id, { usage, complete: true, costMicros: costBy(book, 'cheap') });
      assert.ok(result.settled && result.chargedCostMicros === 412 + 528);
      const cheap = await hold(
        ledger,
        ask('a', 700, { ...asked, model: 'maker:cheap', estimate: { tokens: 700, costMicros: 940 } }),
      );
      await ledger.releaseRequest(cheap, 'refused');
      const dearer = ask('a', 700, { ...asked, retryOf: cheap, estimate: { tokens: 700, costMicros: 11_500 } });
      assert.equal(refusalOf(await ledger.reserveRequest(dearer)).code, 'cost_exhausted');
    },
  },
  {
    name: 'case L25: fees of tools that the provider runs are in the hold at their most, and in the charge by reported calls',
    async run() {
      const search = { type: 'provider', id: 'maker.web_search', name: 'web_search', args: { maxUses: 5 } } as const;
      const request = { model: 'maker:cheap', prompt: [], tools: [search], settings: { maxOutputTokens: 1 } };
      const without = estimateRequest({ ...request, tools: [] }, { prices: book });
      const held = estimateRequest(request, { prices: book });
      const words = held.inputTokens - without.inputTokens;
      assert.equal(held.costMicros, 50_000 + Math.ceil((words * 1_250_000 + 2_000_000) / 1_000_000));
      assert.equal(costOfUsage(book, 'maker:cheap', { ...used(0), providerToolCalls: { web_search: 3 } }), 30_000);
      assert.equal(costOfUsage(book, 'maker:cheap', { ...used(0), providerToolCalls: { code: 1 } }), null);
    },
  },
  {
    name: 'case L27: going on after the cap was hit keeps what was spent and shows the new cap, in another process too',
    async run(kit) {
      await kit.ledger.createAccount({ id: 'a', limits: { maxCostMicros: 1_000_000 } });
      const id = await hold(kit.ledger, askCost('a', 1_000_000));
      await kit.ledger.settleRequest(id, { usage: used(10), complete: true, costMicros: 1_030_000 });
      const { revision } = await kit.ledger.snapshotAccount('a');
      const extended = await kit.ledger.extendAccount('a', {
        revision,
        additions: { maxCostMicros: 1_000_000 },
        actor: person,
      });
      const other = await kit.another();
      assert.ok((await other.ledger.resumeAccount('a', { revision: extended.revision, actor: person })).resumed);
      const { usage, limits, remaining } = await other.ledger.snapshotAccount('a');
      assert.deepEqual([usage.costMicros, limits.maxCostMicros, remaining.costMicros], [1_030_000, 2_000_000, 970_000]);
    },
  },
  {
    name: 'case L29: integers are kept exactly or refused, never rounded',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: Number.MAX_SAFE_INTEGER } });
      await hold(ledger, ask('a', Number.MAX_SAFE_INTEGER - 1));
      const { usage, limits } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.tokens, limits.maxTokens], [9007199254740990, 9007199254740991]);
      for (const maxTokens of [2 ** 53, '9223372036854775808', 9007199254740993n]) {
        await assert.rejects(ledger.createAccount({ id: 'b', limits: { maxTokens } as never }), {
          code: 'invalid_limits',
        });
      }
      await ledger.createAccount({ id: 'c' });
      await hold(ledger, ask('c', Number.MAX_SAFE_INTEGER));
      await assert.rejects(ledger.reserveRequest(ask('c', 1)), { code: 'number_out_of_range' });
      assert.equal((await ledger.snapshotAccount('c')).usage.requests, 1);
    },
  },
  {
    name: 'case L31: context that the provider keeps is in the hold of a request that continues it',
    async run({ ledger }) {
      const text = 'x'.repeat(200);
      const request: EstimatedRequest = {
        model: 'simulated:default',
        prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
      };
      const bare = estimateRequest(request);
      const continued = estimateRequest(request, { storedContextTokens: 100_000 });
      assert.equal(continued.tokens - bare.tokens, 100_000);
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 50_000 } });
      const reason = refusalOf(await ledger.reserveRequest(ask('a', continued.tokens)));
      assert.equal(reason.code, 'tokens_exhausted');
    },
  },
  {
    name: 'case L33: a token cap says which tokens it counts, counts those, and pauses',
    async run({ ledger }) {
      const turn = {
        inputTokens: 100,
        outputTokens: 50,
        cacheReadTokens: 12_000,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        totalTokens: 12_150,
      };
      const limits = { maxTokens: 200_000, maxCostMicros: 5_000_000 };
      await ledger.createAccount({ id: 'cached', limits, accounting: 'without_cache_reads' });
      await ledger.createAccount({ id: 'all', limits });
      const play = async (account: string): Promise<number> => {
        for (let turns = 0; turns < 40; turns += 1) {
          const result = await ledger.reserveRequest(
            ask(account, 13_000, { estimate: { tokens: 13_000, costMicros: 2000 } }),
          );
          if (!result.allowed) return turns;
          await ledger.settleRequest(result.id, { usage: turn, complete: true, costMicros: 1500 });
        }
        return 40;
      };
      assert.equal(await play('cached'), 40);
      assert.equal(await play('all'), 16);
      const [cached, full] = [await ledger.snapshotAccount('cached'), await ledger.snapshotAccount('all')];
      assert.deepEqual(
        [cached.accounting, cached.usage.tokens, cached.usage.costMicros],
        ['without_cache_reads', 6000, 60_000],
      );
      assert.deepEqual([full.accounting, full.usage.tokens, full.status], ['all', 194_400, 'stopped']);
      await assert.rejects(ledger.createAccount({ id: 'child', parent: 'all', accounting: 'without_cache_reads' }), {
        code: 'invalid_input',
      });
    },
  },
];
