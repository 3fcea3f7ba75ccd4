import { chmodSync, existsSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { randomWord, testWorkspace, treeHash } from './workspace.test.helper.js';

const addFile = (path: string, line: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
const removeFile = (path: string, line: string) => `--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`;

test('case T17: a patch of which one hunk does not match changes nothing and names file and hunk', async () => {
  const { call, write, root } = testWorkspace();
  write('file2', 'one\ntwo\nthree\n');
  write('file3', 'gone\n');
  const before = treeHash(root);
  const update = '--- a/file2\n+++ b/file2\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n@@ -3 +3 @@\n-missing\n+x\n';
  const result = await call('apply_patch', { patch: addFile('new/file1', 'x') + update + removeFile('file3', 'gone') });
  expect(result).toMatchObject({ ok: false, code: 'patch_mismatch', errorEffect: 'none' });
  expect(result.output).toContain('Hunk 2 of 2 for "file2"');
  expect(treeHash(root)).toBe(before);
});

test('a patch adds, changes and removes files, and keeps mode, CRLF and a missing final newline', async () => {
  const { call, write, path, text } = testWorkspace();
  const word = randomWord();
  write('crlf.txt', 'a\r\nb\r\nc');
  chmodSync(path('crlf.txt'), 0o755);
  write('old.txt', 'gone\n');
  const update = `diff --git a/crlf.txt b/crlf.txt\n--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+${word}\n c\n\\ No newline at end of file\n`;
  const result = await call('apply_patch', {
    patch: update + addFile('sub/new.txt', word) + removeFile('old.txt', 'gone'),
  });
  expect(result.output).toBe('Updated crlf.txt\nAdded sub/new.txt\nRemoved old.txt');
  expect(text('crlf.txt')).toBe(`a\r\n${word}\r\nc`);
  expect(statSync(path('crlf.txt')).mode & 0o777).toBe(0o755);
  expect(text('sub/new.txt')).toBe(`${word}\n`);
  expect(existsSync(path('old.txt'))).toBe(false);
});

test('a line that is shown to end the file fits the last line alone, and the line break at the end is as the patch says', async () => {
  const { call, write, text } = testWorkspace();
  const end = '\\ No newline at end of file\n';
  let files = 0;
  const patched = async (before: string, hunk: string) => {
    const name = `${(files += 1)}.txt`;
    write(name, before);
    const result = await call('apply_patch', { patch: `--- a/${name}\n+++ b/${name}\n${hunk}` });
    return result.ok ? text(name) : result.code;
  };
  expect(await patched('x\nfoo\nx\nfoo', `@@ -2,1 +2,1 @@\n-foo\n${end}+bar\n`)).toBe('x\nfoo\nx\nbar\n');
  expect(await patched('foo\nfoo', `@@ -1,1 +1,1 @@\n-foo\n${end}+bar\n${end}`)).toBe('foo\nbar');
  expect(await patched('foo\nend\n', `@@ -1,1 +1,1 @@\n-foo\n${end}+bar\n`)).toBe('patch_mismatch');
  expect(await patched('a\nfoo', `@@ -2,1 +1,0 @@\n-foo\n${end}`)).toBe('a\n');
  expect(await patched('foo\n', `@@ -1,1 +1,1 @@\n-foo\n+bar\n${end}`)).toBe('bar');
  expect(await patched('a\nfoo', '@@ -1,2 +1,3 @@\n a\n foo\n+bar\n')).toBe('a\nfoo\nbar');
  expect(await patched('a\r\nfoo', '@@ -1,2 +1,2 @@\n a\n-foo\n+bar\n')).toBe('a\r\nbar');
  expect(await patched('a\r\nfoo', `@@ -1,2 +1,2 @@\n a\n-foo\n${end}+bar\n${end}`)).toBe('a\r\nbar');
  expect(await patched('foo\n', '@@ -1,1 +1,1 @@\n-foo\n+b\0r\n')).toBe('invalid_patch');
  expect(await patched('a\n', '@@ -1,2 +1,1 @@\n a\n-\n')).toBe('patch_mismatch');
  expect(await patched('\r\n\n', '@@ -1,2 +1,2 @@\n \n-\n+x\n')).not.toBe('\r\n\nx');
  expect(await patched('a\nb\n', '@@ -30,0 +31 @@\n+}\n')).toBe('a\nb\n}\n');
  expect(await patched('a\nb\n', '@@ -3,0 +4 @@\n+}\n')).toBe('a\nb\n}\n');
  expect(await patched('a\nb', '@@ -3,0 +4 @@\n+}\n')).toBe('a\nb\n}');
  expect(await patched('', '@@ -1,0 +1,2 @@\n+a\n+b\n')).toBe('a\nb\n');
  expect(await patched('c', `@@ -1 +1 @@\n-c\n${end}+\n`)).toBe('\n');
  expect(await patched('a\nb\nc\n', `@@ -1,2 +1,2 @@\n a\n-b\n+x\n${end}`)).toBe('patch_mismatch');
  expect(await patched('a\n', '@@ -1 +0,0 @@\n-a\n')).toBe('');
  expect(await patched('a\nfoo\n', `@@ -2 +2 @@\n-foo\n${end}+bar\n`)).toBe('patch_mismatch');
  expect(await patched('a\nb', `@@ -1,2 +1,3 @@\n a\n+x\n${end} b\n${end}`)).toBe('patch_mismatch');
});

test('wrong counts and line numbers in hunk headers do no harm, wrong context does', async () => {
  const { call, write, text } = testWorkspace();
  write('a.txt', 'one\ntwo\n\nthree\nfour\n');
  await call('apply_patch', {
    patch: '--- a/a.txt\n+++ b/a.txt\n@@ -77,1 +90,9 @@\n two\n\n-three\n+THREE\n four\n\n',
  });
  expect(text('a.txt')).toBe('one\ntwo\n\nTHREE\nfour\n');
  const result = await call('apply_patch', { patch: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n uno\n-two\n+2\n' });
  expect(result.code).toBe('patch_mismatch');
});

test('hunks whose numbers are all wrong are placed one after the other; one without lines of the file goes to the end at most', async () => {
  const { call, write, text } = testWorkspace();
  write('a.txt', 'one\ntwo\nthree\nfour\n');
  const hunks = '@@ -17,1 +17,1 @@\n-one\n+ONE\n@@ -19,1 +19,1 @@\n-three\n+THREE\n@@ -26,0 +27,1 @@\n+five\n';
  await call('apply_patch', { patch: `--- a/a.txt\n+++ b/a.txt\n${hunks}` });
  expect(text('a.txt')).toBe('ONE\ntwo\nTHREE\nfour\nfive\n');
  write('far.txt', `${'same\n'.repeat(6)}here\n${'same\n'.repeat(6)}`);
  const nearby = '@@ -1,1 +1,1 @@\n-here\n+HERE\n@@ -4,1 +4,1 @@\n-same\n+third\n';
  await call('apply_patch', { patch: `--- a/far.txt\n+++ b/far.txt\n${nearby}` });
  expect(text('far.txt')).toBe(`${'same\n'.repeat(6)}HERE\nsame\nsame\nthird\n${'same\n'.repeat(3)}`);
  const outOfOrder = '@@ -1,1 +1,1 @@\n-four\n+4\n@@ -4,1 +4,1 @@\n-two\n+2\n';
  expect(await call('apply_patch', { patch: `--- a/a.txt\n+++ b/a.txt\n${outOfOrder}` })).toMatchObject({
    code: 'patch_mismatch',
    output: expect.stringContaining('Hunk 2 of 2'),
  });
});

test('nothing is put behind a line that the patch itself shows as the end of the file', async () => {
  const { call, write, text } = testWorkspace();
  const end = '\\ No newline at end of file\n';
  for (const [before, first] of [
    ['a\n', '@@ -2,0 +2 @@\n+x\n'],
    ['a\n', '@@ -1 +1 @@\n-a\n+x\n'],
    ['a', `@@ -1 +1 @@\n-a\n${end}+x\n`],
  ] as const) {
    write('a.txt', before);
    await call('read_file', { path: 'a.txt' });
    for (const second of ['+y\n', `+y\n${end}`]) {
      const patch = `--- a/a.txt\n+++ b/a.txt\n${first}${end}@@ -3,0 +4 @@\n${second}`;
      expect(await call('apply_patch', { patch })).toMatchObject({ code: 'patch_mismatch', errorEffect: 'none' });
      expect(text('a.txt')).toBe(before);
    }
  }
});

test('lines that a patch shows with other breaks than the file has stay as they are, and what it adds gets those of the file', async () => {
  const { call, write, text } = testWorkspace();
  const patch = (name: string, hunk: string) => call('apply_patch', { patch: `--- a/${name}\n+++ b/${name}\n${hunk}` });
  write('mixed', 'a\r\nb\nc\r\n');
  await patch('mixed', '@@ -1,3 +1,4 @@\n a\n b\n+new\n c\n');
  expect(text('mixed')).toBe('a\r\nb\nnew\r\nc\r\n');
  write('unix', 'a\nb\n');
  await patch('unix', '@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n');
  expect(text('unix')).toBe('a\nB\n');
  write('windows', 'a\r\nb\r\n');
  await patch('windows', '@@ -1,0 +2,1 @@\n+new\n');
  expect(text('windows')).toBe('a\r\nnew\r\nb\r\n');
  const open = (end: string) => `\\ No newline at end of file${end}\n`;
  write('return', 'a\r');
  await patch('return', `@@ -1 +1 @@\n-a\r\n${open('')}+b\r\n${open('')}`);
  expect(text('return')).toBe('b\r');
  write('open', 'a');
  await patch('open', `@@ -1 +1 @@\r\n-a\r\n${open('\r')}+b\r\n${open('\r')}`);
  expect(text('open')).toBe('b');
  write('literal', 'a\r\nb\n');
  await patch('literal', '@@ -1,2 +1,3 @@\n a\r\n+new\n b\n');
  expect(text('literal')).toBe('a\r\nnew\nb\n');
});

test('what is no patch, names one file twice, renames, or adds what exists is refused', async () => {
  const { call, write, root, path } = testWorkspace();
  write('a.txt', 'x\n');
  symlinkSync('a.txt', path('link.txt'));
  const before = treeHash(root);
  const edit = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-x\n+y\n`;
  for (const patch of [
    'hello',
    edit('a.txt') + edit('a.txt'),
    edit('a.txt') + edit('link.txt'),
    'diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n',
    addFile('a.txt', 'x'),
    removeFile('nope.txt', 'x'),
    removeFile('link.txt', 'x'),
    edit('../out.txt'),
  ]) {
    expect(await call('apply_patch', { patch })).toMatchObject({ ok: false, errorEffect: 'none' });
  }
  write('two-lines.txt', 'x\ny\n');
  const partly = await call('apply_patch', { patch: removeFile('two-lines.txt', 'x') });
  expect(partly).toMatchObject({ ok: false, errorEffect: 'none' });
  expect(treeHash(root)).not.toBe(before);
  expect(readdirSync(root).sort()).toEqual(['a.txt', 'link.txt', 'two-lines.txt']);
});

test('a failure after the first file was written puts everything back, new folders too', async () => {
  const { call, write, root, path } = testWorkspace();
  write('a.txt', 'x\n');
  write('b.txt', 'x\n');
  write('gone.txt', 'gone\n');
  chmodSync(path('gone.txt'), 0o600);
  const before = treeHash(root);
  let writes = 0;
  const gate = () => {
    writes += 1;
    if (writes === 4) throw new Error('the disk is on fire');
  };
  const edit = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-x\n+y\n`;
  const result = await call(
    'apply_patch',
    { patch: addFile('new/deep/c.txt', 'c') + removeFile('gone.txt', 'gone') + edit('a.txt') + edit('b.txt') },
    { gate },
  );
  expect(result).toMatchObject({ ok: false, errorEffect: 'none' });
  expect(writes).toBe(4);
  expect(treeHash(root)).toBe(before);
});

test('a patch against a version that changed since it was read is refused', async () => {
  const { call, write } = testWorkspace();
  write('a.txt', 'x\n');
  await call('read_file', { path: 'a.txt' });
  write('a.txt', 'x\nmore\n');
  expect(await call('apply_patch', { patch: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n' })).toMatchObject({
    code: 'stale',
  });
});

test('a patch that names a file and something inside it is refused before anything is written', async () => {
  const { call, write, root } = testWorkspace();
  write('old', 'x\n');
  const before = treeHash(root);
  for (const patch of [
    addFile('q', 'x') + addFile('q/r', 'x'),
    addFile('a/b/c', 'x') + addFile('a/b', 'x'),
    removeFile('old', 'x') + addFile('old/new', 'x'),
  ]) {
    expect(await call('apply_patch', { patch })).toMatchObject({ ok: false, errorEffect: 'none' });
  }
  expect(await call('apply_patch', { patch: addFile('q', 'x') + addFile('q/r', 'x') })).toMatchObject({
    code: 'invalid_patch',
  });
  expect(treeHash(root)).toBe(before);
});

test('names that differ in case only do not wait for each other', async () => {
  const { call, text } = testWorkspace();
  const result = await call('apply_patch', { patch: addFile('Readme', 'one') + addFile('readme', 'two') });
  expect(result.output).toBe('Added Readme\nAdded readme');
  expect([text('Readme'), text('readme')]).toEqual(['one\n', 'two\n']);
});
