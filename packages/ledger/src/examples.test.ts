/** Runs the examples as a user would, with this package in place of the published one. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** Inside the package, so that its own name is found, and outside of what is packed. */
const folder = mkdtempSync(here('../.examples-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function runExample(name: string): Promise<string> {
  const script = join(folder, `${name}.mjs`);
  cpSync(here(`../../../examples/ledger-${name}/main.mjs`), script);
  const { stdout } = await run(process.execPath, [script], { cwd: folder });
  return stdout;
}

it('caps an app and refuses what does not fit', async () => {
  expect(await runExample('cap-app')).toMatch(/Spent \d+ micros, \d+ left\.\ncost_exhausted: /u);
});

it('shares a budget within a tree', async () => {
  expect(await runExample('tree')).toContain('team: 7000 charged, 5000 of them held, 3000 left');
});

it("caps each day of a zone's calendar", async () => {
  expect(await runExample('daily-window')).toBe(
    'first: true\nsecond: window_exhausted until 2026-03-28T23:00:00.000Z\nnext day: true\n',
  );
});

it('verifies, replays and exports a journal, and finds a changed line', async () => {
  const output = await runExample('verify-export');
  expect(output).toContain('verify: {"ok":true,"accounts":1,"entries":7}\nreplay: {"ok":true');
  expect(output).toMatch(/after tampering: \{"ok":false,"misfit":\{"account":"app","seq":3/u);
});
