import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from './child.test.helper.js';
import { accounts, refusal } from './conformance-case.js';
import { isStoreUnavailable } from './errors.js';
import { type FreshStore, freshSqlite } from './fresh.js';
import { openSqlite, type SqliteOptions } from './sqlite.js';
import { all, one, run } from './statement.js';

let store: FreshStore<SqliteOptions>;

beforeEach(() => {
  store = freshSqlite();
});

afterEach(() => store.remove());

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe('modes', () => {
  const openAndHold = `process.umask(0o002);
    const db = await storage.openSqlite({ path: args[0] });
    await db.write(() => storage.one('SELECT 1 AS one'));
    say('written');
    process.stdin.resume();`;

  it('case C21: files are 0600 and new folders 0700 under a lax umask, all of them, while the store is open', async () => {
    const folder = join(dirname(store.location), 'data', 'nested');
    const child = startChild(openAndHold, join(folder, 'store.db'));
    await child.next();
    const modes = Object.fromEntries(readdirSync(folder).map((name) => [name, mode(join(folder, name))]));
    expect(modes).toEqual({ 'store.db': '600', 'store.db-shm': '600', 'store.db-wal': '600' });
    expect([mode(folder), mode(dirname(folder))]).toEqual(['700', '700']);
    child.process.kill('SIGKILL');
    await child.ended;
  });

  it('case C21: modes that somebody relaxed on purpose stay', async () => {
    const folder = join(dirname(store.location), 'shared');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const path = join(folder, 'store.db');
    writeFileSync(path, '');
    chmodSync(path, 0o640);
    const db = await openSqlite({ path });
    await db.close();
    expect([mode(folder), mode(path)]).toEqual(['755', '640']);
  });
});

describe('a store that cannot be used', () => {
  it('a file that is no store is refused as corrupt and left as it is', async () => {
    const text = 'not a database, but a letter to somebody '.repeat(100);
    writeFileSync(store.location, text);
    const error = await refusal(store.open(), 'store_corrupt');
    expect(isStoreUnavailable(error)).toBe(true);
    expect(readFileSync(store.location, 'utf8')).toBe(text);
  });

  it('damaged pages are told as corrupt', async () => {
    const db = await store.open();
    await db.migrate(accounts);
    await db.write(function* (ctx) {
      for (let index = 0; index < 500; index += 1) {
        yield* run('INSERT INTO accounts (id, balance) VALUES (?, ?)', [ctx.newId(), index]);
      }
    });
    await db.close();
    const bytes = readFileSync(store.location);
    bytes.fill(0xa5, 4096);
    writeFileSync(store.location, bytes);
    const damaged = store.open();
    await refusal(
      damaged.then((opened) => opened.read(() => all('SELECT * FROM accounts ORDER BY id'))),
      'store_corrupt',
    );
  });

  it('a full store refuses the write, keeps what was there, and takes writes again when there is room', async () => {
    const db = await store.open();
    await db.migrate(accounts);
    const allow = (pages: number) => db.write(() => one(`PRAGMA max_page_count = ${pages}`));
    const fill = () => db.write(() => run('UPDATE accounts SET note = ?', ['x'.repeat(200_000)]));
    await allow(20);
    const error = await refusal(fill(), 'store_full');
    expect(isStoreUnavailable(error)).toBe(true);
    expect(await db.read(() => one('SELECT note FROM accounts'))).toEqual({ note: null });
    await allow(1_000);
    expect(await fill()).toBe(1);
  });

  it('a file this user may only read is read, and writes are refused as read-only', async () => {
    const db = await store.open();
    await db.migrate(accounts);
    await db.close();
    chmodSync(store.location, 0o444);
    chmodSync(dirname(store.location), 0o777);
    const restore = asOrdinaryUser();
    try {
      const readOnly = await store.open();
      expect(await readOnly.read(() => one('SELECT balance FROM accounts'))).toEqual({ balance: 100 });
      const error = await refusal(
        readOnly.write(() => run('UPDATE accounts SET balance = 0')),
        'store_readonly',
      );
      expect(isStoreUnavailable(error)).toBe(true);
    } finally {
      restore();
    }
  });

  it('a path that is a folder is told as unavailable', async () => {
    const error = await refusal(openSqlite({ path: dirname(store.location) }), 'store_unavailable');
    expect(error.message).toContain(dirname(store.location));
  });

  it('a folder that cannot be made is told as unavailable', async () => {
    writeFileSync(store.location, '');
    await refusal(openSqlite({ path: join(store.location, 'below', 'store.db') }), 'store_unavailable');
  });
});

/** Root may write everywhere: goes on as "nobody" then. Answers the way back. */
function asOrdinaryUser(): () => void {
  if (process.geteuid?.() !== 0) return () => undefined;
  process.seteuid?.(65_534);
  return () => process.seteuid?.(0);
}

describe('a store of a newer version', () => {
  it('case C09: its bytes are untouched by a program that refuses it', async () => {
    const newer = await store.open();
    await newer.migrate(accounts);
    await newer.write(() =>
      run("INSERT INTO storage_migrations (package, number, name, applied_at) VALUES ('accounts', 2, 'later', 0)"),
    );
    await newer.close();
    const before = readFileSync(store.location);
    const older = await store.open();
    await refusal(older.migrate(accounts), 'store_newer');
    await older.close();
    expect(readFileSync(store.location).equals(before)).toBe(true);
  });

  it('case C09: tables of this package that are newer are refused at opening, bytes untouched', async () => {
    const newer = await store.open();
    await newer.write(() =>
      run("INSERT INTO storage_migrations (package, number, name, applied_at) VALUES ('storage', 99, 'later', 0)"),
    );
    await newer.close();
    const before = readFileSync(store.location);
    const error = await refusal(store.open(), 'store_newer');
    expect(error.message).toContain('storage is at migration 99');
    expect(readFileSync(store.location).equals(before)).toBe(true);
  });
});

describe('values', () => {
  it('any text of whole characters and any safe integer comes back as it went in', async () => {
    const db = await store.open({ synchronous: 'normal' });
    await db.migrate(accounts);
    const property = fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.maxSafeInteger(), async (note, balance) => {
      await db.write(() => run('UPDATE accounts SET note = ?, balance = ?', [note, balance]));
      expect(await db.read(() => one('SELECT note, balance FROM accounts'))).toEqual({ note, balance });
    });
    await fc.assert(property, { numRuns: 200 });
  });
});

describe('the write-ahead log', () => {
  const limit = 1024 * 1024;
  const insert = (count: number) =>
    function* () {
      for (let index = 0; index < count; index += 1) {
        yield* run('INSERT INTO accounts (id, balance, note) VALUES (lower(hex(randomblob(16))), 1, ?)', [
          'x'.repeat(400),
        ]);
      }
    };

  it('case C23: it grows while a reader is open and is cut back once the reader is gone', async () => {
    const db = await openSqlite({ path: store.location, synchronous: 'normal', walLimitBytes: limit });
    await db.migrate(accounts);
    const reader = new Sqlite(store.location, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM accounts').get();
    for (let round = 0; round < 20; round += 1) await db.write(insert(500));
    expect(db.health().walBytes).toBeGreaterThan(limit);
    reader.close();
    for (let round = 0; round < 3; round += 1) await db.write(insert(1));
    expect(db.health().walBytes).toBeLessThanOrEqual(limit);
    await db.close();
  });

  it('case C23: it is cut back by the heartbeat when nothing else is written', async () => {
    const db = await openSqlite({ path: store.location, synchronous: 'normal', walLimitBytes: limit, leaseMs: 60 });
    await db.migrate(accounts);
    await db.write(insert(1));
    const reader = new Sqlite(store.location, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM accounts').get();
    for (let round = 0; round < 10; round += 1) await db.write(insert(500));
    expect(db.health().walBytes).toBeGreaterThan(limit);
    reader.close();
    await expect.poll(() => db.health().walBytes, { timeout: 5_000 }).toBeLessThanOrEqual(limit);
    await db.close();
  });

  it('it is long after a few commits, so that later ones overwrite; what was committed is found in it after a kill', async () => {
    const db = await store.open();
    await db.migrate(accounts);
    for (let count = 0; count < 15; count += 1) await db.write(insert(1));
    const short = db.health().walBytes ?? 0;
    await db.write(insert(1));
    const long = db.health().walBytes;
    await db.write(insert(1));
    expect(short).toBeLessThan(1024 * 1024);
    expect(long).toBeGreaterThan(2_000 * 4096);
    expect(db.health().walBytes).toBe(long);
    const copy = `${store.location}.copy`;
    for (const suffix of ['', '-wal']) copyFileSync(store.location + suffix, copy + suffix);
    const found = new Sqlite(copy);
    expect(found.prepare('SELECT COUNT(*) AS count FROM accounts WHERE balance = 1').get()).toEqual({ count: 17 });
    expect(found.pragma('integrity_check', { simple: true })).toBe('ok');
    found.close();
    await db.close();
  });

  it('it is not longer than it may be', async () => {
    const db = await openSqlite({ path: store.location, walLimitBytes: limit });
    await db.migrate(accounts);
    for (let count = 0; count < 17; count += 1) await db.write(insert(1));
    expect(db.health().walBytes).toBe(limit);
    await db.close();
  });

  it('it is gone after the last process closed the store', async () => {
    const db = await store.open();
    await db.migrate(accounts);
    await db.close();
    expect(existsSync(`${store.location}-wal`)).toBe(false);
  });
});

describe('the compiled driver', () => {
  const openWithout = `process.dlopen = () => { throw Object.assign(new Error(args[2]), { code: args[1] }); };
    await storage.openSqlite({ path: args[0] }).catch(({ name, code, retryable, message }) => say({ name, code, retryable, message }));`;

  it.each([
    ['install scripts did not run', 'MODULE_NOT_FOUND', 'Cannot find module'],
    ['Node was changed after the install', 'ERR_DLOPEN_FAILED', 'was compiled against a different Node.js version'],
  ])('case U03: %s: one error names the command that builds it', async (_, code, message) => {
    const child = startChild(openWithout, store.location, code, message);
    expect(await child.next()).toEqual({
      name: 'StoreError',
      code: 'driver_missing',
      retryable: false,
      message: expect.stringContaining('run `npm rebuild better-sqlite3`'),
    });
    expect(await child.ended).toBe(0);
  });
});
