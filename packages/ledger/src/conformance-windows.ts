import assert from 'node:assert/strict';
import { ask, hold, type LedgerCase, person, refusalOf, used } from './conformance-kit.js';

export const windowCases: readonly LedgerCase[] = [
  {
    name: 'caps each day of a calendar and tells when the next one begins',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { windows: [{ per: 'day', maxTokens: 100 }] } });
      await hold(ledger, ask('a', 60));
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 50)));
      assert.deepEqual(
        [reason.code, reason.retryAfter, reason.stopped],
        ['window_exhausted', Date.UTC(2026, 2, 11), undefined],
      );
      time.now = Date.UTC(2026, 2, 11);
      await hold(ledger, ask('a', 100));
    },
  },
  {
    name: 'counts a request in the bucket of its reserve: a settlement adjusts that bucket and no later one',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { windows: [{ per: 'hour', maxTokens: 100 }] } });
      const first = await hold(ledger, ask('a', 90));
      await ledger.settleRequest(first, { usage: used(10), complete: true });
      const second = await hold(ledger, ask('a', 90));
      time.now += 3_600_000;
      await hold(ledger, ask('a', 100));
      await ledger.settleRequest(second, { usage: used(5), complete: true });
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).code, 'window_exhausted');
    },
  },
  {
    name: 'follows the days of a time zone, also when clocks are changed',
    async run({ ledger, time }) {
      time.now = Date.UTC(2026, 2, 29, 0, 30);
      const limits = { windows: [{ per: 'day' as const, zone: 'Europe/Berlin', maxRequests: 1 }] };
      await ledger.createAccount({ id: 'a', limits });
      await hold(ledger, ask('a', 1));
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1)));
      assert.equal(reason.retryAfter, Date.UTC(2026, 2, 29, 22));
    },
  },
  {
    name: 'goes on filling the newest bucket when the clock jumps back',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { windows: [{ per: 'minute', maxRequests: 1 }] } });
      await hold(ledger, ask('a', 1));
      const next = time.now + 60_000;
      time.now -= 3_600_000;
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1)));
      assert.deepEqual([reason.code, reason.retryAfter], ['window_exhausted', next]);
    },
  },
  {
    name: 'tells of a bucket that a clock that was ahead began, and what a person can do not to wait for it',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { windows: [{ per: 'day', maxRequests: 1 }] } });
      const now = time.now;
      time.now += 400 * 86_400_000;
      await hold(ledger, ask('a', 1));
      time.now = now;
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1)));
      assert.deepEqual([reason.code, reason.retryAfter], ['window_exhausted', Date.UTC(2027, 3, 15)]);
      assert.match(reason.message, /2027-04-14.*clock.*ahead.*extends the caps/u);
      const additions = { windows: [{ per: 'day' as const, maxRequests: 1 }] };
      const { revision } = await ledger.snapshotAccount('a');
      assert.ok((await ledger.extendAccount('a', { revision, additions, actor: person })).changed);
      await hold(ledger, ask('a', 1));
      assert.ok((await ledger.replayAccount('a')).ok);
    },
  },
  {
    name: 'takes a zone in whatever capitals and UTC by whatever name for one calendar',
    async run({ ledger }) {
      const day = (zone?: string) => ({ per: 'day' as const, maxTokens: 5, ...(zone === undefined ? {} : { zone }) });
      for (const [one, other] of [['utc'], ['UTC', 'Etc/UTC'], ['europe/berlin', 'Europe/Berlin']] as const)
        await assert.rejects(ledger.createAccount({ id: 'a', limits: { windows: [day(one), day(other)] } }), {
          code: 'invalid_limits',
        });
      await ledger.createAccount({ id: 'a', limits: { windows: [day('europe/BERLIN'), day('Etc/UTC')] } });
      const { limits, revision } = await ledger.snapshotAccount('a');
      assert.deepEqual(
        limits.windows?.map(({ zone }) => zone),
        ['Europe/Berlin', 'UTC'],
      );
      const additions = { windows: [day('EUROPE/berlin'), day()] };
      assert.ok((await ledger.extendAccount('a', { revision, additions, actor: person })).changed);
    },
  },
  {
    name: 'lowers no window that is not named: no line, no revision',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { windows: [{ per: 'day', maxTokens: 5 }] } });
      const { revision } = await ledger.snapshotAccount('a');
      const nothing = { windows: [] };
      const invalid = { code: 'invalid_limits' };
      await assert.rejects(ledger.lowerAccount('a', { revision, limits: nothing, actor: person }), invalid);
      await assert.rejects(ledger.extendAccount('a', { revision, additions: nothing, actor: person }), invalid);
      assert.equal((await ledger.snapshotAccount('a')).revision, revision);
      assert.equal((await ledger.exportEntries('a')).length, 1);
    },
  },
  {
    name: 'settles in the bucket of the reserve although the clock had jumped back',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { windows: [{ per: 'minute', maxTokens: 100 }] } });
      await hold(ledger, ask('a', 10));
      time.now -= 3_600_000;
      const id = await hold(ledger, ask('a', 80));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 20))).code, 'window_exhausted');
      await ledger.settleRequest(id, { usage: used(5), complete: true });
      await hold(ledger, ask('a', 85));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).code, 'window_exhausted');
      assert.ok((await ledger.replayAccount('a')).ok);
    },
  },
  {
    name: "raises and lowers a window's caps for a person, never below what its bucket was charged",
    async run({ ledger, time }) {
      const day = { per: 'day', zone: 'Europe/Berlin' } as const;
      await ledger.createAccount({ id: 'a', limits: { windows: [{ ...day, maxTokens: 100 }] } });
      await hold(ledger, ask('a', 90));
      const extend = (windows: readonly object[]) =>
        ledger.extendAccount('a', { revision: 1, additions: { windows } as never, actor: person });
      for (const windows of [
        [],
        [{ ...day, maxTokens: 0 }],
        [{ ...day, maxRequests: 1 }],
        [{ per: 'hour', maxTokens: 1 }],
        [{ per: 'day', maxTokens: 1 }],
        [{ ...day, maxToken: 1 }],
      ])
        await assert.rejects(extend(windows), { code: 'invalid_limits' });
      assert.ok((await extend([{ ...day, maxTokens: 20 }])).changed);
      await hold(ledger, ask('a', 30));
      const lower = (caps: object, revision = 2) =>
        ledger.lowerAccount('a', { revision, limits: { windows: [{ ...day, ...caps }] } as never, actor: person });
      await assert.rejects(lower({ maxTokens: 119 }), { code: 'invalid_limits' });
      await assert.rejects(lower({ maxTokens: 121 }), { code: 'invalid_limits' });
      await assert.rejects(lower({ maxRequests: 1 }), { code: 'invalid_limits' });
      assert.ok((await lower({ maxTokens: 120, maxRequests: 2 })).changed);
      time.now += 24 * 3_600_000;
      assert.ok((await lower({ maxTokens: 40 }, 3)).changed);
      await hold(ledger, ask('a', 40));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).limit, 40);
      assert.deepEqual((await ledger.snapshotAccount('a')).limits.windows, [{ ...day, maxTokens: 40, maxRequests: 2 }]);
      assert.ok((await ledger.replayAccount('a')).ok);
    },
  },
  {
    name: 'binds the children of the account that has the window',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'root', limits: { windows: [{ per: 'day', maxRequests: 2 }] } });
      await ledger.createAccount({ id: 'one', parent: 'root' });
      await ledger.createAccount({ id: 'two', parent: 'root' });
      await hold(ledger, ask('one', 1));
      await hold(ledger, ask('two', 1));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('one', 1))).account, 'root');
    },
  },
  {
    name: 'enforces a backoff that doubles after each failure in a row, and ends it at a success',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a' });
      const delays: number[] = [];
      for (let count = 0; count < 11; count += 1)
        delays.push((await ledger.recordFailure('a', 'planner')).retryAfter - time.now);
      assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 256_000, 256_000]);
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1, { driver: 'planner' })));
      assert.deepEqual([reason.code, reason.retryAfter], ['backing_off', time.now + 256_000]);
      await hold(ledger, ask('a', 1, { driver: 'another' }));
      time.now += 256_000;
      await hold(ledger, ask('a', 1, { driver: 'planner' }));
      assert.equal(await ledger.recordSuccess('a', 'planner'), true);
      assert.equal(await ledger.recordSuccess('a', 'planner'), false);
      assert.equal((await ledger.recordFailure('a', 'planner')).failures, 1);
    },
  },
  {
    name: 'stops the account at the maximum of failures in a row, and resumes only when a person raised it',
    async run({ ledger }) {
      const actor = { kind: 'person', id: 'ada' } as const;
      await ledger.createAccount({ id: 'a', limits: { maxConsecutiveFailures: 2 } });
      assert.equal((await ledger.recordFailure('a', 'planner')).stopped, false);
      assert.equal((await ledger.recordFailure('a', 'planner')).stopped, true);
      const { revision } = await ledger.snapshotAccount('a');
      const refused = await ledger.resumeAccount('a', { revision, actor });
      assert.ok(!refused.resumed && refused.reason.code === 'failures_exhausted');
      const raised = await ledger.extendAccount('a', { revision, additions: { maxConsecutiveFailures: 1 }, actor });
      assert.ok((await ledger.resumeAccount('a', { revision: raised.revision, actor })).resumed);
      await hold(ledger, ask('a', 1, { driver: 'planner' }));
    },
  },
  {
    name: 'gives a deferred attempt back with a backoff, ten times in a row',
    async run({ ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { maxAttempts: 1 } });
      for (let count = 0; count < 11; count += 1) {
        const run = `run${count}`;
        await hold(ledger, ask('a', 1, { attempt: { subject: 'step', run } }));
        time.now = await ledger.deferAttempt('a', { subject: 'step', run });
        if (count > 0) continue;
        time.now -= 1;
        assert.equal(
          refusalOf(await ledger.reserveRequest(ask('a', 1, { attempt: { subject: 'step', run: 'early' } }))).code,
          'backing_off',
        );
        time.now += 1;
      }
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1, { attempt: { subject: 'step', run: 'last' } })));
      assert.equal(reason.code, 'attempts_exhausted');
    },
  },
];
