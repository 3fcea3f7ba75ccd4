import { existsSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from './child.test.helper.js';
import { accounts, refusal } from './conformance-case.js';
import type { Database } from './database.js';
import { type FreshStore, freshSqlite } from './fresh.js';
import { isOwnerDead } from './processes.js';
import type { SqliteOptions } from './sqlite.js';
import { one, run } from './statement.js';

const addOne = () => run("UPDATE accounts SET balance = balance + 1 WHERE id = 'a'");

let store: FreshStore<SqliteOptions>;
let db: Database;

const turnFile = (): string => `${store.location}-turn`;

beforeEach(async () => {
  store = freshSqlite();
  db = await store.open();
  await db.migrate(accounts);
});

afterEach(() => store.remove());

describe('a store that another process holds', () => {
  it('a write waits for it while timers of this process go on', async () => {
    await db.write(addOne);
    const holder = new Sqlite(store.location);
    holder.exec('BEGIN IMMEDIATE');
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    let runs = 0;
    const written = db.write(() => {
      runs += 1;
      return addOne();
    });
    const queued = db.write(addOne);
    await sleep(150);
    clearInterval(ticking);
    holder.exec('COMMIT');
    holder.close();
    expect(await Promise.all([written, queued])).toEqual([1, 1]);
    expect(ticks).toBeGreaterThan(5);
    expect(runs).toBe(1);
    expect(await db.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 103 });
  });

  it('reads do not wait for a writer', async () => {
    const holder = new Sqlite(store.location);
    holder.exec("BEGIN IMMEDIATE; UPDATE accounts SET balance = 0 WHERE id = 'a'");
    expect(await db.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 100 });
    holder.close();
  });

  it('a write that waits too long is refused as busy, may be tried again, and nothing is kept', async () => {
    const hasty = await store.open({ busyTimeoutMs: 60 });
    await hasty.write(addOne);
    const holder = new Sqlite(store.location);
    holder.exec('BEGIN IMMEDIATE');
    const error = await refusal(hasty.write(addOne), 'store_busy');
    expect(error).toMatchObject({ retryable: true });
    holder.close();
    expect(await hasty.write(addOne)).toBe(1);
    expect(await db.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 102 });
  });

  it('two processes that write all the time both get on, and lose no update', async () => {
    const hammer = `const db = await storage.openSqlite({ path: args[0], synchronous: 'normal' });
      let writes = 0, longestMs = 0;
      const end = Date.now() + 1500;
      while (Date.now() < end) {
        const startedMs = performance.now();
        await db.write(() => storage.run("UPDATE accounts SET balance = balance + 1 WHERE id = 'a'"));
        longestMs = Math.max(longestMs, performance.now() - startedMs);
        writes += 1;
      }
      await db.close();
      say({ writes, longestMs });`;
    const children = [startChild(hammer, store.location), startChild(hammer, store.location)];
    const results = (await Promise.all(children.map((child) => child.next()))) as {
      writes: number;
      longestMs: number;
    }[];
    const total = results.reduce((sum, { writes }) => sum + writes, 0);
    expect(await db.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 100 + total });
    for (const { writes, longestMs } of results) {
      expect(writes / total).toBeGreaterThan(0.1);
      expect(longestMs).toBeLessThan(1_000);
    }
  });

  it('one that waits asks for its turn with a file beside the store, and takes it away when it had it', async () => {
    await db.write(addOne);
    const holder = new Sqlite(store.location);
    holder.exec('BEGIN IMMEDIATE');
    const written = db.write(addOne);
    const deadline = performance.now() + 10_000;
    while (!existsSync(turnFile()) && performance.now() < deadline) await sleep(1);
    expect(statSync(turnFile()).mode & 0o777).toBe(0o600);
    holder.exec('COMMIT');
    holder.close();
    expect(await written).toBe(1);
    expect(existsSync(turnFile())).toBe(false);
  });

  it('one that has the store leaves it to who asks, and takes away what a dead process asked', async () => {
    await db.write(addOne);
    writeFileSync(turnFile(), '');
    await sleep(5);
    const startedMs = performance.now();
    await db.write(addOne);
    expect(performance.now() - startedMs).toBeGreaterThan(40);
    expect(existsSync(turnFile())).toBe(false);
    expect(await db.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 102 });
  });

  it('writes that are awaited one after the other let timers have their turn', async () => {
    let fired = false;
    setTimeout(() => (fired = true), 1);
    const deadline = performance.now() + 3_000;
    while (!fired && performance.now() < deadline) await db.write(addOne);
    expect(fired).toBe(true);
  });
});

describe('another process', () => {
  const holdOwner = `const db = await storage.openSqlite({ path: args[0], role: 'victim' });
    await db.write(() => storage.run("UPDATE accounts SET note = 'held'"));
    say(db.owner);
    process.stdin.resume();`;

  it('case C17: one that was killed is found gone at once, by its number and start time', async () => {
    const child = startChild(holdOwner, store.location);
    const owner = (await child.next()) as string;
    expect(await db.endDeadProcesses()).toBe(0);
    expect(await db.read((ctx) => isOwnerDead(ctx, owner))).toBe(false);
    child.process.kill('SIGKILL');
    await child.ended;
    expect(await db.endDeadProcesses()).toBe(1);
    expect(await db.read((ctx) => isOwnerDead(ctx, owner))).toBe(true);
  });

  it('a body that was killed between two statements leaves nothing behind', async () => {
    const dieMidway = `const gate = (point) => { if (point === 'sql:2') process.kill(process.pid, 'SIGKILL'); };
      const db = await storage.openSqlite({ path: args[0], gate });
      await db.write(function* () {
        yield* storage.run("UPDATE accounts SET balance = 0 WHERE id = 'a'");
        yield* storage.run("UPDATE accounts SET balance = 1 WHERE id = 'a'");
      });`;
    expect(await startChild(dieMidway, store.location).ended).toBe('SIGKILL');
    expect(await db.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 100 });
  });

  it('its commits are noticed within 250 ms or little more', async () => {
    const child = startChild(
      `const db = await storage.openSqlite({ path: args[0] });
       process.stdin.once('data', () => db.write(() => storage.run("UPDATE accounts SET note = 'new'")));
       say('ready');`,
      store.location,
    );
    await child.next();
    const noticed = new Promise<number>((resolve) => {
      db.listen('accounts', () => resolve(performance.now()));
    });
    const startedMs = performance.now();
    child.process.stdin?.write('go\n');
    expect((await noticed) - startedMs).toBeLessThan(1_000);
    child.process.kill('SIGKILL');
    await child.ended;
  });

  it('a database that listens and beats does not keep its process alive', async () => {
    const idle = startChild(
      `const db = await storage.openSqlite({ path: args[0] });
       await db.write(() => storage.one('SELECT 1 AS one'));
       db.listen('accounts', () => undefined);
       say('open');`,
      store.location,
    );
    await idle.next();
    expect(await idle.ended).toBe(0);
  });

  it('processes that start at the same time migrate once', async () => {
    const fresh = freshSqlite();
    const migrate = `const db = await storage.openSqlite({ path: args[0] });
      await db.migrate({ package: 'once', migrations: [
        { number: 1, name: 'table', statements: ['CREATE TABLE once_rows (id INTEGER PRIMARY KEY)'] },
        { number: 2, name: 'row', statements: ['INSERT INTO once_rows SELECT COALESCE(MAX(id), 0) + 1 FROM once_rows'] }] });
      await db.close();`;
    const children = Array.from({ length: 4 }, () => startChild(migrate, fresh.location));
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0, 0]);
    const opened = await fresh.open();
    expect(await opened.read(() => one('SELECT COUNT(*) AS count FROM once_rows'))).toEqual({ count: 1 });
    await fresh.remove();
  });
});
