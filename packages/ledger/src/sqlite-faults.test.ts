/** Stores that really cannot take a write: a disk that is full, a file that may not be written, one that another process locks, a damaged one. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openSqlite } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { ask, refusalOf } from './conformance-kit.js';
import { createLedger, type Ledger } from './ledger.js';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`../bench/${name}.mjs`, import.meta.url));
const isRoot = process.getuid?.() === 0;
const nobody = '65534';

interface Outcome {
  readonly admitted: number;
  readonly code: string | null;
  readonly message: string;
}

/** What a process of its own could reserve; `limit` is a command of the shell that binds it before. */
async function reserveElsewhere(words: readonly string[], limit = ':'): Promise<Outcome> {
  const command = [process.execPath, script('fault-child'), ...words];
  const { stdout } = await run('sh', ['-c', `${limit} && exec "$@"`, 'sh', ...command]);
  return JSON.parse(stdout) as Outcome;
}

async function createStore(
  path: string,
  use: (ledger: Ledger) => Promise<void> = async () => undefined,
): Promise<void> {
  const db = await openSqlite({ path });
  const ledger = createLedger(db);
  await ledger.migrate();
  await ledger.createAccount({ id: 'a' });
  await use(ledger);
  await db.close();
}

/** Proves that the store has exactly what was admitted, and takes requests again. */
async function expectWhole(path: string, admitted: number): Promise<void> {
  const db = await openSqlite({ path });
  const ledger = createLedger(db);
  expect((await ledger.snapshotAccount('a')).usage.requests).toBe(admitted);
  expect((await ledger.verifyAccount('a')).ok && (await ledger.replayAccount('a')).ok).toBe(true);
  expect((await ledger.reserveRequest(ask('a', 1))).allowed).toBe(true);
  await db.close();
}

/** A small disk in memory; only root may mount one. */
function disk(
  command: 'mount -t tmpfs -o size=1m tmpfs' | 'mount -o remount,size=32m' | 'umount',
  folder: string,
): void {
  execFileSync('sh', ['-c', `${command} "$1"`, 'sh', folder], { stdio: 'ignore' });
}

function tryMount(folder: string): boolean {
  try {
    disk('mount -t tmpfs -o size=1m tmpfs', folder);
    return true;
  } catch {
    return false; // a limit of the file's size takes its place
  }
}

it('case L05: lets nothing through once the disk is full, keeps what it had admitted, and goes on when there is room', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-full-'));
  const isMounted = isRoot && tryMount(folder);
  const path = join(folder, 'store.db');
  try {
    await createStore(path);
    const outcome = await reserveElsewhere([path, '5000'], isMounted ? ':' : 'ulimit -f 1000');
    expect(outcome).toMatchObject({ code: 'ledger_unavailable' });
    expect(outcome.admitted).toBeGreaterThan(0);
    if (isMounted) disk('mount -o remount,size=32m', folder);
    await expectWhole(path, outcome.admitted);
  } finally {
    if (isMounted) disk('umount', folder);
    rmSync(folder, { recursive: true, force: true });
  }
});

it('case L05: lets nothing through when the file may grow no further', async () => {
  const store = freshSqlite();
  await createStore(store.location);
  const outcome = await reserveElsewhere([store.location, '5000'], 'ulimit -f 1000');
  expect(outcome).toMatchObject({ code: 'ledger_unavailable' });
  expect(outcome.admitted).toBeGreaterThan(0);
  await expectWhole(store.location, outcome.admitted);
  await store.remove();
});

it('case L05: lets nothing through when the file and its folder may only be read', async () => {
  const store = freshSqlite();
  const [path, folder] = [store.location, dirname(store.location)];
  await createStore(path);
  chmodSync(path, 0o444);
  chmodSync(folder, 0o555);
  const outcome = await reserveElsewhere([path, '1', ...(isRoot ? [nobody] : [])]);
  expect(outcome.admitted).toBe(0);
  expect(outcome.code).toMatch(/^(?:ledger_unavailable|not opened: store_\w+)$/u);
  chmodSync(folder, 0o755);
  chmodSync(path, 0o644);
  await expectWhole(path, 0);
  await store.remove();
});

it('case L05: lets nothing through while another process locks the file, and goes on when it is free', async () => {
  const store = freshSqlite();
  const ledger = createLedger(await store.open({ busyTimeoutMs: 50 }));
  await ledger.migrate();
  await ledger.createAccount({ id: 'a' });
  const locking = spawn(process.execPath, [script('lock-child'), store.location], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(locking.stdout, 'data');
  const input = ask('a', 5);
  expect(refusalOf(await ledger.reserveRequest(input)).code).toBe('ledger_unavailable');
  const closed = once(locking, 'close');
  locking.stdin.end();
  await closed;
  expect(await ledger.reserveRequest(input)).toEqual({ allowed: true, id: input.id });
  await store.remove();
});

it('case L05: lets nothing through when the file is damaged', async () => {
  const store = freshSqlite();
  const ledger = createLedger(await store.open());
  await ledger.migrate();
  await ledger.createAccount({ id: 'a' });
  const other = new Database(store.location);
  other.pragma('wal_checkpoint(TRUNCATE)');
  writeFileSync(store.location, 'x'.repeat(4096));
  other.close();
  expect(refusalOf(await ledger.reserveRequest(ask('a', 5))).code).toBe('ledger_unavailable');
  await store.remove().catch(() => 'a damaged store cannot be closed in order');
});
