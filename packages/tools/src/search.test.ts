import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { randomWord, testWorkspace } from './workspace.test.helper.js';

function searchable() {
  const workspace = testWorkspace();
  const { write, path, outside } = workspace;
  for (const folder of ['src', 'src/deep', '.git', 'ignored']) mkdirSync(path(folder));
  write('.gitignore', '*.log\nignored/\n');
  write('src/a.ts', 'needle one\nnothing\n');
  write('src/deep/b.ts', 'x\nneedle two\r\n');
  write('src/c.log', 'needle in a log\n');
  write('ignored/d.ts', 'needle\n');
  write('.git/config', 'needle\n');
  write('.hidden.ts', 'needle hidden\n');
  writeFileSync(join(outside, 'out.ts'), 'needle outside\n');
  symlinkSync(outside, path('link-out'));
  symlinkSync(join(outside, 'out.ts'), path('src/link.ts'));
  return workspace;
}

describe('grep', () => {
  test('finds lines by path and number, respects ignore files, and follows no link out', async () => {
    const { call } = searchable();
    expect((await call('grep', { pattern: 'needle' })).output).toBe(
      '.hidden.ts:1: needle hidden\nsrc/a.ts:1: needle one\nsrc/deep/b.ts:2: needle two',
    );
    expect((await call('grep', { pattern: 'NEEDLE T', ignoreCase: true, path: 'src/deep' })).output).toBe(
      'src/deep/b.ts:2: needle two',
    );
    expect((await call('grep', { pattern: 'needle', path: 'src/a.ts' })).output).toBe('src/a.ts:1: needle one');
    expect((await call('grep', { pattern: 'needle', glob: 'a.*' })).output).toBe('src/a.ts:1: needle one');
    expect((await call('grep', { pattern: 'needle', includeIgnored: true })).output).toContain(
      'ignored/d.ts:1: needle',
    );
    expect((await call('grep', { pattern: 'needle', glob: '*.log' })).output).toBe('No line matches.');
    expect((await call('grep', { pattern: 'needle', glob: '*.log', includeIgnored: true })).output).toBe(
      'src/c.log:1: needle in a log',
    );
    expect((await call('grep', { pattern: 'nothing like it' })).output).toBe('No line matches.');
    expect(await call('grep', { pattern: 'needle', path: 'src/link.ts' })).toMatchObject({
      ok: false,
      code: 'outside_workspace',
    });
  });

  test('plain text, patterns that begin with a dash, and bad patterns', async () => {
    const { call, write } = testWorkspace();
    write('a.txt', 'a.b*c --files\n');
    expect((await call('grep', { pattern: 'a.b*c', literal: true })).output).toBe('a.txt:1: a.b*c --files');
    expect((await call('grep', { pattern: '--files' })).output).toBe('a.txt:1: a.b*c --files');
    expect(await call('grep', { pattern: '(' })).toMatchObject({
      ok: false,
      code: 'search_failed',
      errorEffect: 'none',
    });
  });

  test('case T25: a pattern with heavy backtracking neither stops the event loop nor takes long', async () => {
    const { call, write } = testWorkspace();
    write('a.txt', `${'a'.repeat(35)}!\n`);
    let ticks = 0;
    const timer = setInterval(() => void (ticks += 1), 1);
    const began = performance.now();
    const result = await call('grep', { pattern: '(a+)+$' });
    clearInterval(timer);
    expect(result.output).toBe('No line matches.');
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(ticks).toBeGreaterThan(0);
  });

  test('case T21: a match in one line of 1.7 MB shows the part around it and where to read on', async () => {
    const { call, write } = testWorkspace();
    const word = randomWord();
    write('one-line.json', `{"a":"${'q'.repeat(1_600_000)}${word}${'z'.repeat(100_000)}"}`);
    const { output } = await call('grep', { pattern: word });
    expect(output.length).toBeLessThan(600);
    expect(output).toContain(`${word}zzz`);
    const startByte = Number(/byte (\d+) of the file/.exec(output)?.[1]);
    expect((await call('read_file', { path: 'one-line.json', startByte })).output.startsWith(`${word}zzz`)).toBe(true);
  });

  test('the number of lines is bounded, and a call that is stopped ends', async () => {
    const { call, write } = testWorkspace();
    write('many.txt', 'hit\n'.repeat(5000));
    const { output } = await call('grep', { pattern: 'hit' });
    expect(output.split('\n')).toHaveLength(201);
    expect(output).toContain('more than 200 lines match');
    expect(await call('grep', { pattern: 'hit' }, { signal: AbortSignal.abort() })).toMatchObject({
      code: 'aborted',
      errorEffect: 'none',
    });
  });
});

describe('glob', () => {
  test('matches by name at any depth, by path, and leaves out what is ignored', async () => {
    const { call } = searchable();
    expect((await call('glob', { pattern: '*.ts' })).output).toBe('.hidden.ts\nsrc/a.ts\nsrc/deep/b.ts');
    expect((await call('glob', { pattern: 'src/*.ts' })).output).toBe('src/a.ts');
    expect((await call('glob', { pattern: '*.log' })).output).toBe('No file matches.');
    expect((await call('glob', { pattern: '*.log', includeIgnored: true })).output).toBe('src/c.log');
    expect((await call('glob', { pattern: '**/b.{ts,js}', path: 'src' })).output).toBe('src/deep/b.ts');
    expect(await call('glob', { pattern: '!*.ts' })).toMatchObject({ ok: false, code: 'invalid_pattern' });
  });

  test('a pattern made to be slow is not', async () => {
    const { call, write } = testWorkspace();
    write('a'.repeat(200), '');
    const began = performance.now();
    await call('glob', { pattern: `${'*a'.repeat(30)}b` });
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

test('todo_write keeps the list it is given, inside the run only', async () => {
  const seen: unknown[] = [];
  const { call, registry } = testWorkspace({ todo: { onChange: (items) => void seen.push(items) } });
  const items = [
    { content: 'look', status: 'completed' },
    { content: 'do', status: 'in_progress' },
  ];
  expect((await call('todo_write', { items })).output).toBe('[x] look\n[~] do');
  expect(seen).toEqual([items]);
  const prepared = await registry.prepare('todo_write', { items });
  expect('call' in prepared && prepared.call.hasExternalEffect).toBe(false);
  expect(await call('todo_write', { items: [{ content: 'x', status: 'someday' }] })).toMatchObject({
    code: 'invalid_input',
  });
});
