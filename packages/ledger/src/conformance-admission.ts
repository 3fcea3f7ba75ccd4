import assert from 'node:assert/strict';
import { ask, askCost, hold, type LedgerCase, nextId, refusalOf, used } from './conformance-kit.js';

export const admissionCases: readonly LedgerCase[] = [
  {
    name: 'admits exactly maxRequests requests and then stops the account',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxRequests: 3 } });
      for (let count = 0; count < 3; count += 1) await hold(ledger, ask('a', 1));
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1)));
      assert.deepEqual([reason.code, reason.limit, reason.stopped], ['requests_exhausted', 3, true]);
      assert.equal((await ledger.snapshotAccount('a')).status, 'stopped');
    },
  },
  {
    name: 'admits a request that reaches maxTokens exactly, and none that passes it by one',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000 } });
      await ledger.createAccount({ id: 'b', limits: { maxTokens: 1000 } });
      await hold(ledger, ask('a', 1000));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('b', 1001))).code, 'tokens_exhausted');
    },
  },
  {
    name: 'denies everything at a limit of 0, at every scope',
    async run({ ledger }) {
      const codes: Record<string, string> = {
        maxRequests: 'requests_exhausted',
        maxTokens: 'tokens_exhausted',
        maxCostMicros: 'cost_exhausted',
        maxRunRequests: 'run_requests_exhausted',
        maxAttempts: 'attempts_exhausted',
        maxConcurrentRequests: 'concurrency_exhausted',
      };
      for (const [limit, code] of Object.entries(codes)) {
        await ledger.createAccount({ id: limit, limits: { [limit]: 0 } });
        const input = askCost(limit, 5, { run: 'run', attempt: { subject: 'step', run: 'run' } });
        assert.equal(refusalOf(await ledger.reserveRequest(input)).code, code);
      }
    },
  },
  {
    name: 'has no limits of its own unless they are given',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      for (let count = 0; count < 50; count += 1) await hold(ledger, ask('a', 1_000_000));
      assert.deepEqual((await ledger.snapshotAccount('a')).remaining, {
        requests: null,
        tokens: null,
        costMicros: null,
      });
    },
  },
  {
    name: 'answers a repeated id without a second hold, and a repeated id with other facts with a conflict',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000 } });
      const input = ask('a', 600);
      await hold(ledger, input);
      assert.equal(refusalOf(await ledger.reserveRequest(input)).code, 'request_already_reserved');
      assert.equal(refusalOf(await ledger.reserveRequest({ ...input, kind: 'other' })).code, 'request_conflict');
      assert.equal(refusalOf(await ledger.reserveRequest({ ...ask('a', 1), id: input.id })).code, 'request_conflict');
      const { usage, status } = await ledger.snapshotAccount('a');
      assert.deepEqual([usage.requests, usage.tokens, status], [1, 600, 'open']);
    },
  },
  {
    name: 'tells a repeated id as such although the account is stopped by now',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      const input = ask('a', 1);
      await hold(ledger, input);
      await ledger.stopAccount('a', { code: 'paused' });
      assert.equal(refusalOf(await ledger.reserveRequest(input)).code, 'request_already_reserved');
    },
  },
  {
    name: 'refuses an account that does not exist, and one that is closed',
    async run({ ledger }) {
      assert.equal(refusalOf(await ledger.reserveRequest(ask('nobody', 1))).code, 'account_unknown');
      await ledger.createAccount({ id: 'a' });
      assert.equal(await ledger.closeAccount('a'), true);
      assert.equal(await ledger.closeAccount('a'), false);
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).code, 'account_closed');
    },
  },
  {
    name: 'counts the requests of one run, and stops nothing when they are used up',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxRunRequests: 2 } });
      await hold(ledger, ask('a', 1, { run: 'one' }));
      await hold(ledger, ask('a', 1, { run: 'one' }));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1, { run: 'one' }))).code, 'run_requests_exhausted');
      await hold(ledger, ask('a', 1, { run: 'two' }));
      await hold(ledger, ask('a', 1));
    },
  },
  {
    name: 'tells a refusal that only holds in flight cause, stops nothing then, and admits once they settle below',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000 } });
      const id = await hold(ledger, ask('a', 900));
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 200)));
      assert.deepEqual([reason.code, reason.heldByOthers, reason.stopped], ['tokens_exhausted', true, undefined]);
      await ledger.settleRequest(id, { usage: used(100), complete: true });
      await hold(ledger, ask('a', 200));
    },
  },
  {
    name: 'stops the asking account when an ancestor is full, names the ancestor and keeps the refused estimate',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'team', limits: { maxTokens: 1000 } });
      await ledger.createAccount({ id: 'one', parent: 'team' });
      await ledger.createAccount({ id: 'two', parent: 'team' });
      const id = await hold(ledger, ask('one', 900));
      await ledger.settleRequest(id, { usage: used(900), complete: true });
      const reason = refusalOf(await ledger.reserveRequest(ask('two', 200)));
      assert.deepEqual([reason.code, reason.account], ['tokens_exhausted', 'team']);
      const two = await ledger.snapshotAccount('two');
      assert.deepEqual(
        [two.status, two.stopReason?.account, two.stopReason?.estimate?.tokens],
        ['stopped', 'team', 200],
      );
      assert.equal((await ledger.snapshotAccount('team')).status, 'open');
      await hold(ledger, ask('one', 100));
    },
  },
  {
    name: 'stops an ancestor that is full itself',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'team', limits: { maxTokens: 1000 } });
      await ledger.createAccount({ id: 'one', parent: 'team' });
      const id = await hold(ledger, ask('one', 1000));
      await ledger.settleRequest(id, { usage: used(1000), complete: true });
      await ledger.reserveRequest(ask('one', 1));
      assert.equal((await ledger.snapshotAccount('team')).status, 'stopped');
    },
  },
  {
    name: 'keeps what is protected for a kind from the others, and stops nothing for it',
    async run({ ledger }) {
      const limits = { maxTokens: 1000, maxRequests: 10, protected: { coordinator: { tokens: 300, requests: 2 } } };
      await ledger.createAccount({ id: 'a', limits });
      await hold(ledger, ask('a', 700));
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 1)));
      assert.deepEqual([reason.code, reason.scope, reason.stopped], ['tokens_exhausted', 'kind', undefined]);
      await hold(ledger, ask('a', 200, { kind: 'coordinator' }));
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 1))).scope, 'kind');
      await hold(ledger, ask('a', 100, { kind: 'coordinator' }));
      assert.equal((await ledger.snapshotAccount('a')).status, 'open');
    },
  },
  {
    name: 'protects no more than its share of the limit',
    async run({ ledger }) {
      const limits = { maxTokens: 1000, protected: { coordinator: { tokens: 100_000, maxPercent: 25 } } };
      await ledger.createAccount({ id: 'a', limits });
      assert.equal(refusalOf(await ledger.reserveRequest(ask('a', 751))).scope, 'kind');
      await hold(ledger, ask('a', 750));
    },
  },
  {
    name: 'admits as many requests at a time as maxConcurrentRequests says, and the next when one has ended',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxConcurrentRequests: 1 } });
      const id = await hold(ledger, ask('a', 5));
      const reason = refusalOf(await ledger.reserveRequest(ask('a', 5)));
      assert.deepEqual([reason.code, reason.heldByOthers], ['concurrency_exhausted', true]);
      await ledger.markRequestUnknown(id);
      await hold(ledger, ask('a', 5));
    },
  },
  {
    name: 'checks leaf before root, and each check at all levels before the next',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'root', limits: { maxRequests: 0, maxTokens: 0 } });
      await ledger.createAccount({ id: 'leaf', parent: 'root', limits: { maxTokens: 0 } });
      const reason = refusalOf(await ledger.reserveRequest(ask('leaf', 1)));
      assert.deepEqual([reason.code, reason.account], ['requests_exhausted', 'root']);
    },
  },
  {
    name: 'counts an attempt with its first admitted request, once for each run and never for one that continues',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxAttempts: 2 } });
      const attempt = (run: string, continues?: string) =>
        ask('a', 1, { run, attempt: { subject: 'step', run, ...(continues === undefined ? {} : { continues }) } });
      await hold(ledger, attempt('one'));
      await hold(ledger, attempt('one'));
      await hold(ledger, attempt('one again', 'one'));
      assert.equal((await ledger.snapshotAccount('a')).subjects[0]?.attempts, 1);
      await hold(ledger, attempt('two'));
      const reason = refusalOf(await ledger.reserveRequest(attempt('three')));
      assert.deepEqual([reason.code, reason.limit], ['attempts_exhausted', 2]);
      assert.equal((await ledger.snapshotAccount('a')).status, 'open');
    },
  },
  {
    name: "takes the lower of a subject's own maximum and the limit",
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxAttempts: 2 } });
      const attempt = (subject: string, run: string, maxAttempts: number) =>
        ask('a', 1, { attempt: { subject, run, maxAttempts } });
      await hold(ledger, attempt('low', 'run1', 1));
      assert.equal(refusalOf(await ledger.reserveRequest(attempt('low', 'run2', 1))).limit, 1);
      await hold(ledger, attempt('high', 'run1', 9));
      await hold(ledger, attempt('high', 'run2', 9));
      assert.equal(refusalOf(await ledger.reserveRequest(attempt('high', 'run3', 9))).limit, 2);
    },
  },
  {
    name: 'refuses estimates, kinds and ids that are none, and holds nothing',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a' });
      for (const tokens of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
        await assert.rejects(ledger.reserveRequest(ask('a', tokens)), { code: 'invalid_estimate' });
      }
      await assert.rejects(ledger.reserveRequest(ask('a', 1, { kind: '__proto__' })), { code: 'invalid_input' });
      await assert.rejects(ledger.reserveRequest(ask('a', 1, { id: '' })), { code: 'invalid_input' });
      await hold(ledger, ask('a', 1, { kind: 'constructor' }));
      assert.equal((await ledger.snapshotAccount('a')).usage.requests, 1);
    },
  },
  {
    name: 'lets a request wait for room and wakes it when a hold settles',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      const id = await hold(ledger, ask('a', 100));
      const waiting = ledger.reserveWhenRoom(ask('a', 60), { timeoutMs: 20_000 });
      await ledger.settleRequest(id, { usage: used(40), complete: true });
      assert.equal((await waiting).allowed, true);
      await ledger.createAccount({ id: 'one at a time', limits: { maxConcurrentRequests: 1 } });
      const open = await hold(ledger, ask('one at a time', 1));
      const next = ledger.reserveWhenRoom(ask('one at a time', 1), { timeoutMs: 20_000 });
      await ledger.markRequestUnknown(open);
      assert.equal((await next).allowed, true);
    },
  },
  {
    name: 'wakes a request that waits in another process within its poll',
    async run(kit) {
      await kit.ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      const id = await hold(kit.ledger, ask('a', 100));
      const other = await kit.another();
      const waiting = other.ledger.reserveWhenRoom(ask('a', 60), { timeoutMs: 20_000 });
      await kit.ledger.releaseRequest(id, 'not_sent');
      assert.equal((await waiting).allowed, true);
    },
  },
  {
    name: 'ends a wait with the refusal when its signal aborts',
    async run({ ledger }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 100 } });
      await hold(ledger, ask('a', 100));
      const reason = refusalOf(await ledger.reserveWhenRoom(ask('a', 60), { signal: AbortSignal.abort() }));
      assert.equal(reason.heldByOthers, true);
    },
  },
  {
    name: 'recognises a creation that is repeated, also after its limits were extended, and refuses another one',
    async run({ ledger }) {
      const input = { id: 'a', limits: { maxTokens: 100 } };
      assert.equal(await ledger.createAccount(input), true);
      await ledger.extendAccount('a', {
        revision: 1,
        additions: { maxTokens: 5 },
        actor: { kind: 'person', id: 'ada' },
      });
      assert.equal(await ledger.createAccount(input), false);
      await assert.rejects(ledger.createAccount({ ...input, limits: { maxTokens: 99 } }), { code: 'account_exists' });
      await assert.rejects(ledger.createAccount({ id: nextId(), parent: 'nobody' }), { code: 'account_unknown' });
      assert.equal((await ledger.snapshotAccount('a')).limits.maxTokens, 105);
    },
  },
];
