import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from './workspace.test.helper.js';

const run = promisify(execFile);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));

/** The examples in a folder of their own, with what `npm install` would put beside them. */
function installedExamples(): string {
  const folder = temporaryFolder();
  for (const example of ['custom-tool', 'mcp-in', 'mcp-out']) {
    cpSync(join(packageFolder, '../../examples', example), join(folder, example), { recursive: true });
  }
  mkdirSync(join(folder, 'node_modules/@stint'), { recursive: true });
  symlinkSync(packageFolder, join(folder, 'node_modules/@stint/tools'));
  symlinkSync(realpathSync(join(packageFolder, 'node_modules/zod')), join(folder, 'node_modules/zod'));
  return folder;
}

async function outputOf(script: string): Promise<string> {
  const { stdout } = await run(process.execPath, [script], {
    cwd: dirname(script),
    env: { PATH: process.env['PATH'], TMPDIR: temporaryFolder() },
  });
  return stdout;
}

test('examples/custom-tool runs: one call works, three fail with the effect they had', async () => {
  const lines = (await outputOf(join(installedExamples(), 'custom-tool/count-words.js'))).trim().split('\n');
  expect(lines[0]).toMatch(/^ok - \{"words":\d+\}$/);
  expect(lines[1]).toBe('failed, effect none - missing.txt cannot be read.');
  expect(lines[2]).toMatch(/^failed, effect none - .*outside of the workspace/);
  expect(lines[3]).toMatch(/^failed, effect none - Invalid input for count_words\. path: /);
});

test('examples/mcp-in uses the server of examples/mcp-out', { timeout: 30_000 }, async () => {
  const output = await outputOf(join(installedExamples(), 'mcp-in/main.js'));
  expect(output).toMatch(/example__read_file\s+may change things \{"readOnlyHint":true/);
  expect(output).toContain('ok: Hello from another process.');
  expect(output).toMatch(/failed: .*outside/);
  expect(output).toContain('only the tests may be run');
});
