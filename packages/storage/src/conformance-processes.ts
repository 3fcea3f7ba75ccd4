import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { accounts, type ConformanceCase, refusal } from './conformance-case.js';
import type { Body } from './context.js';
import type { Database } from './database.js';
import { isOwnerDead } from './processes.js';
import { all, notify, one, run } from './statement.js';

const leaseMs = 60_000;
const countRows = 'SELECT COUNT(*) AS count FROM storage_processes';
const moveToHost = 'UPDATE storage_processes SET host = ?, start_identity = ? WHERE id = ?';
const touch: Body<number> = () => run("UPDATE accounts SET note = 'touched'");

/** A clock that stands until it is moved. */
function handClock(): { now: number; readonly clock: () => number } {
  const hand = { now: 1_700_000_000_000, clock: (): number => hand.now };
  return hand;
}

function isDead(db: Database, owner: string): Promise<boolean> {
  return db.read((ctx) => isOwnerDead(ctx, owner));
}

/** A promise for the next call of a listener. */
function nextCall(db: Database, channel: string): Promise<unknown> {
  const target = new EventTarget();
  const stop = db.listen(channel, () => target.dispatchEvent(new Event('call')));
  return once(target, 'call').finally(stop);
}

/** Waits until the listening connection of Postgres stands; SQLite has none. */
async function listening(db: Database): Promise<void> {
  while (db.health().notifications === 'polling') await sleep(5);
}

export const processCases: readonly ConformanceCase[] = [
  {
    name: 'a listener is called after the commit, and not at all after a rollback',
    async run(store) {
      const db = await store.open();
      let calls = 0;
      db.listen('work', () => (calls += 1));
      await listening(db);
      await sleep(0);
      calls = 0;
      const failed = db.write(function* () {
        yield* notify('work');
        throw new Error('rolled back');
      });
      await assert.rejects(failed, /rolled back/);
      await sleep(0);
      assert.equal(calls, 0);
      await db.write(() => notify('work'));
      await sleep(0);
      assert.equal(calls, 1);
    },
  },
  {
    name: 'a listener of another process is called within 250 ms or little more',
    async run(store) {
      const db = await store.open();
      const other = await store.open();
      await db.write(() => one('SELECT 1 AS one'));
      const called = nextCall(other, 'work');
      await listening(other);
      const again = other.health().notifications === 'live' ? nextCall(other, 'work') : called;
      const startedMs = performance.now();
      await db.write(() => notify('work'));
      await db.migrate(accounts);
      await again;
      assert.ok(performance.now() - startedMs < 1_000, 'it took more than a second');
    },
  },
  {
    name: 'a listener that stopped is not called, and nobody listening costs nothing',
    async run(store) {
      const db = await store.open();
      let calls = 0;
      const stop = db.listen('work', () => (calls += 1));
      await listening(db);
      await sleep(0);
      calls = 0;
      stop();
      await db.write(() => notify('work'));
      await sleep(0);
      assert.equal(calls, 0);
      assert.equal(db.health().notifications, 'idle');
    },
  },
  {
    name: 'opening and reading write no heartbeat row, the first write does, closing ends it',
    async run(store) {
      const db = await store.open({ role: 'worker' });
      const watcher = await store.open();
      assert.deepEqual(await db.read(() => one(countRows)), { count: 0 });
      assert.equal(await isDead(db, db.owner), true);
      await db.write(() => one('SELECT 1 AS one'));
      const [process_] = await watcher.processes();
      assert.equal(process_?.id, db.owner);
      assert.equal(process_?.role, 'worker');
      assert.equal(process_?.pid, process.pid);
      assert.equal(await isDead(watcher, db.owner), false);
      await db.close();
      assert.equal(await isDead(watcher, db.owner), true);
      assert.deepEqual(await watcher.processes(), []);
    },
  },
  {
    name: 'case C17: the owner of an expired row is dead',
    async run(store) {
      const hand = handClock();
      const db = await store.open({ clock: hand.clock, leaseMs });
      const watcher = await store.open({ clock: hand.clock, leaseMs });
      await db.write(() => one('SELECT 1 AS one'));
      hand.now += leaseMs - 1;
      assert.equal(await isDead(watcher, db.owner), false);
      hand.now += 1;
      assert.equal(await isDead(watcher, db.owner), true);
      assert.deepEqual(await watcher.processes(), []);
      assert.equal(await isDead(watcher, 'nobody'), true);
    },
  },
  {
    name: 'case C11: a holder whose row expired takes it again when nobody replaced it',
    async run(store) {
      const hand = handClock();
      const lost: unknown[] = [];
      const db = await store.open({ clock: hand.clock, leaseMs, onLost: (event) => lost.push(event) });
      await db.migrate(accounts);
      await db.write(touch);
      const { owner } = db;
      hand.now += 600_000;
      assert.equal(await isDead(db, owner), true);
      const dead = await db.write((ctx) => isOwnerDead(ctx, ctx.owner));
      assert.equal(dead, false);
      assert.equal(db.owner, owner);
      assert.deepEqual(lost, []);
    },
  },
  {
    name: 'case C11: a process that wakes from a suspend gives the others of its host time to renew',
    async run(store) {
      const hand = handClock();
      const first = await store.open({ clock: hand.clock, leaseMs });
      const second = await store.open({ clock: hand.clock, leaseMs });
      await first.migrate(accounts);
      await Promise.all([first.write(touch), second.write(touch)]);
      hand.now += 600_000;
      assert.equal(await first.endDeadProcesses(), 0);
      assert.equal(await isDead(first, second.owner), false);
    },
  },
  {
    name: 'a process that just started does not spare an expired one that hangs',
    async run(store) {
      const hand = handClock();
      const hanging = await store.open({ clock: hand.clock, leaseMs });
      await hanging.write(() => one('SELECT 1 AS one'));
      hand.now += leaseMs;
      const started = await store.open({ clock: hand.clock, leaseMs });
      assert.equal(await started.endDeadProcesses(), 1);
      assert.equal(await isDead(started, hanging.owner), true);
    },
  },
  {
    name: 'a process whose row others ended goes on under a new id and is told',
    async run(store) {
      const hand = handClock();
      const lost: unknown[] = [];
      const db = await store.open({ clock: hand.clock, leaseMs, onLost: (event) => lost.push(event) });
      const { owner } = db;
      await db.migrate(accounts);
      await db.write(touch);
      await db.write(() => run('UPDATE storage_processes SET ended_at = 1'));
      hand.now += leaseMs;
      const seen = await db.write(function* (ctx) {
        return { owner: ctx.owner, dead: yield* isOwnerDead(ctx, ctx.owner) };
      });
      assert.notEqual(seen.owner, owner);
      assert.deepEqual(seen, { owner: db.owner, dead: false });
      assert.deepEqual(lost, [{ owner, newOwner: db.owner }]);
    },
  },
  {
    name: 'the row is renewed on a timer',
    async run(store) {
      const db = await store.open({ leaseMs: 90 });
      await db.write(() => one('SELECT 1 AS one'));
      const first = db.health().leaseExpiresAt ?? 0;
      const deadline = performance.now() + 5_000;
      while ((db.health().leaseExpiresAt ?? 0) <= first && performance.now() < deadline) await sleep(10);
      assert.ok((db.health().leaseExpiresAt ?? 0) > first, 'not renewed within 5 s');
    },
  },
  {
    name: 'case C07: the row of a process number that belongs to another program now is ended, live ones are respected',
    async run(store) {
      const db = await store.open();
      const live = await store.open();
      const gone = await store.open();
      for (const each of [db, live, gone]) await each.write(() => one('SELECT 1 AS one'));
      await db.write(() => run("UPDATE storage_processes SET start_identity = 'before' WHERE id = ?", [gone.owner]));
      assert.equal(await db.endDeadProcesses(), 1);
      assert.equal(await isDead(db, gone.owner), true);
      assert.equal(await isDead(db, live.owner), false);
      assert.equal(await db.endDeadProcesses(), 0);
    },
  },
  {
    name: 'rows of other hosts are ended when they expired, not before',
    async run(store) {
      const hand = handClock();
      const db = await store.open({ clock: hand.clock, leaseMs });
      const remote = await store.open({ clock: hand.clock, leaseMs: 2 * leaseMs });
      for (const each of [db, remote]) await each.write(() => one('SELECT 1 AS one'));
      await db.write(() => run(moveToHost, ['elsewhere', 'long ago', remote.owner]));
      assert.equal(await db.endDeadProcesses(), 0);
      hand.now += 2 * leaseMs;
      assert.equal(await db.endDeadProcesses(), 1);
      const ended = await db.read(() => all('SELECT id FROM storage_processes WHERE ended_at IS NOT NULL'));
      assert.deepEqual(ended, [{ id: remote.owner }]);
    },
  },
  {
    name: 'a closed database refuses every call, and closing again does nothing',
    async run(store) {
      const db = await store.open();
      await db.close();
      await db.close();
      await refusal(
        db.write(() => one('SELECT 1 AS one')),
        'store_closed',
      );
      await refusal(
        db.read(() => one('SELECT 1 AS one')),
        'store_closed',
      );
      await refusal(db.migrate(accounts), 'store_closed');
      await refusal(db.endDeadProcesses(), 'store_closed');
      assert.throws(() => db.listen('work', () => undefined), /closed/);
    },
  },
  {
    name: 'writes that were called before close are done',
    async run(store) {
      const db = await store.open();
      await db.migrate(accounts);
      const writes = Array.from({ length: 100 }, () =>
        db.write(() => run("UPDATE accounts SET balance = balance + 1 WHERE id = 'a'")),
      );
      await db.close();
      await Promise.all(writes);
      const again = await store.open();
      assert.deepEqual(await again.read(() => one('SELECT balance FROM accounts')), { balance: 200 });
    },
  },
];
