// @ts-check
/** Installs the peers beside this file, once for each state of their lock file. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const stamp = join(folder, 'node_modules/.installed-lock.json');
const longestMs = 300_000;

/** No package runs a script of its own: none of what is measured here needs one. */
const parameters = ['ci', '--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund', '--loglevel=error'];

/** @returns {string | null} why the peers cannot be had, null when they are there */
export function installPeers() {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return null;
  console.error('> installing the peers into bench/peers (about 15 s)');
  const { status, error, stderr } = spawnSync('npm', parameters, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: longestMs,
  });
  if (status !== 0) return `npm ci in bench/peers failed: ${firstLine(error?.message ?? stderr)}`;
  writeFileSync(stamp, lock);
  return null;
}

/** @param {string} text */
const firstLine = (text) => text.trim().split('\n')[0] || 'no reason given';
