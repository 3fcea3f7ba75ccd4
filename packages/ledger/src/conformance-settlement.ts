import assert from 'node:assert/strict';
import { one, run } from '@stint/storage';
import { ask, askCost, hold, type LedgerCase, person, refusalOf, used } from './conformance-kit.js';
import { entryHash, entryLine, type StoredEntry } from './entries.js';
import { recoverRequest } from './recover.js';
import { settleRequest } from './settle.js';

export const settlementCases: readonly LedgerCase[] = [
  {
    name: 'settles at the actual charge and gives the rest of the hold back',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'root' });
      await ledger.createAccount({ id: 'a', parent: 'root' });
      const id = await hold(ledger, ask('a', 1000));
      const result = await ledger.settleRequest(id, { usage: used(300), complete: true });
      assert.ok(result.settled && result.status === 'reported' && !result.overshoot);
      for (const account of ['root', 'a']) {
        const { usage, held, inFlight } = await ledger.snapshotAccount(account);
        assert.deepEqual([usage.tokens, held.tokens, inFlight], [300, 0, 0]);
      }
    },
  },
  {
    name: 'books a charge above its hold in full, flags it and stops every account that it brings over its limit',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'root', limits: { maxTokens: 150 } });
      await ledger.createAccount({ id: 'a', parent: 'root', limits: { maxTokens: 100 } });
      const id = await hold(ledger, ask('a', 100));
      const result = await ledger.settleRequest(id, { usage: used(170), complete: true });
      assert.ok(result.settled && result.overshoot);
      assert.deepEqual([...result.stoppedAccounts].sort(), ['a', 'root']);
      const { usage, stopReason } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.tokens, stopReason?.code, stopReason?.aborts], [170, 'tokens_exhausted', false]);
      assert.equal((await ledger.listRequests('root', { flag: 'overshoot' }))[0]?.id, id);
    },
  },
  {
    name: 'keeps the hold of an unknown outcome, and more if the usage so far says more, and never goes down',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      await ledger.markRequestUnknown(id);
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 100);
      await ledger.markRequestUnknown(id, used(130));
      await ledger.markRequestUnknown(id, used(20));
      const { usage, unknown } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.tokens, usage.unknownTokens, usage.heldTokens, unknown], [130, 130, 0, 1]);
    },
  },
  {
    name: 'prices what an unknown request is known to have used',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, askCost('a', 1));
      await ledger.markRequestUnknown(id, used(130));
      assert.equal((await ledger.readRequest(id))?.chargedCostMicros, 650);
    },
  },
  {
    name: 'takes late usage for an unknown request, also after its account was closed',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      await ledger.markRequestUnknown(id);
      await ledger.closeAccount('a');
      await ledger.settleRequest(id, { usage: used(40), complete: true });
      const { usage, unknown, status } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.tokens, unknown, status], [40, 0, 'closed']);
    },
  },
  {
    name: 'answers a repeated settlement as unchanged, and one with other figures as a conflict that changes nothing',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      await ledger.settleRequest(id, { usage: used(40), complete: true });
      const before = await ledger.snapshotAccount('a');
      assert.deepEqual(await ledger.settleRequest(id, { usage: used(40), complete: true }), {
        settled: false,
        reason: 'unchanged',
      });
      assert.deepEqual(await ledger.settleRequest(id, { usage: used(41), complete: true }), {
        settled: false,
        reason: 'conflict',
      });
      assert.deepEqual(await ledger.markRequestUnknown(id), { settled: false, reason: 'unchanged' });
      assert.equal(await ledger.releaseRequest(id, 'refused'), false);
      assert.deepEqual(await ledger.settleRequest('nobody', { usage: used(1), complete: true }), {
        settled: false,
        reason: 'unknown_request',
      });
      assert.deepEqual(await ledger.snapshotAccount('a'), before);
    },
  },
  {
    name: 'refuses usage that is no count and leaves the hold open',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      for (const tokens of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assert.rejects(ledger.settleRequest(id, { usage: used(tokens), complete: true }), {
          code: 'invalid_usage',
        });
      }
      await assert.rejects(ledger.settleRequest(id, { usage: used(1), complete: true, costMicros: -5 }), {
        code: 'invalid_usage',
      });
      assert.equal((await ledger.readRequest(id))?.status, 'reserved');
    },
  },
  {
    name: 'releases on proof: nothing is charged, the request still counts',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxRequests: 1 } });
      const id = await hold(ledger, askCost('a', 500));
      assert.equal(await ledger.releaseRequest(id, 'not_sent'), true);
      assert.equal(await ledger.releaseRequest(id, 'not_sent'), false);
      const { usage, inFlight } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.requests, usage.tokens, usage.costMicros, inFlight], [1, 0, 0, 0]);
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).code, 'requests_exhausted');
      await assert.rejects(ledger.releaseRequest(id, 'hope' as 'refused'), { code: 'invalid_input' });
    },
  },
  {
    name: 'books usage that arrives for a request released by proof, and flags it',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      await ledger.releaseRequest(id, 'refused');
      await ledger.settleRequest(id, { usage: used(30), complete: false });
      const request = await ledger.readRequest(id);
      assert.deepEqual([request?.status, request?.discrepancy, request?.chargedTokens], ['reported', true, 30]);
      assert.equal((await ledger.listRequests('a', { flag: 'discrepancy' })).length, 1);
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 30);
    },
  },
  {
    name: 'leaves a released request released when a late answer tells no usage, also if an earlier one did',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      await ledger.markRequestUnknown(id, used(7));
      await ledger.reconcileRequest(id, 'not_billed', person);
      for (const usage of [null, used(0)]) {
        assert.deepEqual(await ledger.settleRequest(id, { usage, complete: true }), {
          settled: false,
          reason: 'unchanged',
        });
      }
      assert.equal((await ledger.readRequest(id))?.status, 'released');
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 0);
    },
  },
  {
    name: 'marks the reservations of a dead process unknown, and those alone',
    async run(kit) {
      await kit.ledger.createAccount({ id: 'a' });
      const other = await kit.another();
      const dead = await hold(other.ledger, ask('a', 70));
      const alive = await hold(kit.ledger, ask('a', 30));
      assert.equal(await kit.ledger.recoverRequests(), 0);
      assert.equal(await kit.db.write((ctx) => recoverRequest(ctx, dead)), false);
      assert.deepEqual((await kit.ledger.snapshotAccount('a')).version, [3, 0]);
      await other.db.close();
      assert.deepEqual((await kit.ledger.snapshotAccount('a')).version, [3, 1]);
      assert.equal(await kit.ledger.recoverRequests(), 1);
      assert.equal(await kit.ledger.recoverRequests(), 0);
      assert.equal((await kit.ledger.readRequest(dead))?.status, 'unknown');
      assert.equal((await kit.ledger.readRequest(alive))?.status, 'reserved');
      assert.equal((await kit.ledger.snapshotAccount('a')).usage.tokens, 100);
    },
  },
  {
    name: 'reconciles by a person or an import, and by nobody else',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      assert.deepEqual(await ledger.reconcileRequest(id, 'not_billed', person), { settled: false, reason: 'conflict' });
      await ledger.markRequestUnknown(id);
      await assert.rejects(ledger.reconcileRequest(id, 'not_billed', { kind: 'system', id: 'agent' }), {
        code: 'person_required',
      });
      assert.ok((await ledger.reconcileRequest(id, 'not_billed', person)).settled);
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 0);
      await ledger.settleRequest(id, { usage: used(25), complete: true });
      const request = await ledger.readRequest(id);
      assert.deepEqual([request?.status, request?.discrepancy], ['reported', false]);
      assert.ok((await ledger.reconcileRequest(id, { usage: used(20) }, { kind: 'import', id: 'bill' })).settled);
      assert.equal((await ledger.snapshotAccount('a')).usage.tokens, 20);
      assert.deepEqual(await ledger.verifyAccount('a'), { ok: true, accounts: 1, entries: 6 });
    },
  },
  {
    name: 'shows an unknown cost as at least what is known',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      await ledger.settleRequest(await hold(ledger, askCost('a', 500)), {
        usage: used(10),
        complete: true,
        costMicros: 400,
      });
      await ledger.settleRequest(await hold(ledger, ask('a', 10)), {
        usage: used(10),
        complete: true,
        costMicros: null,
      });
      assert.deepEqual((await ledger.snapshotAccount('a')).cost, { costMicros: 400, unpriced: 1 });
    },
  },
  {
    name: 'is part of the transaction of whoever calls its bodies',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, ask('a', 100));
      const failing = db.write(function* (ctx) {
        yield* settleRequest(ctx, id, { usage: used(5), complete: true });
        throw new Error('the caller changed its mind');
      });
      await assert.rejects(failing, /changed its mind/u);
      assert.equal((await ledger.readRequest(id))?.status, 'reserved');
    },
  },
  {
    name: 'names the first line of the journal that does not fit',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a' });
      for (let count = 0; count < 5; count += 1) await hold(ledger, ask('a', 100));
      assert.deepEqual(await ledger.verifyAccount('a'), { ok: true, accounts: 1, entries: 6 });
      const touch = (sql: string) => db.write(() => run(sql));
      await touch("UPDATE ledger_entries SET delta = '[1,99,0,100,0,1,0,0,0,0,1]' WHERE seq = 4");
      const changed = await ledger.verifyAccount('a');
      assert.ok(!changed.ok && changed.misfit.seq === 4);
      await touch("UPDATE ledger_entries SET delta = '[1,100,0,100,0,1,0,0,0,0,1]' WHERE seq = 4");
      assert.ok((await ledger.verifyAccount('a')).ok);
      const lines = await ledger.exportEntries('a');
      const { hash: _hash, ...third } = lines[2] as StoredEntry;
      const forged = entryHash(lines[1]?.hash ?? '', entryLine({ ...third, at: 5 }));
      await db.write(() => run('UPDATE ledger_entries SET at = 5, hash = ? WHERE seq = 3', [forged]));
      const rewritten = await ledger.verifyAccount('a');
      assert.ok(!rewritten.ok && rewritten.misfit.seq === 4);
      await db.write(() =>
        run('UPDATE ledger_entries SET at = ?, hash = ? WHERE seq = 3', [third.at, lines[2]?.hash ?? '']),
      );
      await touch('DELETE FROM ledger_entries WHERE seq = 6');
      const cut = await ledger.verifyAccount('a');
      assert.ok(!cut.ok && cut.misfit.seq === 6);
    },
  },
  {
    name: 'finds requests, sums and limits that were changed beside the journal',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000 } });
      await hold(ledger, ask('a', 100));
      const touch = (sql: string) => db.write(() => run(sql));
      await touch('UPDATE ledger_requests SET charged_tokens = 1');
      const requests = await ledger.verifyAccount('a');
      assert.ok(!requests.ok && /charged otherwise/u.test(requests.misfit.problem));
      await touch('UPDATE ledger_requests SET charged_tokens = 100');
      await touch('UPDATE ledger_accounts SET limits = \'{"maxTokens":5000}\'');
      const limits = await ledger.replayAccount('a');
      assert.ok(!limits.ok && /limits/u.test(limits.misfit.problem));
      await touch('UPDATE ledger_accounts SET state = \'{"kinds":{}}\'');
      const sums = await ledger.verifyAccount('a');
      assert.ok(!sums.ok && /sums/u.test(sums.misfit.problem));
    },
  },
  {
    name: 'finds an admission past a limit by replaying, although every hash fits',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000 } });
      await hold(ledger, ask('a', 600));
      const touch = (sql: string) => db.write(() => run(sql));
      await touch('UPDATE ledger_accounts SET limits = \'{"maxTokens":5000}\'');
      await hold(ledger, ask('a', 600));
      await touch('UPDATE ledger_accounts SET limits = \'{"maxTokens":1000}\'');
      assert.ok((await ledger.verifyAccount('a')).ok);
      const replay = await ledger.replayAccount('a');
      assert.ok(!replay.ok && replay.misfit.seq === 3);
    },
  },
  {
    name: 'answers charges and the sums of runs without reading the history',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a' });
      const id = await hold(ledger, askCost('a', 50, { run: 'one' }));
      await hold(ledger, ask('a', 7, { run: 'one' }));
      const { runTotals, readCharges } = await import('./reports.js');
      const totals = await db.read((ctx) => runTotals(ctx, 'a', ['one', 'two']));
      assert.deepEqual([...totals], [['one', { requests: 2, tokens: 17, costMicros: 50 }]]);
      const charges = await db.read((ctx) => readCharges(ctx, [id, 'nobody']));
      assert.deepEqual([...charges], [[id, { tokens: 10, costMicros: 50 }]]);
    },
  },
  {
    name: 'writes nothing when it reads',
    async run({ db, ledger }) {
      await ledger.createAccount({ id: 'a' });
      await hold(ledger, ask('a', 5));
      const count = () => db.read(() => one<{ n: number }>('SELECT COUNT(*) AS n FROM ledger_entries'));
      const before = [await count(), await ledger.snapshotAccount('a')];
      await ledger.verifyAccount('a');
      await ledger.replayAccount('a');
      assert.deepEqual([await count(), await ledger.snapshotAccount('a')], before);
    },
  },
];
