/** Every statement that the ledger sends is caught on its way and explained, those too that are put together when they run. */
import { all, type Body, type Database, type Transaction } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import { expect, it } from 'vitest';
import { ask, hold, person, used } from './conformance-kit.js';
import { findStop } from './find-stop.js';
import { createLedger, type Ledger } from './ledger.js';
import { readCharges, runTotals } from './reports.js';
import { ledgerMigrations } from './schema.js';

/** Beginning of a statement, and why it may read what it scans whole. */
const readsHistory: Readonly<Record<string, string>> = {
  'SELECT account, kind, COUNT(*)': 'verify: proves the sums of all requests by adding them up again',
  'SELECT model, COUNT(*)': 'estimateReport: a report over the whole history, not for the hot path',
};

/** True for a step that walks a table or an index from end to end, or from one id to the end; the index of open reservations stays small. */
function readsWhole(step: string): boolean {
  if (/INDEX ledger_requests_open/u.test(step)) return false;
  return /^SCAN \w/u.test(step) || /USING PRIMARY KEY \(\w+>\?\)/u.test(step);
}

/** The statements that bodies of this database send, once each. */
function recorded(db: Database, statements: Set<string>): Database {
  const record =
    <T>(body: Body<T>): Body<T> =>
    (ctx) =>
      traced(body(ctx), statements);
  return new Proxy(db, {
    get(target, key) {
      if (key === 'write' || key === 'read') return <T>(body: Body<T>) => target[key](record(body));
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function* traced<T>(body: Transaction<T>, statements: Set<string>): Transaction<T> {
  let step = body.next();
  while (step.done !== true) {
    if (/^(?:SELECT|UPDATE|DELETE)\s/u.test(step.value.sql)) statements.add(step.value.sql);
    step = body.next(yield step.value);
  }
  return step.value;
}

async function callEverything(ledger: Ledger, db: Database): Promise<void> {
  const attempt = (run: string) => ({ run, driver: 'd', attempt: { subject: 'step', run } });
  await ledger.createAccount({ id: 'root', limits: { maxTokens: 1000 } });
  await ledger.createAccount({ id: 'a', parent: 'root', limits: { maxRunRequests: 9, maxAttempts: 3 } });
  const first = await hold(ledger, ask('a', 10, attempt('one')));
  await ledger.reserveRequest(ask('a', 10, { id: first }));
  await ledger.settleRequest(first, { usage: used(20), complete: true });
  const second = await hold(ledger, ask('a', 10, attempt('two')));
  await ledger.releaseRequest(second, 'refused');
  await ledger.markRequestUnknown(await hold(ledger, ask('a', 10)));
  await ledger.reconcileRequest(second, { usage: used(3) }, person);
  await ledger.recordFailure('a', 'd');
  await ledger.recordSuccess('a', 'd');
  await ledger.deferAttempt('a', { subject: 'step', run: 'two' });
  await ledger.addAttempts('a', { subject: 'step', additions: 1, actor: person });
  await ledger.restartAttempts('a', { subject: 'step', actor: person });
  await ledger.readAttempts('a', 'step');
  await ledger.closeSubject('a', 'step');
  await ledger.extendAccount('root', { revision: 1, additions: { maxTokens: 5 }, actor: person });
  await ledger.lowerAccount('root', { revision: 2, limits: { maxTokens: 900 }, actor: person });
  await ledger.stopAccount('a', { code: 'paused', actor: person });
  await ledger.resumeAccount('a', { revision: 2, actor: person });
  await ledger.snapshotAccount('a');
  for (const flag of ['open', 'unknown', 'unmeasured', 'overshoot', 'discrepancy'] as const)
    await ledger.listRequests('root', { flag });
  await ledger.exportEntries('a');
  await ledger.readRequest(first);
  await ledger.recoverRequests();
  await db.read((ctx) => runTotals(ctx, 'root', ['one', 'two']));
  await db.read((ctx) => readCharges(ctx, [first, second]));
  await db.read((ctx) => findStop(ctx, 'a'));
  await ledger.closeAccount('a');
  await ledger.verifyAccount('root');
  await ledger.replayAccount('root');
  await ledger.estimateReport('root');
}

it('finds the rows of every statement by an index, but for the two reports over the whole history', async () => {
  const store = freshSqlite();
  const db = await store.open();
  const statements = new Set<string>();
  const watched = recorded(db, statements);
  await db.migrate(ledgerMigrations);
  await callEverything(createLedger(watched), watched);
  expect(statements.size).toBeGreaterThan(20);
  const scanning: string[] = [];
  for (const sql of statements) {
    const plain = sql.replace(/\s+FOR NO KEY UPDATE(?: OF \w+)?\s*$/u, '');
    const params = Array.from(plain.matchAll(/\?/gu), () => null);
    const steps = await db.write(() => all<{ detail: string }>(`EXPLAIN QUERY PLAN ${plain}`, params));
    if (steps.some(({ detail }) => readsWhole(detail))) scanning.push(sql);
  }
  const known = Object.keys(readsHistory);
  expect(scanning.map((sql) => known.find((start) => sql.startsWith(start)) ?? sql).toSorted()).toEqual(known);
  await store.remove();
});
