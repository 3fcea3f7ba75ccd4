import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { startChild } from './child.test.helper.js';
import { refusal } from './conformance-case.js';
import { openSqlite } from './sqlite.js';

it.each([30 * 24 * 3_600_000, 2, 1.5, Number.NaN])(
  'case C27: a lease of %d ms is refused, because no timer could keep it',
  async (leaseMs) => {
    const path = join(tmpdir(), 'never-made.db');
    const error = await refusal(openSqlite({ path, leaseMs }), 'options_refused');
    expect(error.message).toContain(String(leaseMs));
  },
);

it('a Postgres store without the package pg is refused with the way to install it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-alone-'));
  cpSync(new URL('../dist', import.meta.url), folder, { recursive: true });
  const child = startChild(
    `const { openPostgres } = await import(args[0]);
     await openPostgres({ url: 'postgres://127.0.0.1/none' }).catch(({ code, message }) => say({ code, message }));`,
    pathToFileURL(join(folder, 'postgres.js')).href,
  );
  expect(await child.next()).toEqual({ code: 'options_refused', message: expect.stringContaining('npm install pg') });
  await child.ended;
  rmSync(folder, { recursive: true });
});
