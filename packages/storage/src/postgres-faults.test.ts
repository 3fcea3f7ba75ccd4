import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { accounts, refusal } from './conformance-case.js';
import type { Body } from './context.js';
import type { Database } from './database.js';
import { type FreshStore, freshPostgres } from './fresh.js';
import { openPostgres, type PostgresOptions } from './postgres.js';
import { all, notify, one, run } from './statement.js';

const addTo = 'UPDATE accounts SET balance = balance + ? WHERE id = ?';
const sumBalances = 'SELECT SUM(balance) AS total FROM accounts';

let store: FreshStore<PostgresOptions>;
let db: Database;
let admin: pg.Client;

beforeEach(async () => {
  store = await freshPostgres(inject('pgUrl'));
  db = await store.open();
  await db.migrate(accounts);
  await db.write(() => run("INSERT INTO accounts (id, balance) VALUES ('b', 100)"));
  admin = new pg.Client({ connectionString: store.location });
  await admin.connect();
});

afterEach(async () => {
  await admin.end();
  await store.remove();
});

/** Ends the server's side of connections whose last statement matches. */
async function terminate(pattern: string): Promise<number> {
  const { rowCount } = await admin.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE $1',
    [pattern],
  );
  return rowCount ?? 0;
}

/** Adds to both accounts in the order given. */
function addToBoth(ids: readonly [string, string], amount: number): Body<void> {
  return function* () {
    for (const id of ids) yield* run(addTo, [amount, id]);
  };
}

describe('rows that are fought over', () => {
  it('case C25: writes that lock rows in opposite orders all succeed, by being run again', async () => {
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([db.write(addToBoth(['a', 'b'], 1)), db.write(addToBoth(['b', 'a'], 1))]);
    }
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => db.write(addToBoth(index % 2 === 0 ? ['a', 'b'] : ['b', 'a'], 1))),
    );
    expect(await db.read(() => all('SELECT balance FROM accounts'))).toEqual([{ balance: 130 }, { balance: 130 }]);
  });

  it('a body that meets a conflict each time is given up with a conflict that may be tried again', async () => {
    let runs = 0;
    const attempt = db.write(function* () {
      runs += 1;
      yield* run(addTo, [1, 'a']);
      yield* one("DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '40001'; END $$");
    });
    const error = await refusal(attempt, 'store_conflict');
    expect(error).toMatchObject({ retryable: true });
    expect(runs).toBe(10);
    expect(await db.read(() => one(sumBalances))).toEqual({ total: 200 });
  });

  it('every connection ends waits for locks in time, and transactions whose process has stopped', async () => {
    const setting = (name: string) => one(`SELECT current_setting('${name}') AS value`);
    const hasty = await store.open({ busyTimeoutMs: 50 });
    expect(await hasty.read(() => setting('lock_timeout'))).toEqual({ value: '50ms' });
    expect(await hasty.write(() => setting('idle_in_transaction_session_timeout'))).toEqual({ value: '1min' });
    await hasty.close();
  });

  it('a row lock that lasts too long is told as busy', async () => {
    const hasty = await store.open({ busyTimeoutMs: 50 });
    await hasty.write(() => one('SELECT 1 AS one'));
    await admin.query('BEGIN');
    await admin.query("SELECT 1 FROM accounts WHERE id = 'a' FOR UPDATE");
    await refusal(
      hasty.write(() => run(addTo, [1, 'a'])),
      'store_busy',
    );
    await admin.query('ROLLBACK');
    expect(await hasty.write(() => run(addTo, [1, 'a']))).toBe(1);
  });

  it('SKIP LOCKED passes by what another holds', async () => {
    await admin.query('BEGIN');
    await admin.query("SELECT 1 FROM accounts WHERE id = 'a' FOR UPDATE");
    const claim = 'SELECT id FROM accounts ORDER BY id FOR NO KEY UPDATE SKIP LOCKED';
    expect(await db.write(() => all(claim))).toEqual([{ id: 'b' }]);
    await admin.query('ROLLBACK');
  });

  it('a read sees one moment, whatever is committed while it runs', async () => {
    const totals = db.read(function* () {
      const before = yield* one(sumBalances);
      yield* one('SELECT pg_sleep(0.2)');
      return [before, yield* one(sumBalances)];
    });
    await sleep(60);
    await db.write(() => run(addTo, [50, 'a']));
    expect(await totals).toEqual([{ total: 200 }, { total: 200 }]);
    expect(await db.read(() => one(sumBalances))).toEqual({ total: 250 });
  });
});

describe('values', () => {
  it('any text of whole characters and any safe integer comes back as it went in', async () => {
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
    const property = fc.asyncProperty(text, fc.maxSafeInteger(), async (note, balance) => {
      await db.write(() => run("UPDATE accounts SET note = ?, balance = ? WHERE id = 'a'", [note, balance]));
      const row = await db.read(() => one("SELECT note, balance FROM accounts WHERE id = 'a'"));
      expect(row).toEqual({ note, balance });
    });
    await fc.assert(property, { numRuns: 30 });
  });

  it('text that Postgres cannot keep is refused as a value', async () => {
    await refusal(
      db.write(() => run('UPDATE accounts SET note = ?', ['a\0b'])),
      'value_refused',
    );
  });
});

describe('time', () => {
  it("ctx.now is the server's, and the database's clock follows it", async () => {
    const { rows } = await admin.query<{ now: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    const now = await db.write(function* (ctx) {
      yield* one('SELECT 1 AS one');
      return ctx.now;
    });
    expect(Number.isSafeInteger(now)).toBe(true);
    expect(now - Number(rows[0]?.now)).toBeLessThan(2_000);
    expect(Math.abs(db.clock() - now)).toBeLessThan(2_000);
  });
});

describe('connections that break', () => {
  it('in a body: the write is refused as unavailable, nothing is kept, the next write works', async () => {
    const attempt = db.write(function* () {
      yield* run(addTo, [1, 'a']);
      yield* one("SELECT pg_terminate_backend(pg_backend_pid()), 'in a body'");
    });
    const error = await refusal(attempt, 'store_unavailable');
    expect(error).toMatchObject({ retryable: true });
    expect(await db.write(() => run(addTo, [1, 'a']))).toBe(1);
    expect(await db.read(() => one(sumBalances))).toEqual({ total: 201 });
  });

  it('at the commit: the end is told as unknown and is not to be tried again blindly', async () => {
    await db.write(() =>
      run(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END $$`),
    );
    await db.write(() =>
      run(
        'CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()',
      ),
    );
    const error = await refusal(
      db.write(() => run(addTo, [1, 'a'])),
      'commit_unknown',
    );
    expect(error).toMatchObject({ retryable: false });
  });

  it('while idle in the pool: nobody notices', async () => {
    expect(await terminate('COMMIT%')).toBeGreaterThan(0);
    await sleep(20);
    expect(await db.write(() => run(addTo, [1, 'a']))).toBe(1);
  });

  it('a server that is not there is told as unavailable, without the password', async () => {
    const opening = openPostgres({ url: 'postgres://me:made-up-secret@127.0.0.1:1/none' });
    const error = await refusal(opening, 'store_unavailable');
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('made-up-secret');
  });

  it('a URL that is none is refused, without repeating it', async () => {
    const error = await refusal(openPostgres({ url: 'postgres//me:made-up-secret' }), 'options_refused');
    expect(String(error)).not.toContain('made-up-secret');
    expect(error.cause).toBeUndefined();
  });
});

describe('a LISTEN connection that breaks', () => {
  it('case C15: what is notified meanwhile is found by polling, it is subscribed again, and health tells', async () => {
    const listener = await store.open({ pollMs: 50 });
    const calls: number[] = [];
    listener.listen('work', () => calls.push(performance.now()));
    await expect.poll(() => listener.health().notifications).toBe('live');
    await sleep(10);
    calls.length = 0;

    expect(await terminate('LISTEN%')).toBe(1);
    await expect.poll(() => listener.health().notifications).toBe('polling');
    expect(listener.health().lastBackgroundError).not.toBeNull();
    await db.write(() => notify('work'));
    await expect.poll(() => calls.length).toBeGreaterThan(0);

    await expect.poll(() => listener.health().notifications, { timeout: 5_000 }).toBe('live');
    expect(listener.health().lastBackgroundError).toBeNull();
    await sleep(10);
    calls.length = 0;
    await db.write(() => notify('work'));
    await expect.poll(() => calls.length).toBe(1);
  });

  it('a notification wakes its channel alone, once for this process', async () => {
    const calls: string[] = [];
    db.listen('work', () => calls.push('work'));
    db.listen('other', () => calls.push('other'));
    await expect.poll(() => db.health().notifications).toBe('live');
    await sleep(10);
    calls.length = 0;
    await db.write(() => notify('work'));
    await sleep(50);
    expect(calls).toEqual(['work']);
  });
});
