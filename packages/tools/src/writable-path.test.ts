import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testWorkspace, treeHash } from './workspace.test.helper.js';

const addFile = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;

test('case T09: no file tool writes what belongs to git, at any depth, in any case, through any link; reading is free', async () => {
  const { call, write, root, path } = testWorkspace();
  for (const folder of ['.git/hooks', 'sub/.git', 'src']) mkdirSync(path(folder), { recursive: true });
  write('.git/config', '[core]\n');
  write('sub/.git/config', '[core]\n');
  symlinkSync('../.git/hooks', path('src/hooks'));
  symlinkSync('.git/config', path('settings'));
  const before = treeHash(root);
  for (const name of [
    '.git/hooks/pre-commit',
    '.GIT/config',
    'sub/.git/config',
    'src/hooks/pre-commit',
    'settings',
    'new/.git',
    '.g\u200cit/x',
    '.git. /x',
    'GIT~1/x',
  ]) {
    const refused = { ok: false, code: 'protected_path', errorEffect: 'none' };
    expect(await call('write_file', { path: name, content: 'x' })).toMatchObject(refused);
    expect(await call('apply_patch', { patch: addFile(name) })).toMatchObject(refused);
    expect(await call('edit_file', { path: name, oldText: '[core]', newText: 'x' })).toMatchObject(refused);
  }
  expect(treeHash(root)).toBe(before);
  expect((await call('read_file', { path: '.git/config' })).ok).toBe(true);
  expect((await call('write_file', { path: '.gitignore', content: 'x' })).ok).toBe(true);
});

test('an owner can let the file tools write there', async () => {
  const { call, text } = testWorkspace({ allowGitWrites: true });
  await call('write_file', { path: '.git/info/exclude', content: 'x\n' });
  expect(text('.git/info/exclude')).toBe('x\n');
});
