import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entryFacts, writeAtomically } from './atomic-write.js';
import { openDirectory, openForReading } from './open-confined.js';
import { testWorkspace, treeHash } from './workspace.test.helper.js';
import { confine, openWorkspace } from './workspace.js';

/** Every tool that takes a path, with an input that would do something at `path`. */
function everyPathTool(path: string): readonly (readonly [string, Record<string, unknown>])[] {
  return [
    ['read_file', { path }],
    ['write_file', { path, content: 'changed' }],
    ['edit_file', { path, oldText: 'secret', newText: 'changed' }],
    ['list_directory', { path }],
    ['grep', { path, pattern: 'secret' }],
    ['glob', { path, pattern: '*' }],
    ['apply_patch', { patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-secret\n+changed\n` }],
  ];
}

test('no path tool reaches out: by dots, absolute paths, a sibling with the same prefix, links and links to nowhere', async () => {
  const { call, outside, path } = testWorkspace();
  writeFileSync(join(outside, 'secret.txt'), 'secret\n');
  mkdirSync(path('sub'));
  symlinkSync(outside, path('folder-link'));
  symlinkSync(join(outside, 'secret.txt'), path('file-link'));
  symlinkSync(join(outside, 'not-there.txt'), path('dangling'));
  symlinkSync('../../work-outside', path('sub/relative-link'));
  symlinkSync('loop', path('loop'));
  const before = treeHash(outside);
  const ways = [
    '../work-outside/secret.txt',
    join(outside, 'secret.txt'),
    'folder-link/secret.txt',
    'file-link',
    'sub/relative-link/secret.txt',
    'dangling',
    'folder-link/new.txt',
    'loop',
    'a\0b',
    '/etc/passwd',
  ];
  for (const way of ways) {
    for (const [tool, input] of everyPathTool(way)) {
      const result = await call(tool, input);
      expect([tool, way, result.ok, result.errorEffect]).toEqual([tool, way, false, 'none']);
      expect(result.output).not.toContain('secret\n');
    }
  }
  expect(treeHash(outside)).toBe(before);
  expect(await call('write_file', { path: 'dangling', content: 'x' })).toMatchObject({ code: 'dangling_link' });
});

test('a refusal tells nothing about what is outside', async () => {
  const { call, outside } = testWorkspace();
  writeFileSync(join(outside, 'there.txt'), 'x');
  const [there, missing] = [
    await call('read_file', { path: '../work-outside/there.txt' }),
    await call('read_file', { path: '../work-outside/nope.txt' }),
  ];
  expect(there.code).toBe('outside_workspace');
  expect(missing.output.replace('nope', 'there')).toBe(there.output);
});

test('links that stay inside, dots that stay inside and absolute paths inside work', async () => {
  const { call, path, write, text } = testWorkspace();
  mkdirSync(path('real'));
  write('real/a.txt', 'one');
  symlinkSync('real', path('alias'));
  expect((await call('read_file', { path: 'alias/a.txt' })).output).toBe('one');
  expect((await call('read_file', { path: 'real/../alias/./a.txt' })).output).toBe('one');
  expect((await call('write_file', { path: path('alias/b.txt'), content: 'two' })).ok).toBe(true);
  expect(text('real/b.txt')).toBe('two');
});

test('a folder swapped for a link between check and use is refused', async () => {
  const { root, outside, path, write } = testWorkspace();
  mkdirSync(path('dir'));
  write('dir/a.txt', 'inside');
  writeFileSync(join(outside, 'a.txt'), 'secret');
  const workspace = openWorkspace(root);
  const checked = await confine(workspace, 'dir/a.txt');
  renameSync(path('dir'), path('moved'));
  symlinkSync(outside, path('dir'));
  await expect(openForReading(workspace, checked)).rejects.toMatchObject({ code: 'path_changed', errorEffect: 'none' });
  await expect(openDirectory(workspace, join(root, 'dir'))).rejects.toMatchObject({ code: 'path_changed' });
});

test('a file swapped for a link between check and use is refused', async () => {
  const { root, outside, path, write } = testWorkspace();
  write('a.txt', 'inside');
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  const workspace = openWorkspace(root);
  const checked = await confine(workspace, 'a.txt');
  rmSync(path('a.txt'));
  symlinkSync(join(outside, 'secret.txt'), path('a.txt'));
  await expect(openForReading(workspace, checked)).rejects.toMatchObject({ code: 'path_changed' });
});

test('a folder or file that changed before the rename is not replaced', async () => {
  const { root, path, write, text } = testWorkspace();
  mkdirSync(path('dir'));
  write('dir/a.txt', 'old');
  const workspace = openWorkspace(root);
  const content = Buffer.from('new');
  const [stale, moved] = [await openDirectory(workspace, path('dir')), await openDirectory(workspace, path('dir'))];
  const replaces = await entryFacts(stale, 'a.txt');
  write('dir/a.txt', 'changed meanwhile');
  await expect(writeAtomically({ directory: stale, name: 'a.txt', content, replaces })).rejects.toMatchObject({
    code: 'stale',
    errorEffect: 'none',
  });
  const current = await entryFacts(moved, 'a.txt');
  renameSync(path('dir'), path('moved'));
  await expect(writeAtomically({ directory: moved, name: 'a.txt', content, replaces: current })).rejects.toMatchObject({
    code: 'path_changed',
    errorEffect: 'none',
  });
  await Promise.all([stale.close(), moved.close()]);
  expect(text('moved/a.txt')).toBe('changed meanwhile');
  expect(readdirSync(path('moved'))).toEqual(['a.txt']);
});

test('a folder moved out of the way at the last moment takes the write nowhere else', async () => {
  const { call, outside, path, write } = testWorkspace();
  mkdirSync(path('dir'));
  write('dir/a.txt', 'old');
  writeFileSync(join(outside, 'a.txt'), 'secret');
  const gate = () => {
    renameSync(path('dir'), path('moved'));
    symlinkSync(outside, path('dir'));
  };
  await call('write_file', { path: 'dir/a.txt', content: 'new' }, { gate });
  expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('secret');
});

const SWAP_FOR_EVER = `
const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
const attempt = (step) => { try { step(); return true; } catch { return false; } };
for (;;) {
  renameSync('dir', 'd2');
  if (attempt(() => symlinkSync(process.argv[1], 'dir'))) unlinkSync('dir');
  // A write that found no folder may have made one meanwhile.
  while (!attempt(() => renameSync('d2', 'dir'))) attempt(() => rmSync('dir', { recursive: true }));
}`;

test('while another process swaps a folder for a link all the time, nothing outside is read or written', {
  timeout: 30_000,
}, async () => {
  const { call, outside, path, write, root } = testWorkspace();
  mkdirSync(path('dir'));
  write('dir/a.txt', 'inside');
  writeFileSync(join(outside, 'a.txt'), 'secret');
  // One process that starts no others: once it has ended, nothing more happens in the folder.
  const swapper = spawn(process.execPath, ['-e', SWAP_FOR_EVER, outside], { cwd: root, stdio: 'ignore' });
  const ended = once(swapper, 'exit');
  try {
    let reached = 0;
    for (let round = 0; round < 150; round += 1) {
      const read = await call('read_file', { path: 'dir/a.txt' });
      expect(read.output).not.toContain('secret');
      const written = await call('write_file', { path: 'dir/a.txt', content: 'inside' });
      await call('write_file', { path: `dir/new-${round}.txt`, content: 'x' });
      if (read.ok || written.ok) reached += 1;
    }
    expect(reached).toBeGreaterThan(0);
  } finally {
    swapper.kill('SIGKILL');
    await ended; // a swapper that still runs would fill the folder again while it is removed
  }
  expect(swapper.signalCode).toBe('SIGKILL'); // it swapped to the end
  expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('secret');
  expect(readdirSync(outside)).toEqual(['a.txt']);
});

test('a workspace that is named through a link works, one that does not exist is refused', async () => {
  const { root, outside } = testWorkspace();
  symlinkSync(root, join(outside, 'link-to-work'));
  const { call } = testWorkspace({ root: join(outside, 'link-to-work') });
  expect((await call('write_file', { path: 'x.txt', content: '1' })).ok).toBe(true);
  expect(readFileSync(join(root, 'x.txt'), 'utf8')).toBe('1');
  expect(() => openWorkspace(join(outside, 'nope'))).toThrow(/not a folder/);
  for (const folder of ['/', '/proc', '/dev']) expect(() => openWorkspace(folder)).toThrow(/not a folder/);
});

test('read mode has no tool that writes and no shell', () => {
  const { registry } = testWorkspace({ mode: 'read' });
  expect(registry.list().map(({ name }) => name)).toEqual([
    'read_file',
    'list_directory',
    'glob',
    'grep',
    'fetch_url',
    'todo_write',
  ]);
  expect(registry.list().every(({ readOnly, sideEffectScope }) => readOnly === true || sideEffectScope === 'run')).toBe(
    true,
  );
});

test('a write-protected file is refused to all but root, who may write it and leaves it protected', async () => {
  const { call, write, path } = testWorkspace();
  write('a.txt', 'x');
  chmodSync(path('a.txt'), 0o444);
  const result = await call('write_file', { path: 'a.txt', content: 'y' });
  if (process.getuid?.() === 0) expect(result.ok).toBe(true);
  else expect(result).toMatchObject({ code: 'not_writable', errorEffect: 'none' });
  expect(statSync(path('a.txt')).mode & 0o777).toBe(0o444);
});
