import { chmodSync, linkSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { randomWord, testWorkspace, treeHash } from './workspace.test.helper.js';

describe('bytes', () => {
  test('case T01: a file that is not UTF-8 is refused untouched, with the place of the bad byte', async () => {
    const { call, write, root } = testWorkspace();
    write('latin1.js', Buffer.from('const x = 1;\n// caf\xe9\n', 'latin1'));
    const before = treeHash(root);
    const result = await call('edit_file', { path: 'latin1.js', oldText: '1', newText: '2' });
    expect(result).toMatchObject({ ok: false, code: 'not_utf8', errorEffect: 'none' });
    expect(result.output).toContain('byte 0xe9 at offset 19');
    expect(treeHash(root)).toBe(before);
  });

  test('case T05: replacement patterns in the new text are plain characters', async () => {
    const { call, write, text } = testWorkspace();
    for (const newText of ['$&', '$$', '$`', "$'", '$1', '$<name>', "$& $$ $` $' $1"]) {
      write('a.txt', 'abc');
      await call('read_file', { path: 'a.txt' });
      expect((await call('edit_file', { path: 'a.txt', oldText: 'b', newText })).ok).toBe(true);
      expect(text('a.txt')).toBe(`a${newText}c`);
    }
  });

  test('case T15: old text with LF matches a CRLF file and the edit keeps CRLF', async () => {
    const { call, write, text } = testWorkspace();
    write('a.txt', 'a\r\nb\r\nc\r\n');
    await call('edit_file', { path: 'a.txt', oldText: 'a\nb', newText: 'A\nB' });
    expect(text('a.txt')).toBe('A\r\nB\r\nc\r\n');
    await call('edit_file', { path: 'a.txt', oldText: 'B', newText: 'B\nmore\nlines' });
    expect(text('a.txt')).toBe('A\r\nB\r\nmore\r\nlines\r\nc\r\n');
    write('b.txt', 'x\r\ny\r\nx\r\ny\r\n');
    await call('edit_file', { path: 'b.txt', oldText: 'x\ny', newText: 'q\nr\ns', replaceAll: true });
    expect(text('b.txt')).toBe('q\r\nr\r\ns\r\nq\r\nr\r\ns\r\n');
    write('c.txt', 'one\r\ntwo\r\n');
    await call('edit_file', { path: 'c.txt', oldText: '\ntwo', newText: '\n2' });
    expect(text('c.txt')).toBe('one\r\n2\r\n');
  });

  test('case T29: with mixed line ends replace-all changes every occurrence and each keeps its own ends', async () => {
    const { call, write, text } = testWorkspace();
    write('mixed.txt', 'foo\r\nbar\nfoo\nbar\r\n');
    const result = await call('edit_file', {
      path: 'mixed.txt',
      oldText: 'foo\nbar',
      newText: 'X\nY',
      replaceAll: true,
    });
    expect(result.output).toContain('Replaced 2 occurrences');
    expect(text('mixed.txt')).toBe('X\r\nY\nX\nY\r\n');
  });

  test('case T27: the byte-order mark stays, and the first line matches without it', async () => {
    const { call, write, bytes } = testWorkspace();
    const mark = Buffer.from([0xef, 0xbb, 0xbf]);
    write('bom.txt', Buffer.concat([mark, Buffer.from('hello\n中文\n')]));
    expect((await call('read_file', { path: 'bom.txt' })).output).toBe('hello\n中文\n');
    await call('edit_file', { path: 'bom.txt', oldText: 'hello\n', newText: 'hello2\n' });
    expect(bytes('bom.txt')).toEqual(Buffer.concat([mark, Buffer.from('hello2\n中文\n')]));
    await call('write_file', { path: 'bom.txt', content: 'whole\n' });
    expect(bytes('bom.txt')).toEqual(Buffer.concat([mark, Buffer.from('whole\n')]));
  });

  test('case T37: a final newline is neither added nor taken away', async () => {
    const { call, write, text } = testWorkspace();
    for (const end of ['', '\n']) {
      write('a.txt', `abc${end}`);
      await call('read_file', { path: 'a.txt' });
      await call('edit_file', { path: 'a.txt', oldText: 'c', newText: 'd' });
      expect(text('a.txt')).toBe(`abd${end}`);
    }
  });

  test('mode and the link that led to the file stay as they were', async () => {
    const { call, write, path, text } = testWorkspace();
    write('run.sh', 'echo one\n');
    chmodSync(path('run.sh'), 0o751);
    symlinkSync('run.sh', path('link.sh'));
    expect((await call('edit_file', { path: 'link.sh', oldText: 'one', newText: 'two' })).ok).toBe(true);
    expect(statSync(path('run.sh')).mode & 0o7777).toBe(0o751);
    expect(readFileSync(path('link.sh'), 'utf8')).toBe('echo two\n');
    expect(text('run.sh')).toBe('echo two\n');
  });

  test('a hard link elsewhere keeps the old content', async () => {
    const { call, write, path, outside } = testWorkspace();
    write('a.txt', 'shared');
    linkSync(path('a.txt'), `${outside}/a.txt`);
    await call('edit_file', { path: 'a.txt', oldText: 'shared', newText: 'mine' });
    expect(readFileSync(`${outside}/a.txt`, 'utf8')).toBe('shared');
  });

  test('half of a surrogate pair is refused, since it would be written as another character', async () => {
    const { call, write, text } = testWorkspace();
    write('a.txt', 'abc');
    expect(await call('edit_file', { path: 'a.txt', oldText: 'b', newText: '\ud800' })).toMatchObject({
      code: 'not_utf8',
      errorEffect: 'none',
    });
    expect(await call('write_file', { path: 'a.txt', content: '\udc00' })).toMatchObject({
      code: 'not_utf8',
      errorEffect: 'none',
    });
    expect(text('a.txt')).toBe('abc');
  });
});

describe('misses', () => {
  test('case T13: a miss shows the nearest real lines in few bytes; the same edit again and again is refused', async () => {
    const { call, write, text } = testWorkspace();
    const word = randomWord();
    const lines = Array.from({ length: 2000 }, (_, index) => `  const value${index} = compute(${index});`);
    lines[1203] = `  const total = ${word}(rows);`;
    write('big.js', lines.join('\n'));
    const stale = [...lines.slice(1201, 1203), '  const total = sum(rows);', ...lines.slice(1204, 1206)].join('\n');
    const edit = { path: 'big.js', oldText: stale, newText: 'x' };
    const first = await call('edit_file', edit);
    expect(first).toMatchObject({ ok: false, code: 'no_match', errorEffect: 'none' });
    expect(first.output).toContain(`> 1204:   const total = ${word}(rows);`);
    expect(first.output.length).toBeLessThan(900);
    expect(await call('edit_file', edit)).toMatchObject({ code: 'no_match' });
    expect(await call('edit_file', edit)).toMatchObject({ code: 'edit_repeated', errorEffect: 'none' });
    write('conflict.txt', 'a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n');
    await call('edit_file', {
      path: 'conflict.txt',
      oldText: '<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n',
      newText: '=======\n',
    });
    expect(text('conflict.txt')).toBe('a\n=======\n');
  });

  test('a single stale line in a file shows the line most like it', async () => {
    const { call, write } = testWorkspace();
    write('a.ts', 'import a from "a";\nexport function calculateTotal(items) {\n  return 1;\n}\n');
    const result = await call('edit_file', {
      path: 'a.ts',
      oldText: 'export function calculateTotals(item) {',
      newText: '',
    });
    expect(result.output).toContain('> 2: export function calculateTotal(items) {');
  });

  test('several occurrences are refused with their lines unless all are wanted', async () => {
    const { call, write, text } = testWorkspace();
    write('a.txt', 'x\nx\nx\n');
    const result = await call('edit_file', { path: 'a.txt', oldText: 'x', newText: 'y' });
    expect(result).toMatchObject({ code: 'not_unique', errorEffect: 'none' });
    expect(result.output).toContain('lines 1, 2, 3');
    write('b.txt', 'aaa');
    expect(await call('edit_file', { path: 'b.txt', oldText: 'aa', newText: 'b' })).toMatchObject({
      code: 'not_unique',
    });
    await call('edit_file', { path: 'a.txt', oldText: 'x', newText: 'y', replaceAll: true });
    expect(text('a.txt')).toBe('y\ny\ny\n');
  });

  test('a miss in a file with a line of 20 MB is found out and told in few bytes', async () => {
    const { call, write } = testWorkspace();
    write('huge.json', `{"a":"${'q'.repeat(20_000_000)}"}`);
    const result = await call('edit_file', { path: 'huge.json', oldText: '{"b":"qq', newText: '' });
    expect(result).toMatchObject({ code: 'no_match' });
    expect(result.output.length).toBeLessThan(900);
    expect((await call('edit_file', { path: 'huge.json', oldText: 'q"}', newText: 'r"}' })).ok).toBe(true);
  });
});

describe('several writers', () => {
  test('case T03: edits of one file in parallel under three names all count', async () => {
    const { call, write, path, text } = testWorkspace();
    write('a', Array.from({ length: 100 }, (_, index) => `line ${index + 1};`).join('\n'));
    symlinkSync('a', path('link-to-a'));
    const results = await Promise.all([
      call('edit_file', { path: 'a', oldText: 'line 50;', newText: 'FIFTY' }),
      call('edit_file', { path: './a', oldText: 'line 75;', newText: 'SEVENTY-FIVE' }),
      call('edit_file', { path: 'link-to-a', oldText: 'line 10;', newText: 'TEN' }),
    ]);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    for (const word of ['FIFTY', 'SEVENTY-FIVE', 'TEN']) expect(text('a')).toContain(word);
  });

  test('two registries on one folder take turns too', async () => {
    const one = testWorkspace();
    const other = testWorkspace({ root: one.root });
    one.write('n.txt', Array.from({ length: 40 }, (_, index) => `<${index}>`).join(''));
    const calls = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? one : other).call('edit_file', {
        path: 'n.txt',
        oldText: `<${index}>`,
        newText: `[${index}]`,
      }),
    );
    const results = await Promise.all(calls);
    const refused = results.filter(({ ok }) => !ok);
    expect(refused.every(({ code, errorEffect }) => code === 'stale' && errorEffect === 'none')).toBe(true);
    expect(one.text('n.txt').match(/\[/g)).toHaveLength(40 - refused.length);
  });

  test('case Y17: after another process changed a file, the next read shows it and a write against the old version is refused', async () => {
    const { call, write, text, path } = testWorkspace();
    write('a.txt', 'one\n');
    expect((await call('read_file', { path: 'a.txt' })).output).toBe('one\n');
    const facts = statSync(path('a.txt'));
    writeFileSync(path('a.txt'), 'two\n');
    utimesSync(path('a.txt'), facts.atime, facts.mtime); // same size and time: only the content tells
    for (const [tool, input] of [
      ['write_file', { path: 'a.txt', content: 'mine\n' }],
      ['edit_file', { path: 'a.txt', oldText: 'two', newText: 'mine' }],
    ] as const) {
      expect(await call(tool, input)).toMatchObject({ ok: false, code: 'stale', errorEffect: 'none' });
    }
    expect(text('a.txt')).toBe('two\n');
    expect((await call('read_file', { path: 'a.txt' })).output).toBe('two\n');
    expect((await call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'mine' })).ok).toBe(true);
  });

  test('a change through the shell makes the version known before stale', async () => {
    const { call, write } = testWorkspace();
    write('a.txt', 'one\n');
    await call('read_file', { path: 'a.txt' });
    await call('shell', { command: 'echo three > a.txt' });
    expect((await call('read_file', { path: 'a.txt' })).output).toBe('three\n');
    await call('shell', { command: 'rm a.txt' });
    expect(await call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ code: 'stale' });
  });
});

test('case T27: old and new text may name the byte-order mark or not; it is there once, whatever they say', async () => {
  const { call, write, text } = testWorkspace();
  const spellings = ['', '\ufeff'].flatMap((old) => ['', '\ufeff'].map((next) => [old, next] as const));
  for (const [old, next] of spellings) {
    write('a.txt', '\ufeffhello\nhello\n中文\n');
    await call('read_file', { path: 'a.txt' });
    const edit = { path: 'a.txt', oldText: `${old}hello\nhello`, newText: `${next}hi` };
    expect((await call('edit_file', edit)).ok).toBe(true);
    expect(text('a.txt')).toBe('\ufeffhi\n中文\n');
    expect((await call('write_file', { path: 'a.txt', content: `${next}whole\n` })).ok).toBe(true);
    expect(text('a.txt')).toBe('\ufeffwhole\n');
    const patch = `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-${old}whole\n+${next}one\n+two\n`;
    expect((await call('apply_patch', { patch })).ok).toBe(true);
    expect(text('a.txt')).toBe('\ufeffone\ntwo\n');
  }
  write('b.txt', '\ufeffone \ufeffone one');
  expect(await call('edit_file', { path: 'b.txt', oldText: '\ufeffone', newText: 'x' })).toMatchObject({
    code: 'not_unique',
  });
  const all = { path: 'b.txt', oldText: '\ufeffone', newText: '\ufeffx', replaceAll: true };
  expect((await call('edit_file', all)).output).toContain('2 occurrences');
  expect(text('b.txt')).toBe('\ufeffx \ufeffx one');
  const removal = { path: 'b.txt', oldText: '\ufeff', newText: '' };
  expect(await call('edit_file', removal)).toMatchObject({ ok: false, errorEffect: 'none' });
  expect(text('b.txt')).toBe('\ufeffx \ufeffx one');
});

test('an edit that would change no byte is refused', async () => {
  const { call, write, bytes } = testWorkspace();
  write('a.txt', 'a\r\nb\r\n');
  const edit = { path: 'a.txt', oldText: 'a\r\nb', newText: 'a\nb' };
  expect(await call('edit_file', edit)).toMatchObject({ ok: false, code: 'no_change', errorEffect: 'none' });
  expect(bytes('a.txt').toString()).toBe('a\r\nb\r\n');
});
