/** What a hostile reader would try: figures at the edge of what integers keep, zeros, names that are no names, clocks that jump, orders that are odd. */
import assert from 'node:assert/strict';
import { ask, askCost, hold, type LedgerCase, person, refusalOf, used } from './conformance-kit.js';
import type { Usage } from '@stint/provider-hooks';
import type { Limits } from './types.js';

const most = Number.MAX_SAFE_INTEGER;

export const edgeCases: readonly LedgerCase[] = [
  {
    name: 'denies at a limit of 0 also what is estimated at nothing, and stops for it',
    async run({ ledger }) {
      const denials: readonly (readonly [string, Limits, string])[] = [
        ['tokens', { maxTokens: 0 }, 'tokens_exhausted'],
        ['cost', { maxCostMicros: 0 }, 'cost_exhausted'],
        ['window of tokens', { windows: [{ per: 'day', maxTokens: 0 }] }, 'window_exhausted'],
        ['window of cost', { windows: [{ per: 'day', maxCostMicros: 0 }] }, 'window_exhausted'],
      ];
      for (const [id, limits, code] of denials) {
        await ledger.createAccount({ id, limits });
        const reason = refusalOf(await ledger.reserveRequest(ask(id, 0, { estimate: { tokens: 0, costMicros: 0 } })));
        assert.deepEqual([reason.code, reason.stopped === true], [code, code !== 'window_exhausted']);
      }
    },
  },
  {
    name: 'case Y23: takes names that every object has for what they are: kinds, drivers, runs, subjects and tools',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'root' });
      for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf']) {
        const limits = { maxTokens: 100, protected: { [name]: { tokens: 10 } } };
        await ledger.createAccount({ id: name, parent: 'root', limits });
        const attempt = { subject: name, run: name };
        const id = await hold(ledger, ask(name, 20, { kind: name, driver: name, run: name, attempt }));
        const usage = { ...used(15), providerToolCalls: { [name]: 2 } };
        assert.ok((await ledger.settleRequest(id, { usage, complete: true })).settled);
        const again = async (figures: Usage) => ledger.settleRequest(id, { usage: figures, complete: true });
        assert.deepEqual(await again(usage), { settled: false, reason: 'unchanged' });
        assert.deepEqual(await again(used(15)), { settled: false, reason: 'conflict' });
        assert.deepEqual(await again({ ...usage, providerToolCalls: { [name]: 2, search: 0 } }), {
          settled: false,
          reason: 'unchanged',
        });
        const without = await hold(ledger, ask('root', 1, { kind: name }));
        await ledger.settleRequest(without, { usage: used(1), complete: true });
        const none = { usage: { ...used(1), providerToolCalls: { [name]: 0 } }, complete: true };
        assert.deepEqual(await ledger.settleRequest(without, none), { settled: false, reason: 'unchanged' });
        assert.equal((await ledger.recordFailure(name, name)).failures, 1);
        const { breakdown, usage: sums } = await ledger.snapshotAccount(name);
        assert.deepEqual([Object.keys(breakdown), breakdown[name]?.tokens, sums.tokens], [[name], 15, 15]);
        assert.ok((await ledger.exportEntries(name)).length > 2);
        for (const account of [name, 'root'])
          assert.ok((await ledger.verifyAccount(account)).ok && (await ledger.replayAccount(account)).ok, name);
      }
      const asked = ask('root', 1, { kind: '__proto__' });
      await assert.rejects(ledger.reserveRequest(asked), { code: 'invalid_input' });
      await assert.rejects(ledger.recordFailure('root', '__proto__'), { code: 'invalid_input' });
    },
  },
  {
    name: 'case L07: refuses limits of a class, whose getters would be read by nobody, by name, and so a map',
    async run({ ledger }) {
      class Settings {
        get maxTokens(): number {
          return 5;
        }
      }
      const wrong: readonly (readonly [object, RegExp])[] = [
        [new Settings(), /limits of account a is of the class Settings.*plain object/u],
        [new Map([['maxTokens', 5]]), /is of the class Map/u],
        [Object.create({ maxTokens: 5 }) as object, /is of a class/u],
        [{ windows: [Object.create({ per: 'day', maxTokens: 5 })] }, /windows\[0\] is of a class/u],
        [{ protected: { action: new Settings() } }, /protected\.action is of the class Settings/u],
        [Object.defineProperty({}, 'maxTurns', { value: 5 }), /'maxTurns'/u],
      ];
      for (const [limits, message] of wrong) {
        const invalid = { code: 'invalid_limits', message };
        await assert.rejects(ledger.createAccount({ id: 'a', limits: limits as Limits }), invalid);
      }
      await ledger.createAccount({ id: 'a', limits: Object.assign(Object.create(null), { maxTokens: 5 }) as Limits });
      const additions = new Settings() as object;
      await assert.rejects(ledger.extendAccount('a', { revision: 1, additions, actor: person }), {
        code: 'invalid_limits',
      });
    },
  },
  {
    name: 'protects the whole of a limit exactly, whatever the limit',
    async run({ ledger }) {
      for (const maxTokens of [435, 115, 1_000_001, most]) {
        const id = `limit ${maxTokens}`;
        await ledger.createAccount({ id, limits: { maxTokens, protected: { coordinator: { tokens: maxTokens } } } });
        assert.equal(refusalOf(await ledger.reserveRequest(ask(id, 1))).scope, 'kind');
        await hold(ledger, ask(id, maxTokens, { kind: 'coordinator' }));
      }
    },
  },
  {
    name: 'refuses a settlement whose sums no integer keeps, and the hold stays',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      await ledger.settleRequest(await hold(ledger, ask('a', 5)), {
        usage: used(most - 10),
        complete: true,
        costMicros: 1,
      });
      const id = await hold(ledger, ask('a', 7));
      for (const usage of [used(most), { ...used(20), inputTokens: most }])
        await assert.rejects(ledger.settleRequest(id, { usage, complete: true, costMicros: 1 }), /2\^53|safe/u);
      assert.equal((await ledger.readRequest(id))?.status, 'reserved');
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, most - 3);
      assert.ok((await ledger.settleRequest(id, { usage: used(8), complete: true })).settled);
      assert.ok((await ledger.verifyAccount('a')).ok && (await ledger.replayAccount('a')).ok);
    },
  },
  {
    name: 'refuses figures that are none in every place where one is given',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      const id = await hold(ledger, ask('a', 10));
      const settle = (usage: unknown) => ledger.settleRequest(id, { usage: usage as Usage, complete: true });
      for (const usage of [undefined, 'none', 5, [], { ...used(1), providerToolCalls: 5 }])
        await assert.rejects(settle(usage), { code: 'invalid_usage' });
      for (const wrong of [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53, '5', null, 5n] as never[]) {
        const invalid = { code: 'invalid_usage' };
        await assert.rejects(
          ledger.settleRequest(id, { usage: { ...used(1), outputTokens: wrong }, complete: true }),
          invalid,
        );
        await assert.rejects(
          ledger.reconcileRequest(id, { usage: { ...used(1), totalTokens: wrong } }, person),
          invalid,
        );
        if (wrong !== null)
          await assert.rejects(
            ledger.settleRequest(id, { usage: used(1), complete: true, costMicros: wrong }),
            invalid,
          );
        await assert.rejects(ledger.reserveRequest(ask('a', wrong)), { code: 'invalid_estimate' });
        await assert.rejects(
          ledger.extendAccount('a', { revision: 1, additions: { maxTokens: wrong }, actor: person }),
          {
            code: 'invalid_limits',
          },
        );
      }
      assert.equal((await ledger.readRequest(id))?.status, 'reserved');
    },
  },
  {
    name: 'refuses names that no store keeps as they are, or that are none',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      for (const name of ['', 'nul \0', 'half of a pair \ud800', '__proto__', 'x'.repeat(513), 5, null] as never[]) {
        const invalid = { code: 'invalid_input' };
        await assert.rejects(ledger.createAccount({ id: name }), invalid);
        for (const field of ['id', 'run', 'driver', 'retryOf', 'priceVersion', 'model'] as const)
          await assert.rejects(ledger.reserveRequest(ask('a', 1, { [field]: name })), invalid);
        for (const attempt of [
          { subject: name, run: 'r' },
          { subject: 's', run: name },
          { subject: 's', run: 'r', continues: name },
        ])
          await assert.rejects(ledger.reserveRequest(ask('a', 1, { attempt })), invalid);
        await assert.rejects(ledger.recordFailure('a', name), invalid);
      }
      const limits = { protected: JSON.parse('{"__proto__":{"tokens":5}}') as never };
      await assert.rejects(ledger.createAccount({ id: 'b', limits }), { code: 'invalid_limits' });
      const id = 'Zwölf 🦊';
      await ledger.createAccount({ id });
      await hold(ledger, ask(id, 1, { driver: 'constructor', run: 'toString' }));
      assert.equal((await ledger.recordFailure(id, 'constructor')).failures, 1);
    },
  },
  {
    name: 'keeps the words for kinds few, since their sums stand in one row',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      for (let count = 0; count < 256; count += 1) await hold(ledger, ask('a', 1, { kind: `kind${count}` }));
      await assert.rejects(ledger.reserveRequest(ask('a', 1, { kind: 'another' })), { code: 'invalid_input' });
      await hold(ledger, ask('a', 1, { kind: 'kind7' }));
    },
  },
  {
    name: 'takes no proof of no work for a request whose usage was reported, and a person at their word',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 10));
      await ledger.markRequestUnknown(id, used(4));
      assert.equal(await ledger.releaseRequest(id, 'not_sent'), false);
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 10);
      assert.ok((await ledger.reconcileRequest(id, 'not_billed', person)).settled);
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 0);
    },
  },
  {
    name: 'prices what a person found out by the price book',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, askCost('a', 500, { model: 'simulated:default' }));
      await ledger.markRequestUnknown(id);
      await ledger.reconcileRequest(id, { usage: used(40) }, person);
      const request = await ledger.readRequest(id);
      assert.deepEqual([request?.chargedCostMicros, request?.unpriced], [200, false]);
      await ledger.reconcileRequest(id, { usage: used(40), costMicros: 123 }, { kind: 'import', id: 'bill' });
      assert.equal((await ledger.readRequest(id))?.chargedCostMicros, 123);
    },
  },
  {
    name: 'settles, releases and recovers beneath accounts that were stopped or closed in between, and admits nothing there',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'root', limits: { maxTokens: 1000 } });
      await ledger.createAccount({ id: 'a', parent: 'root' });
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) ids.push(await hold(ledger, ask('a', 100)));
      const [first = '', second = '', third = ''] = ids;
      await ledger.closeAccount('a');
      await ledger.stopAccount('root', { code: 'paused', actor: person });
      assert.ok((await ledger.settleRequest(first, { usage: used(2000), complete: true })).settled);
      assert.equal(await ledger.releaseRequest(second, 'refused'), true);
      assert.equal(await ledger.releaseRequest(second, 'refused'), false);
      assert.equal(await ledger.releaseRequest(first, 'refused'), false);
      assert.ok((await ledger.markRequestUnknown(third)).settled);
      const { usage, status, stopReason } = await ledger.snapshotAccount('root');
      assert.deepEqual([usage.tokens, status, stopReason?.code], [2100, 'stopped', 'paused']);
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).code, 'paused');
      assert.equal(await ledger.createAccount({ id: 'b', parent: 'a' }), true);
      assert.equal(refusalOf(await ledger.reserveRequest(ask('b', 1))).code, 'paused');
      const { revision } = await ledger.snapshotAccount('root');
      assert.ok((await ledger.resumeAccount('root', { revision, actor: person })).resumed);
      assert.equal(refusalOf(await ledger.reserveRequest(ask('b', 1))).code, 'account_closed');
      assert.equal(refusalOf(await ledger.reserveRequest(ask('root', 1))).code, 'tokens_exhausted');
    },
  },
  {
    name: 'keeps journal and sums right while the clock jumps back and forth',
    async run({ ledger, time }) {
      const windows = [
        { per: 'minute', maxTokens: 100 },
        { per: 'day', zone: 'Europe/Berlin', maxTokens: 150 },
      ] as const;
      await ledger.createAccount({ id: 'a', limits: { windows } });
      const held: string[] = [];
      let asked = 0;
      for (const jumpMs of [0, 59_000, -120_000, 61_000, 86_400_000, -86_400_000, 30_000, 5_000, -1]) {
        time.now += jumpMs;
        const result = await ledger.reserveRequest(ask('a', 40));
        if (result.allowed) held.push(result.id);
        else assert.equal(result.reason.code, 'window_exhausted');
        if (asked++ % 2 === 1 && held.length > 0)
          await ledger.settleRequest(held.pop() as string, { usage: used(35), complete: true });
      }
      const { usage } = await ledger.snapshotAccount('a');
      assert.ok(usage.requests > 2 && usage.requests < 9);
      assert.ok((await ledger.verifyAccount('a')).ok);
      assert.ok((await ledger.replayAccount('a')).ok);
    },
  },
];
