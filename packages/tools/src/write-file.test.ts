import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { randomWord, testWorkspace, treeHash } from './workspace.test.helper.js';

test('a new file is made with its folders; an existing one keeps its mode', async () => {
  const { call, path, text } = testWorkspace();
  expect((await call('write_file', { path: 'a/b/c.txt', content: 'x' })).output).toBe('Created a/b/c.txt (1 bytes).');
  chmodSync(path('a/b/c.txt'), 0o640);
  await call('write_file', { path: 'a/b/c.txt', content: 'y' });
  expect(statSync(path('a/b/c.txt')).mode & 0o7777).toBe(0o640);
  expect(text('a/b/c.txt')).toBe('y');
  expect(readdirSync(path('a/b'))).toEqual(['c.txt']);
});

test('a file whose lines all end in CRLF keeps them; a mixed one is written as given', async () => {
  const { call, write, text } = testWorkspace();
  write('crlf.txt', 'a\r\nb\r\n');
  await call('write_file', { path: 'crlf.txt', content: 'x\ny\nz' });
  expect(text('crlf.txt')).toBe('x\r\ny\r\nz');
  write('mixed.txt', 'a\r\nb\n');
  await call('write_file', { path: 'mixed.txt', content: 'x\ny\n' });
  expect(text('mixed.txt')).toBe('x\ny\n');
});

test('a write that cannot be done leaves nothing behind, not even folders', async () => {
  const { call, root, write } = testWorkspace();
  write('file', 'x');
  const before = treeHash(root);
  for (const path of [`new/folder/${'n'.repeat(300)}`, 'file/below', `deep/${'d'.repeat(300)}/x`]) {
    expect(await call('write_file', { path, content: 'y' })).toMatchObject({ ok: false, errorEffect: 'none' });
  }
  expect(treeHash(root)).toBe(before);
});

test('a call stopped at the last moment has written nothing', async () => {
  const { call, root, write } = testWorkspace();
  write('a.txt', 'old');
  const before = treeHash(root);
  const result = await call('write_file', { path: 'a.txt', content: 'new' }, { signal: AbortSignal.abort() });
  expect(result).toMatchObject({ ok: false, code: 'aborted', errorEffect: 'none' });
  expect(treeHash(root)).toBe(before);
});

test('after kill -9 in the middle of a write the file is the old one, whole', async () => {
  const { root, write, text } = testWorkspace();
  const old = `${randomWord()}\n`.repeat(1000);
  write('a.txt', old);
  const entry = pathToFileURL(new URL('../dist/index.js', import.meta.url).pathname).href;
  const script = `import { createRegistry, workspaceTools } from ${JSON.stringify(entry)};
    const registry = createRegistry(workspaceTools({ root: process.argv[1], mode: 'write' }));
    const gate = () => process.kill(process.pid, 'SIGKILL');
    await registry.call('write_file', { path: 'a.txt', content: 'new' }, { signal: new AbortController().signal, gate });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, root], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(text('a.txt')).toBe(old);
  expect(readdirSync(root)).toHaveLength(2); // and its temporary file
  const restarted = testWorkspace({ root });
  expect((await restarted.call('write_file', { path: 'b.txt', content: 'b' })).ok).toBe(true);
  expect(readdirSync(root)).toEqual(['a.txt', 'b.txt']);
});

test('a path spelled as a folder is not the file of that name', async () => {
  const { call, write, root, path } = testWorkspace();
  write('name', 'old\n');
  const before = treeHash(root);
  for (const spelled of ['name/', 'name//', 'name/.', './name/', 'new/', 'new/.', 'sub/..', `${path('name')}/`]) {
    const patch = `--- a/${spelled}\n+++ b/${spelled}\n@@ -1 +1 @@\n-old\n+x\n`;
    const added = `--- /dev/null\n+++ b/${spelled}\n@@ -0,0 +1 @@\n+x\n`;
    for (const [tool, input] of [
      ['write_file', { path: spelled, content: 'x' }],
      ['edit_file', { path: spelled, oldText: 'old', newText: 'x' }],
      ['read_file', { path: spelled }],
      ['apply_patch', { patch }],
      ['apply_patch', { patch: added }],
    ] as const) {
      expect([spelled, tool, await call(tool, input)]).toMatchObject([
        spelled,
        tool,
        { ok: false, code: 'invalid_path', errorEffect: 'none' },
      ]);
    }
  }
  expect(treeHash(root)).toBe(before);
});
