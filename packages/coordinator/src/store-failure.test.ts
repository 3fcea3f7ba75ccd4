import { readFileSync } from 'node:fs';
import { listOperations, listTurns, type TurnOwner } from '@stint/journal';
import { snapshotAccount } from '@stint/ledger';
import { all, type Database, StoreError, type Transaction } from '@stint/storage';
import { assertNothingStuck } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { openBench, summary } from './work-bench.test.helper.js';

const selectFailures = "SELECT seq FROM ledger_entries WHERE account = ? AND type = 'failed'";
const selectTurns = 'SELECT error_code AS code FROM work_coordinator_turns WHERE item_id = ? ORDER BY started_at';

/** The store; the n-th statement that begins so, and `times` - 1 after it, fail as in a busy store, and their transactions are rolled back. */
function failingAt(db: Database, beginning: string, occurrence: number, times = 1): Database {
  let seen = 0;
  const watched = <T>(statements: Transaction<T>): Transaction<T> =>
    Object.assign(Object.create(statements) as Transaction<T>, {
      next(...answer: [] | [unknown]) {
        const step = statements.next(...answer);
        // A statement is its own iterator result.
        if ('sql' in step && String(step.sql).startsWith(beginning)) seen += 1;
        if (!('sql' in step && String(step.sql).startsWith(beginning))) return step;
        if (seen < occurrence || seen >= occurrence + times) return step;
        throw new StoreError('store_busy', 'Another process held the store for the whole wait.');
      },
    });
  const write: Database['write'] = (body) => db.write((ctx) => watched(body(ctx)));
  return new Proxy(db, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Serves until the item stands still; then it must be done. */
async function serveWithFailure(beginning: string, occurrence: number, times = 1) {
  const bench = await openBench();
  const itemId = await bench.item();
  bench.coordinator({ db: failingAt(bench.db, beginning, occurrence, times) }).start();
  const records = await bench.until(itemId, ({ item }) => item.status !== 'running' && item.status !== 'ready');
  expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
  assertNothingStuck(records);
  return { bench, itemId, records };
}

/** The statuses of all turns of the Runs, each once. */
async function turnStatuses(db: Database, { runs }: { readonly runs: readonly { readonly id: string }[] }) {
  const owners = runs.map(({ id }): TurnOwner => ({ kind: 'run', id }));
  const turns = await db.read((ctx) => listTurns(ctx, owners));
  return [...new Set(turns.map((turn) => turn.status))].toSorted((a, b) => (a < b ? -1 : 1));
}

const reserve = 'INSERT INTO ledger_requests';
const storeAnswer = "UPDATE journal_turns SET status = 'responded'";
const endOperation = 'UPDATE journal_operations SET status';

describe('a store that is busy for a moment (case L05)', () => {
  it('does not count against the provider when the Coordinator’s request cannot be recorded', async () => {
    const { bench, itemId, records } = await serveWithFailure(reserve, 1);
    await using _ = bench;
    const failures = await bench.db.read(() => all(selectFailures, [`item:${itemId}`]));
    expect(failures).toEqual([]);
    const turns = await bench.db.read(() => all<{ code: string | null }>(selectTurns, [itemId]));
    expect(turns.map(({ code }) => code).slice(0, 2)).toEqual(['store_failed', null]);
    expect(records.runs.every((run) => run.status === 'completed')).toBe(true);
  });

  it('puts a Run off, which then goes on in the same attempt, when its request cannot be recorded', async () => {
    const { bench, records } = await serveWithFailure(reserve, 2);
    await using _ = bench;
    const [first, second] = records.runs;
    expect(first).toMatchObject({ status: 'deferred', reason: { code: 'store_failed' } });
    expect(second).toMatchObject({ resumesRunId: first?.id, attemptId: first?.attemptId, attempt: 1 });
  });

  it('stores an answer again that could not be stored at once: it is paid for once, and its Run goes on', async () => {
    const { bench, itemId, records } = await serveWithFailure(storeAnswer, 2, 3);
    await using _ = bench;
    expect(records.runs.map((run) => run.status)).toEqual(records.runs.map(() => 'completed'));
    expect(await turnStatuses(bench.db, records)).toEqual(['responded']);
    expect(await bench.db.read((ctx) => snapshotAccount(ctx, `item:${itemId}`))).toMatchObject({
      unknown: 0,
      inFlight: 0,
    });
  });

  it('leaves no request in flight when its answer cannot be stored at all: it is unknown, and the Run goes on later', async () => {
    const { bench, records } = await serveWithFailure(storeAnswer, 2, 4);
    await using _ = bench;
    expect(records.runs[0]).toMatchObject({ status: 'deferred', reason: { code: 'store_failed' } });
    expect(await turnStatuses(bench.db, records)).toEqual(['responded', 'unknown']);
  });

  it('keeps what a tool did when its end cannot be stored: nobody is asked, and it is not done again', async () => {
    const { bench, records } = await serveWithFailure(endOperation, 1);
    await using _ = bench;
    const put = records.runs.find((run) => run.status === 'deferred');
    expect(put?.reason?.code).toBe('store_failed');
    const operations = await bench.db.read((ctx) => listOperations(ctx, { kind: 'run', id: put?.id ?? '' }));
    expect(operations.map((operation) => operation.status)).toEqual(operations.map(() => 'applied'));
    expect(operations).toHaveLength(1);
    expect(records.runs.filter((run) => run.attempt > 1)).toEqual([]);
    expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
  });
});
