import assert from 'node:assert/strict';
import { ask, hold, inTime, type LedgerCase, person, refusalOf, used } from './conformance-kit.js';
import type { StopNotice } from './stop-watch.js';
import type { Actor } from './types.js';

const model: Actor = { kind: 'system', id: 'a model that asks nicely' };

export const peopleCases: readonly LedgerCase[] = [
  {
    name: 'lets only a person extend, lower, resume and add attempts',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      await ledger.stopAccount('a', { code: 'paused', actor: person });
      const before = await ledger.snapshotAccount('a');
      for (const actor of [model, { kind: 'import', id: 'bill' } as Actor]) {
        const denied = { code: 'person_required' };
        await assert.rejects(ledger.extendAccount('a', { revision: 2, additions: { maxTokens: 1 }, actor }), denied);
        await assert.rejects(ledger.lowerAccount('a', { revision: 2, limits: { maxTokens: 1 }, actor }), denied);
        await assert.rejects(ledger.resumeAccount('a', { revision: 2, actor }), denied);
        await assert.rejects(ledger.addAttempts('a', { subject: 's', additions: 1, actor }), denied);
        await assert.rejects(ledger.restartAttempts('a', { subject: 's', actor }), denied);
      }
      await assert.rejects(ledger.resumeAccount('a', { revision: 2, actor: { kind: 'god', id: 'x' } as never }), {
        code: 'invalid_actor',
      });
      assert.deepEqual(await ledger.snapshotAccount('a'), before);
    },
  },
  {
    name: 'extends by compare-and-set, and does not resume by it',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      const id = await hold(ledger, ask('a', 100));
      await ledger.settleRequest(id, { usage: used(100), complete: true });
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 50))).stopped, true);
      const { revision } = await ledger.snapshotAccount('a');
      const stale = await ledger.extendAccount('a', {
        revision: revision - 1,
        additions: { maxTokens: 60 },
        actor: person,
      });
      assert.deepEqual(stale, { changed: false, reason: 'revision_conflict', revision });
      const first = await ledger.resumeAccount('a', { revision, actor: person });
      assert.ok(!first.resumed && first.reason.code === 'tokens_exhausted');
      const extended = await ledger.extendAccount('a', { revision, additions: { maxTokens: 60 }, actor: person });
      assert.equal((await ledger.snapshotAccount('a')).status, 'stopped');
      assert.ok((await ledger.resumeAccount('a', { revision: extended.revision, actor: person })).resumed);
      await hold(ledger, ask('a', 60));
    },
  },
  {
    name: 'refuses extensions that are empty, unknown, not positive integers, or of a limit that is not there',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      const extend = (additions: Record<string, unknown>) =>
        ledger.extendAccount('a', { revision: 1, additions, actor: person });
      for (const additions of [
        {},
        { maxTokns: 5 },
        { maxTokens: 0 },
        { maxTokens: -1 },
        { maxTokens: 0.5 },
        { maxTokens: '5' },
        { maxRequests: 1 },
      ]) {
        await assert.rejects(extend(additions), { code: 'invalid_limits' });
      }
      await assert.rejects(extend({ maxTokens: Number.MAX_SAFE_INTEGER }), { code: 'number_out_of_range' });
    },
  },
  {
    name: 'lowers a limit, never below what is charged and held, and may set one that was absent',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000 } });
      await hold(ledger, ask('a', 400));
      const lower = (limits: Record<string, number>) =>
        ledger.lowerAccount('a', { revision: 1, limits, actor: person });
      await assert.rejects(lower({ maxTokens: 399 }), { code: 'invalid_limits' });
      await assert.rejects(lower({ maxTokens: 1001 }), { code: 'invalid_limits' });
      await assert.rejects(lower({}), { code: 'invalid_limits' });
      assert.ok((await lower({ maxTokens: 400, maxRequests: 5 })).changed);
      assert.deepEqual((await ledger.snapshotAccount('a')).remaining, { requests: 4, tokens: 0, costMicros: null });
    },
  },
  {
    name: 'lets the first reason of a stop stand, and keeps the later ones in the journal',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      assert.equal((await ledger.stopAccount('a', { code: 'over_limit' })).stopped, true);
      const second = await ledger.stopAccount('a', { code: 'cancelled', actor: person });
      assert.deepEqual([second.stopped, second.reason?.code, second.reason?.aborts], [false, 'over_limit', true]);
      const codes = (await ledger.exportEntries('a')).map(({ details }) => (details as { code?: string }).code);
      assert.deepEqual(codes, [undefined, 'over_limit', 'cancelled']);
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).code, 'over_limit');
    },
  },
  {
    name: 'stops what is beneath a stopped account, and settles what is in flight there',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'team' });
      await ledger.createAccount({ id: 'a', parent: 'team' });
      const id = await hold(ledger, ask('a', 10));
      await ledger.stopAccount('team', { code: 'paused', actor: person });
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1)));
      assert.deepEqual([reason.code, reason.account], ['paused', 'team']);
      assert.ok((await ledger.settleRequest(id, { usage: used(3), complete: true })).settled);
      assert.equal((await ledger.snapshotAccount('a')).blockedBy?.account, 'team');
    },
  },
  {
    name: 'tells subscribers of a stop, whether it aborts, and once each; those of other processes too',
    async run(kit) {
      await kit.ledger.createAccount({ id: 'team' });
      await kit.ledger.createAccount({ id: 'a', parent: 'team' });
      const other = await kit.another();
      const notices: StopNotice[] = [];
      const told = new Promise<void>((resolve) => {
        const seen = (notice: StopNotice): void => {
          notices.push(notice);
          if (notices.length === 2) resolve();
        };
        kit.ledger.onStop('a', seen);
        other.ledger.onStop('a', seen);
      });
      await kit.ledger.stopAccount('team', { code: 'paused', actor: person });
      await inTime(told);
      assert.deepEqual(
        notices.map(({ account, stoppedAccount, reason }) => [account, stoppedAccount, reason.aborts]),
        [
          ['a', 'team', true],
          ['a', 'team', true],
        ],
      );
    },
  },
  {
    name: 'starts attempts anew or adds to them for a person',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxAttempts: 1 } });
      const attempt = (run: string) => ask('a', 1, { attempt: { subject: 'step', run } });
      await hold(ledger, attempt('one'));
      assert.equal(refusalOf(await ledger.reserveRequest(attempt('two'))).code, 'attempts_exhausted');
      await ledger.addAttempts('a', { subject: 'step', additions: 1, actor: person });
      await hold(ledger, attempt('two'));
      assert.equal(refusalOf(await ledger.reserveRequest(attempt('three'))).limit, 2);
      await ledger.restartAttempts('a', { subject: 'step', actor: person });
      await hold(ledger, attempt('three'));
      const [subject] = (await ledger.snapshotAccount('a')).subjects;
      assert.deepEqual([subject?.attempts, subject?.maximum, subject?.generation], [1, 1, 1]);
      await ledger.closeSubject('a', 'step');
      assert.equal((await ledger.readAttempts('a', 'step')).attempts, 1);
      assert.equal((await ledger.readAttempts('a', 'another')).attempts, 0);
      assert.deepEqual((await ledger.snapshotAccount('a')).subjects, []);
    },
  },
  {
    name: 'refuses a resume that is stale, or of an account that is not stopped',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const open = await ledger.resumeAccount('a', { revision: 1, actor: person });
      assert.ok(!open.resumed && open.reason.code === 'not_stopped');
      await ledger.stopAccount('a', { code: 'paused' });
      const stale = await ledger.resumeAccount('a', { revision: 1, actor: person });
      assert.ok(!stale.resumed && stale.reason.code === 'revision_conflict');
      assert.ok((await ledger.resumeAccount('a', { revision: 2, actor: person })).resumed);
    },
  },
];
