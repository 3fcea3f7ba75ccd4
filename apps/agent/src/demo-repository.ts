import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataDirectory } from './data-directory.js';

/** A small git repository with a failing test, beside the data directory (never within it). An existing one is left as it is. @returns its path */
export function makeDemoRepository(data: DataDirectory): string {
  const directory = join(dirname(data.path), 'stint-demo');
  if (existsSync(directory)) return directory;
  mkdirSync(join(directory, 'test'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{ "name": "demo", "private": true, "type": "module" }\n');
  writeFileSync(join(directory, 'price.js'), 'export function total(price, count) {\n  return price + count;\n}\n');
  writeFileSync(
    join(directory, 'test/price.test.js'),
    "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { total } from '../price.js';\n\ntest('the total is price times count', () => {\n  assert.equal(total(4, 5), 20);\n  assert.equal(total(7, 3), 21);\n});\n",
  );
  const git = (...words: string[]): void => {
    spawnSync('git', ['-c', 'user.name=Stint', '-c', 'user.email=stint@localhost', ...words], {
      cwd: directory,
      stdio: 'ignore',
    });
  };
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'Begin');
  return directory;
}
