/** A journal in which one admission was not right, although every hash and sum fits: for each check of admission, one. */
import assert from 'node:assert/strict';
import { all, type Database, run } from '@stint/storage';
import { ask, askCost, hold, type Kit, type LedgerCase, person } from './conformance-kit.js';
import { replayAccount } from './replay.js';
import { type ReserveInput, reserveRequest } from './reserve.js';
import type { Limits } from './types.js';

interface Forgery {
  readonly check: string;
  readonly limits: Limits;
  /** What is held before, by the book. */
  readonly before?: readonly Partial<ReserveInput>[];
  readonly prepare?: (kit: Kit) => Promise<unknown>;
  /** What admission would refuse. */
  readonly refused: Partial<ReserveInput>;
  /** Makes the store admit it. */
  readonly cheat?: (db: Database) => Promise<unknown>;
}

const looseLimits = (db: Database) => db.write(() => run("UPDATE ledger_accounts SET limits = '{}' WHERE id = 'a'"));
const openStatus = (db: Database) =>
  db.write(() => run("UPDATE ledger_accounts SET status = 'open', stop_reason = NULL WHERE id = 'a'"));
const subject = (runId: string) => ({ attempt: { subject: 'step', run: runId } });

/** Forgets the drivers' backoffs, which stand in the account's state. */
async function forgetBackoffs(db: Database): Promise<void> {
  const [row] = await db.read(() => all<{ state: string }>("SELECT state FROM ledger_accounts WHERE id = 'a'"));
  const { drivers: _drivers, ...state } = JSON.parse(row?.state ?? '{}') as Record<string, unknown>;
  await db.write(() => run("UPDATE ledger_accounts SET state = ? WHERE id = 'a'", [JSON.stringify(state)]));
}

const forgeries: readonly Forgery[] = [
  { check: 'tokens', limits: { maxTokens: 50 }, before: [{}], refused: { estimate: { tokens: 41, costMicros: null } } },
  { check: 'requests', limits: { maxRequests: 1 }, before: [{}], refused: {} },
  { check: 'cost', limits: { maxCostMicros: 5 }, refused: { estimate: { tokens: 1, costMicros: 6 } } },
  { check: 'price', limits: { maxCostMicros: 5 }, refused: {} },
  { check: 'concurrency', limits: { maxConcurrentRequests: 1 }, before: [{}], refused: {} },
  { check: 'runs', limits: { maxRunRequests: 1 }, before: [{ run: 'one' }], refused: { run: 'one' } },
  { check: 'attempts', limits: { maxAttempts: 1 }, before: [subject('one')], refused: subject('two') },
  { check: 'windows', limits: { windows: [{ per: 'day', maxRequests: 1 }] }, before: [{}], refused: {} },
  {
    check: 'protection',
    limits: { maxTokens: 100, protected: { coordinator: { tokens: 60 } } },
    before: [{}, {}, {}, {}],
    refused: {},
  },
  {
    check: 'backoffs of drivers',
    limits: {},
    prepare: ({ ledger }) => ledger.recordFailure('a', 'planner'),
    refused: { driver: 'planner' },
    cheat: forgetBackoffs,
  },
  {
    check: 'deferrals',
    limits: {},
    before: [subject('one')],
    prepare: ({ ledger }) => ledger.deferAttempt('a', { subject: 'step', run: 'one' }),
    refused: subject('two'),
    cheat: (db) => db.write(() => run('UPDATE ledger_subjects SET retry_after = 0')),
  },
  {
    check: 'stops',
    limits: {},
    prepare: ({ ledger }) => ledger.stopAccount('a', { code: 'paused', actor: person }),
    refused: {},
    cheat: openStatus,
  },
  { check: 'closing', limits: {}, prepare: ({ ledger }) => ledger.closeAccount('a'), refused: {}, cheat: openStatus },
];

function inputOf(more: Partial<ReserveInput>): ReserveInput {
  return { ...ask('a', 10), ...more };
}

/** Asks and takes it back, so that the refusal leaves no stop in the journal. */
async function refuseHonestly(db: Database, input: ReserveInput): Promise<void> {
  const asking = db.write(function* (ctx) {
    throw new Error(`allowed: ${(yield* reserveRequest(ctx, input)).allowed}`);
  });
  await assert.rejects(asking, { message: 'allowed: false' });
}

async function forge(kit: Kit, forgery: Forgery): Promise<string> {
  const { db, ledger } = kit;
  await ledger.createAccount({ id: 'a', limits: forgery.limits });
  for (const each of forgery.before ?? []) await hold(ledger, inputOf(each));
  await forgery.prepare?.(kit);
  const input = inputOf(forgery.refused);
  await refuseHonestly(db, input);
  assert.ok((await ledger.replayAccount('a')).ok, forgery.check);
  const lines = await ledger.exportEntries('a');
  await (forgery.cheat ?? looseLimits)(db);
  return `${lines.length + 1} ${await hold(ledger, input)}`;
}

export const replayCases: readonly LedgerCase[] = [
  ...forgeries.map(
    (forgery): LedgerCase => ({
      name: `finds by replaying an admission against the check of ${forgery.check}`,
      async run(kit) {
        const [line, id] = (await forge(kit, forgery)).split(' ');
        assert.ok((await kit.ledger.verifyAccount('a')).ok);
        const replay = await kit.ledger.replayAccount('a');
        assert.ok(!replay.ok);
        assert.equal(replay.misfit.seq, Number(line));
        assert.match(replay.misfit.problem, new RegExp(`${id} was admitted, but`, 'u'));
      },
    }),
  ),
  {
    name: 'replays what was admitted, refused, stopped, deferred and given anew without a finding, and finds rows that were changed after',
    async run({ db, ledger, time }) {
      await ledger.createAccount({ id: 'a', limits: { maxTokens: 1000, windows: [{ per: 'hour', maxTokens: 500 }] } });
      await ledger.createAccount({ id: 'b', parent: 'a', limits: { maxAttempts: 2 } });
      await hold(ledger, ask('b', 10, { ...subject('one'), run: 'one', driver: 'd' }));
      await ledger.deferAttempt('b', { subject: 'step', run: 'one' });
      time.now += 5000;
      await hold(ledger, ask('b', 10, subject('two')));
      await ledger.restartAttempts('b', { subject: 'step', actor: person });
      await ledger.addAttempts('b', { subject: 'step', additions: 2, actor: person });
      await ledger.closeSubject('b', 'step');
      await ledger.recordFailure('b', 'd');
      await ledger.stopAccount('b', { code: 'over', details: { at: new Date(0), nothing: undefined } });
      await ledger.stopAccount('b', { code: 'cancelled', actor: person });
      await ledger.resumeAccount('b', { revision: 3, actor: person });
      await hold(ledger, askCost('a', 10));
      assert.deepEqual(await ledger.replayAccount('a'), { ok: true, accounts: 2, entries: 13 });
      const changes: readonly (readonly [string, RegExp])[] = [
        ["UPDATE ledger_accounts SET revision = revision + 1 WHERE id = 'b'", /revision/u],
        ["UPDATE ledger_accounts SET stop_reason = '{}' WHERE id = 'b'", /stop reason/u],
        ['UPDATE ledger_subjects SET attempts = 0 - 1', /attempts/u],
        ['UPDATE ledger_subjects SET closed = 0', /attempts/u],
      ];
      for (const [sql, problem] of changes) {
        const failing = db.write(function* (ctx) {
          yield* run(sql);
          const found = yield* replayAccount(ctx, 'a');
          throw new Error(found.ok ? 'found nothing' : found.misfit.problem);
        });
        await assert.rejects(failing, { message: problem });
      }
    },
  },
];
