import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../scripts/copy-page.mjs', import.meta.url));
let apps: string;

beforeEach(() => {
  apps = mkdtempSync(join(tmpdir(), 'stint-copy-'));
  mkdirSync(join(apps, 'bridge', 'scripts'), { recursive: true });
  cpSync(script, join(apps, 'bridge', 'scripts', 'copy-page.mjs'));
});
afterEach(() => rmSync(apps, { recursive: true, force: true }));

const copyPage = () =>
  spawnSync(process.execPath, [join(apps, 'bridge', 'scripts', 'copy-page.mjs')], { encoding: 'utf8' });

test('the build of the bridge fails clearly when the page is not built', () => {
  const { status, stderr } = copyPage();
  expect(status).toBe(1);
  expect(stderr).toMatch(/page is not built.*index\.html[\s\S]*build it first/i);
});

test('the built page replaces the one before it', () => {
  mkdirSync(join(apps, 'web', 'dist'), { recursive: true });
  writeFileSync(join(apps, 'web', 'dist', 'index.html'), 'new');
  mkdirSync(join(apps, 'bridge', 'dist', 'page'), { recursive: true });
  writeFileSync(join(apps, 'bridge', 'dist', 'page', 'old.js'), 'old');
  expect(copyPage().status).toBe(0);
  expect(readFileSync(join(apps, 'bridge', 'dist', 'page', 'index.html'), 'utf8')).toBe('new');
  expect(existsSync(join(apps, 'bridge', 'dist', 'page', 'old.js'))).toBe(false);
});
