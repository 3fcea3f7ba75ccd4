import assert from 'node:assert/strict';
import { accounts, type ConformanceCase, refusal } from './conformance-case.js';
import type { Body } from './context.js';
import type { Database } from './database.js';
import { all, notify, one, run } from './statement.js';
import type { Value } from './value.js';

const selectBalance = 'SELECT balance FROM accounts WHERE id = ?';
const addToBalance = 'UPDATE accounts SET balance = balance + ? WHERE id = ?';
const insertAccount = 'INSERT INTO accounts (id, balance, note) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING';
const largest = Number.MAX_SAFE_INTEGER;

async function balanceOf(db: Database, id = 'a'): Promise<number | undefined> {
  const row = await db.read(() => one<{ balance: number }>(selectBalance, [id]));
  return row?.balance;
}

/** What a caller without types can hand in. */
function untyped(body: unknown): Body<unknown> {
  return body as Body<unknown>;
}

/** Bodies that debit and then do what a body may not do, by what that is. */
const misbehaved: Readonly<Record<string, Body<unknown>>> = {
  'an async function': untyped(async () => {
    await Promise.resolve();
    throw new Error('too late');
  }),
  'an async generator': untyped(async function* () {
    yield* run(addToBalance, [-30, 'a']);
  }),
  'a plain function': untyped(() => 42),
  'a body that yields a promise': untyped(function* () {
    yield* run(addToBalance, [-30, 'a']);
    yield Promise.reject(new Error('nobody waits for this'));
  }),
  'a body that yields a value': untyped(function* () {
    yield* run(addToBalance, [-30, 'a']);
    yield { sql: 'DELETE FROM accounts' };
  }),
  'a body that uses a statement twice': untyped(function* () {
    const debit = run(addToBalance, [-30, 'a']);
    yield* debit;
    yield* debit;
  }),
  'a body that returns a promise': untyped(function* () {
    yield* run(addToBalance, [-30, 'a']);
    return Promise.resolve(1);
  }),
};

/** Values that would be rounded or changed on the way in. */
const inexact: readonly unknown[] = [largest + 1, -largest - 1, 0.5, Number.NaN, Infinity, 1n, undefined, true, {}];

/** What `read` has to refuse. */
const notForReading: Readonly<Record<string, Body<unknown>>> = {
  update: () => run(addToBalance, [1, 'a']),
  'insert with an answer': () => one("INSERT INTO accounts (id, balance) VALUES ('r', 1) RETURNING id"),
  lock: () => one(`${selectBalance} FOR NO KEY UPDATE`, ['a']),
  notify: () => notify('channel'),
};

export const bodyCases: readonly ConformanceCase[] = [
  {
    name: 'a body gets rows, counts and its result back',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      const result = await db.write(function* (ctx) {
        const inserted = yield* run(insertAccount, [ctx.newId(), 7, 'new']);
        const changed = yield* run('UPDATE accounts SET balance = balance + 1');
        const locked = yield* one(`${selectBalance} FOR NO KEY UPDATE`, ['a']);
        const none = yield* one(selectBalance, ['nobody']);
        const rows = yield* all('SELECT balance FROM accounts ORDER BY balance');
        return { inserted, changed, locked, none, rows };
      });
      assert.deepEqual(result, {
        inserted: 1,
        changed: 2,
        locked: { balance: 101 },
        none: undefined,
        rows: [{ balance: 8 }, { balance: 101 }],
      });
    },
  },
  {
    name: 'text and whole numbers come back as they went in',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      const values: readonly (readonly [number, Value])[] = [
        [largest, 'it\'s a "quoted" ? $1 line\nand another'],
        [-largest, 'ünïcode 🜁 text'],
        [0, ''],
        [2 ** 31, null],
      ];
      for (const [index, [balance, note]] of values.entries()) {
        await db.write(() => run(insertAccount, [`v${index}`, balance, note]));
        const row = await db.read(() => one('SELECT balance, note FROM accounts WHERE id = ?', [`v${index}`]));
        assert.deepEqual(row, { balance, note });
      }
    },
  },
  {
    name: 'numbers are whole numbers in expressions and text columns too',
    async run(store) {
      const db = await store.open();
      const row = await db.read(() =>
        one("SELECT CAST(? AS BIGINT) / 2 AS half, '?' || CAST(? AS TEXT) AS text", [5, 'x']),
      );
      assert.deepEqual(row, { half: 2, text: '?x' });
      await db.migrate(accounts);
      await db.write(() => run('UPDATE accounts SET note = ?', [5]));
      assert.deepEqual(await db.read(() => one('SELECT note FROM accounts')), { note: '5' });
    },
  },
  {
    name: 'case L29: a value that is no safe integer, text or null is refused on the way in and nothing is kept',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      for (const value of inexact) {
        const attempt = db.write(function* () {
          yield* run(addToBalance, [-30, 'a']);
          yield* run(addToBalance, [value as Value, 'a']);
        });
        await refusal(attempt, 'value_refused');
      }
      assert.equal(await balanceOf(db), 100);
    },
  },
  {
    name: 'case L29: 9007199254740993 in the store is refused on the way out, never rounded',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      await db.write(() => run("UPDATE accounts SET balance = 9007199254740993 WHERE id = 'a'"));
      await refusal(balanceOf(db), 'value_refused');
      await refusal(
        db.read(() => all('SELECT balance FROM accounts')),
        'value_refused',
      );
      const text = await db.read(() => one('SELECT CAST(balance AS TEXT) AS text FROM accounts'));
      assert.deepEqual(text, { text: '9007199254740993' });
    },
  },
  {
    name: 'case L29: a sum beyond 2^53 and a fraction are refused on the way out',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      await db.write(() => run(insertAccount, ['b', largest, null]));
      await refusal(
        db.read(() => one('SELECT SUM(balance) AS total FROM accounts')),
        'value_refused',
      );
      await refusal(
        db.read(() => one('SELECT 1.5 AS fraction')),
        'value_refused',
      );
      assert.deepEqual(await db.read(() => one("SELECT SUM(balance) AS total FROM accounts WHERE id = 'a'")), {
        total: 100,
      });
    },
  },
  {
    name: 'case L21: a body that is async or does anything but statements is refused and rolled back',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      for (const body of Object.values(misbehaved)) {
        await refusal(db.write(body), 'body_refused');
        await refusal(db.read(body), 'body_refused');
      }
      assert.equal(await balanceOf(db), 100);
    },
  },
  {
    name: 'what a body throws comes out as it is, and nothing is kept',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      const thrown = new RangeError('not today');
      const attempt = db.write(function* () {
        yield* run(addToBalance, [-30, 'a']);
        throw thrown;
      });
      await assert.rejects(attempt, (error) => error === thrown);
      assert.equal(await balanceOf(db), 100);
    },
  },
  {
    name: 'a failed statement ends the body: it cannot catch the failure and go on',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      let resumed = false;
      const attempt = db.write(function* () {
        yield* run(addToBalance, [-30, 'a']);
        try {
          yield* run("INSERT INTO accounts (id, balance) VALUES ('a', 1)");
        } catch {
          resumed = true;
        }
        yield* run(addToBalance, [-30, 'a']);
      });
      await refusal(attempt, 'statement_failed');
      assert.equal(resumed, false);
      assert.equal(await balanceOf(db), 100);
    },
  },
  {
    name: 'a statement the store does not understand is named in the error',
    async run(store) {
      const db = await store.open();
      const error = await refusal(
        db.write(() => run('UPDATE nowhere SET a = 1')),
        'statement_failed',
      );
      assert.match(error.message, /UPDATE nowhere SET a = 1/);
    },
  },
  {
    name: 'a read that writes, locks or notifies is refused',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      for (const body of Object.values(notForReading)) await refusal(db.read(body), 'body_refused');
      assert.deepEqual(await db.read(() => all('SELECT id, balance FROM accounts')), [{ id: 'a', balance: 100 }]);
    },
  },
  {
    name: 'write and read inside a body are refused',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      for (const call of ['write', 'read'] as const) {
        const attempt = db.write(function* () {
          yield* run(addToBalance, [-30, 'a']);
          void db[call](() => run(addToBalance, [-30, 'a']));
        });
        await refusal(attempt, 'body_refused');
      }
      assert.equal(await balanceOf(db), 100);
    },
  },
  {
    name: 'bodies are composed of bodies, in one transaction',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      const transfer: Body<number> = function* () {
        yield* run(addToBalance, [-30, 'a']);
        return yield* run(insertAccount, ['b', 30, null]);
      };
      const failed = db.write(function* (ctx) {
        yield* transfer(ctx);
        throw new Error('undo both');
      });
      await assert.rejects(failed, /undo both/);
      assert.equal(await balanceOf(db), 100);
      const inserted = await db.write(function* (ctx) {
        return yield* transfer(ctx);
      });
      assert.equal(inserted, 1);
      assert.deepEqual([await balanceOf(db), await balanceOf(db, 'b')], [70, 30]);
    },
  },
  {
    name: 'ON CONFLICT DO NOTHING tells by the rows changed who was first',
    async run(store) {
      const db = await store.open();
      const other = await store.open();
      await db.migrate(accounts);
      const insert: Body<number> = () => run(insertAccount, ['once', 1, null]);
      const changed = await Promise.all([db.write(insert), other.write(insert), db.write(insert)]);
      assert.deepEqual(
        changed.toSorted((a, b) => a - b),
        [0, 0, 1],
      );
    },
  },
  {
    name: 'writers at the same time lose no update',
    async run(store) {
      const databases = [await store.open(), await store.open()];
      await databases[0]?.migrate(accounts);
      const writes = databases.flatMap((db) =>
        Array.from({ length: 50 }, () =>
          db.write(function* () {
            const row = yield* one<{ balance: number }>(`${selectBalance} FOR NO KEY UPDATE`, ['a']);
            yield* run('UPDATE accounts SET balance = ? WHERE id = ?', [(row?.balance ?? 0) + 1, 'a']);
          }),
        ),
      );
      await Promise.all(writes);
      assert.equal(await balanceOf(databases[1] as Database), 200);
    },
  },
  {
    name: 'time stands still in a body and its ids are in order',
    async run(store) {
      const db = await store.open({ clock: () => 1_700_000_000_123 });
      const { now, ids } = await db.write(function* (ctx) {
        yield* one('SELECT 1 AS one');
        return { now: ctx.now, ids: Array.from({ length: 100 }, () => ctx.newId()) };
      });
      assert.equal(now, 1_700_000_000_123);
      assert.deepEqual(ids.toSorted(), ids);
      assert.equal(new Set(ids).size, 100);
    },
  },
  {
    name: 'the gate is called before each statement and around the commit, and statements are counted',
    async run(store) {
      const points: string[] = [];
      const db = await store.open({ gate: (point) => void points.push(point) });
      await db.migrate(accounts);
      await db.write(function* () {
        yield* run(addToBalance, [1, 'a']);
        yield* notify('channel');
      });
      assert.deepEqual(points, ['sql:1', 'sql:2', 'sql:commit', 'sql:committed']);
      assert.equal(db.statementCount, 2);
    },
  },
  {
    name: 'a gate that throws before the commit leaves nothing behind',
    async run(store) {
      let armed = false;
      const gate = (point: string): void => {
        if (armed && point === 'sql:commit') throw new Error('stopped at the gate');
      };
      const db = await store.open({ gate });
      await db.migrate(accounts);
      armed = true;
      await assert.rejects(
        db.write(() => run(addToBalance, [1, 'a'])),
        /stopped at the gate/,
      );
      assert.equal(await balanceOf(db), 100);
    },
  },
];
