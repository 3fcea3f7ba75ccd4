import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { testWorkspace } from './workspace.test.helper.js';

describe('reading', () => {
  test('a whole small file comes back byte for byte, without a note', async () => {
    const { call, write } = testWorkspace();
    write('a.txt', 'one\r\ntwo\n\n');
    expect((await call('read_file', { path: 'a.txt' })).output).toBe('one\r\ntwo\n\n');
    write('empty.txt', '');
    expect(await call('read_file', { path: 'empty.txt' })).toMatchObject({ ok: true, output: '' });
  });

  test('offset and limit choose lines, and the note says how to read on', async () => {
    const { call, write } = testWorkspace();
    write('a.txt', 'one\ntwo\nthree\nfour\n');
    const { output } = await call('read_file', { path: 'a.txt', offset: 2, limit: 2 });
    expect(output).toBe('two\nthree\n\n[lines 2 to 3, bytes 4 to 14 of 19; read on with offset 4]');
    expect((await call('read_file', { path: 'a.txt', offset: 3, lineNumbers: true })).output).toContain(
      '3\tthree\n4\tfour\n',
    );
    expect(await call('read_file', { path: 'a.txt', offset: 9 })).toMatchObject({ ok: false, code: 'past_end' });
  });

  test('a long file is read to its end by following the notes', async () => {
    const { call, write } = testWorkspace();
    const whole = Array.from({ length: 9000 }, (_, index) => `line ${index} — ${'é'.repeat(index % 40)}`).join('\n');
    write('long.txt', whole);
    let read = '';
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const { output } = await call('read_file', { path: 'long.txt', offset });
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(32_768);
      const at = output.lastIndexOf('\n[');
      read += output.slice(0, at);
      const next = /read on with offset (\d+)/.exec(output.slice(at))?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(read).toBe(whole);
  });

  test('case T21: one line of 1.7 MB is bounded, and can be read on inside the line to its end', async () => {
    const { call, write } = testWorkspace();
    const whole = `{"data":"${'ü—x'.repeat(283_000)}"}`;
    write('one-line.json', whole);
    expect(Buffer.byteLength(whole)).toBeGreaterThan(1_690_000);
    let read = '';
    let input: Record<string, unknown> | undefined = { path: 'one-line.json' };
    for (let calls = 0; input !== undefined; calls += 1) {
      expect(calls).toBeLessThan(80);
      const { output } = await call('read_file', input);
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(32_768);
      const at = output.lastIndexOf('\n[');
      read += output.slice(0, at);
      const next = /read on with startByte (\d+)/.exec(output.slice(at))?.[1];
      input = next === undefined ? undefined : { path: 'one-line.json', startByte: Number(next) };
    }
    expect(read === whole).toBe(true);
  });

  test('case T23: reading, searching and editing agree on line numbers, whatever else looks like a line break', async () => {
    for (const odd of ['\x0c', '\u2028', '\u0085', '\x0b', '\r']) {
      const { call, write, text } = testWorkspace();
      write('odd.txt', `line0\n${odd}line1\nline2\n`);
      const { output } = await call('read_file', { path: 'odd.txt', offset: 2, limit: 1 });
      expect(output.startsWith(`${odd}line1\n`)).toBe(true);
      expect((await call('grep', { pattern: 'line1' })).output).toMatch(/^odd\.txt:2: /);
      const edited = await call('edit_file', { path: 'odd.txt', oldText: `${odd}line1`, newText: 'second' });
      expect(edited.output).toContain('(line 2)');
      expect(text('odd.txt')).toBe('line0\nsecond\nline2\n');
    }
  });

  test('a file of 5 GB is read in part, without being loaded', async () => {
    const { call, write, path } = testWorkspace();
    write('sparse.txt', 'first\nsecond\n');
    truncateSync(path('sparse.txt'), 5_000_000_000);
    const before = process.memoryUsage().rss;
    expect(await call('read_file', { path: 'sparse.txt' })).toMatchObject({ ok: false, code: 'not_utf8' });
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
    const line = `${'a'.repeat(99)}\n`;
    writeFileSync(path('big.txt'), line.repeat(700_000));
    const { output } = await call('read_file', { path: 'big.txt', offset: 600_001, limit: 1 });
    expect(output).toContain(`${line}\n[lines 600001 to 600001, bytes 60000000 to 60000100 of 70000000`);
  });

  test('binary, not UTF-8, folders, pipes and missing files are refused by name', async () => {
    const { call, write, path } = testWorkspace();
    write('bin', Buffer.from([1, 2, 0, 3]));
    write('latin1', Buffer.from([0x61, 0xe9, 0x0a]));
    execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', path('pipe')]);
    const codes = [];
    for (const name of ['bin', 'latin1', '.', 'pipe', 'missing'])
      codes.push((await call('read_file', { path: name })).code);
    expect(codes).toEqual(['binary_file', 'not_utf8', 'not_a_file', 'not_a_file', 'not_found']);
  });

  test('a kept output is read by its handle; an unknown handle is refused', async () => {
    const { call } = testWorkspace();
    const { outputHandle } = await call('shell', { command: 'seq 1 20000' });
    const { output } = await call('read_file', { path: outputHandle ?? '', offset: 15_000, limit: 2 });
    expect(output.startsWith('15000\n15001\n\n[')).toBe(true);
    expect((await call('grep', { path: outputHandle ?? '', pattern: '^19999$' })).output).toBe(
      `${outputHandle}:19999: 19999`,
    );
    for (const path of ['output:00000000-0000-4000-8000-000000000000', 'output:../../etc/passwd']) {
      expect(await call('read_file', { path })).toMatchObject({ ok: false, code: 'unknown_output' });
    }
  });
});

test('list_directory tells kinds and sizes, and is bounded', async () => {
  const { call, write, path } = testWorkspace();
  execFileSync('mkdir', [path('sub')]);
  execFileSync('ln', ['-s', '/etc', path('out')]);
  write('a.txt', '12345');
  expect((await call('list_directory', { path: '.' })).output).toBe('a.txt  5\nout@\nsub/');
  expect((await call('list_directory', { path: 'sub' })).output).toBe('(empty)');
  for (let index = 0; index < 1200; index += 1) write(`sub/f${index}`, '');
  expect((await call('list_directory', { path: 'sub' })).output).toContain('[200 further entries]');
  expect(await call('list_directory', { path: 'a.txt' })).toMatchObject({ ok: false, errorEffect: 'none' });
});
