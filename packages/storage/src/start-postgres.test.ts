import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { startChild } from './child.test.helper.js';
import { startPostgres } from './start-postgres.js';

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

it('starts a server with fsync on when asked, and deletes its data when stopped', async () => {
  const server = await startPostgres({ fsync: true, settings: { work_mem: '5MB' } });
  expect(await ask(server.url, 'SHOW fsync')).toBe('on');
  expect(await ask(server.url, 'SHOW work_mem')).toBe('5MB');
  const data = String(await ask(server.url, 'SHOW data_directory'));
  expect(existsSync(data)).toBe(true);
  await server.stop();
  expect(existsSync(data)).toBe(false);
  await expect(ask(server.url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
});

it('a server ends, and its data goes, when the process that started it is killed', async () => {
  const testing = new URL('../dist/testing.js', import.meta.url).href;
  const child = startChild(
    `const { startPostgres } = await import(args[0]);
    const server = await startPostgres();
    say(server.url);
    process.stdin.resume();`,
    testing,
  );
  const url = String(await child.next());
  const data = String(await ask(url, 'SHOW data_directory'));
  child.process.kill('SIGKILL');
  await child.ended;
  const deadline = performance.now() + 10_000;
  while (existsSync(data) && performance.now() < deadline) await sleep(20);
  expect(existsSync(data)).toBe(false);
  await expect(ask(url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
});
