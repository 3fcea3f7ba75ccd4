import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { accounts } from './conformance-case.js';
import type { Body } from './context.js';
import type { Database } from './database.js';
import { type FreshStore, freshPostgres } from './fresh.js';
import { interleave, schedules } from './interleave.js';
import type { PostgresOptions } from './postgres.js';
import { endProcesses, renewHeartbeat } from './processes.js';
import { one, run } from './statement.js';

let store: FreshStore<PostgresOptions>;
let db: Database;

beforeEach(async () => {
  store = await freshPostgres(inject('pgUrl'));
  db = await store.open();
  await db.migrate(accounts);
  await db.write(() => run("INSERT INTO accounts (id, balance) VALUES ('b', 100)"));
});

afterEach(() => store.remove());

function addOne(lock: string): Body<number> {
  return function* () {
    const row = yield* one<{ balance: number }>(`SELECT balance FROM accounts WHERE id = 'a'${lock}`);
    return yield* run("UPDATE accounts SET balance = ? WHERE id = 'a'", [(row?.balance ?? 0) + 1]);
  };
}

function addToBoth(first: string, second: string): Body<void> {
  return function* () {
    for (const id of [first, second]) yield* run('UPDATE accounts SET balance = balance + 1 WHERE id = ?', [id]);
  };
}

async function balanceAfter(lock: string, schedule: ReturnType<typeof schedules>[number]): Promise<number> {
  await db.write(() => run('UPDATE accounts SET balance = 0'));
  const result = await interleave({ url: store.location, first: addOne(lock), second: addOne(lock), schedule });
  expect([result.first.status, result.second.status]).toEqual(['committed', 'committed']);
  const row = await db.read(() => one<{ balance: number }>("SELECT balance FROM accounts WHERE id = 'a'"));
  return row?.balance ?? -1;
}

describe('interleave', () => {
  it('finds the lost update of a row read without its lock, in some schedules', async () => {
    const balances = new Set<number>();
    for (const schedule of schedules(4, 4, 100, Math.random).slice(0, 40))
      balances.add(await balanceAfter('', schedule));
    expect([...balances].toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it('finds none when the row is locked first', async () => {
    for (const schedule of schedules(4, 4, 12, Math.random)) {
      expect(await balanceAfter(' FOR NO KEY UPDATE', schedule)).toBe(2);
    }
  });

  it('sees who waits for a lock and lets the other go on', async () => {
    const result = await interleave({
      url: store.location,
      first: addToBoth('a', 'b'),
      second: addToBoth('a', 'b'),
      schedule: ['first', 'first', 'second', 'second', 'first', 'first'],
    });
    const update = 'UPDATE accounts SET balance = balance + 1 WHERE id = ?';
    expect(result.trace.slice(0, 7)).toEqual([
      'first: begin',
      `first: ${update}`,
      'second: begin',
      `second: ${update}`,
      'second: blocked',
      `first: ${update}`,
      'first: commit',
    ]);
    expect(result).toMatchObject({ first: { conflicts: 0 }, second: { status: 'committed', conflicts: 0 } });
  });

  it('runs a body again that lost a deadlock', async () => {
    const result = await interleave({
      url: store.location,
      first: addToBoth('a', 'b'),
      second: addToBoth('b', 'a'),
      schedule: ['first', 'first', 'second', 'second', 'first', 'second'],
    });
    expect(result.first.conflicts + result.second.conflicts).toBe(1);
    expect(await db.read(() => one('SELECT SUM(balance) AS total FROM accounts'))).toEqual({ total: 204 });
  });

  it('tells what a body threw', async () => {
    const failing: Body<void> = function* () {
      yield* run('UPDATE accounts SET balance = 0');
      throw new Error('on purpose');
    };
    const result = await interleave({ url: store.location, first: failing, second: addOne(''), schedule: [] });
    expect(result.first).toMatchObject({ status: 'failed', error: { message: 'on purpose' } });
    expect(result.second.status).toBe('committed');
  });
});

describe('the heartbeat of a process under the sweep of another', () => {
  it('is either renewed or ended, in every order, and its process knows which', async () => {
    const leaseMs = 1_000;
    const now = 1_700_000_000_000;
    for (const schedule of schedules(3, 4, 40, Math.random)) {
      await db.write(function* () {
        yield* run("DELETE FROM storage_processes WHERE id = 'slow'");
        const values = "('slow', 'process', 'elsewhere', 1, '', 0, 5, NULL)";
        yield* run(`INSERT INTO storage_processes VALUES ${values}`);
      });
      const { first, second } = await interleave({
        url: store.location,
        clock: () => now,
        first: (ctx) => renewHeartbeat(ctx, 'slow', leaseMs),
        second: (ctx) => endProcesses(ctx, { gone: [], expired: ['slow'], spared: [] }, leaseMs),
        schedule,
      });
      const row = await db.read(() => one("SELECT expires_at, ended_at FROM storage_processes WHERE id = 'slow'"));
      const renewed = row?.['ended_at'] === null;
      expect(row?.['expires_at']).toBe(renewed ? now + leaseMs : 5);
      expect(first).toMatchObject({ status: 'committed', value: renewed ? now + leaseMs : null });
      expect(second).toMatchObject({ status: 'committed', value: renewed ? 0 : 1 });
    }
  });
});

describe('schedules', () => {
  it('gives all orders when they are few', () => {
    expect(schedules(2, 1, 3, Math.random)).toEqual([
      ['first', 'first', 'second'],
      ['first', 'second', 'first'],
      ['second', 'first', 'first'],
    ]);
  });

  it('draws as many as asked for when they are many, each with all steps', () => {
    const drawn = schedules(6, 6, 20, Math.random);
    expect(drawn).toHaveLength(20);
    for (const schedule of drawn) expect(schedule.filter((side) => side === 'first')).toHaveLength(6);
  });
});
