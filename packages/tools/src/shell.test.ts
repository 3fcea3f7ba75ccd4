import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ProcessRecord } from './index.js';
import { randomWord, testWorkspace } from './workspace.test.helper.js';

describe('what a command sees', () => {
  test('case T07: a provider key reaches neither the environment of a command nor that of its parent', async () => {
    const canary = `sk-${randomWord()}`;
    const environment = { ...process.env, ANTHROPIC_API_KEY: canary, MY_TOKEN: canary, LC_ALL: 'C.UTF-8' };
    const { call } = testWorkspace({ environment });
    const command =
      'env; tr "\\0" "\\n" < /proc/$PPID/environ; tr "\\0" "\\n" < /proc/$(ps -o ppid= $PPID | tr -d " ")/environ; set';
    const { output, structured } = await call('shell', { command });
    expect(structured).toMatchObject({ exitCode: 0 });
    expect(output).toContain('LC_ALL=C.UTF-8');
    expect(output).not.toContain(canary);
    const allowed = testWorkspace({ environment, environmentAllow: ['MY_TOKEN'] });
    expect((await allowed.call('shell', { command: 'echo $MY_TOKEN' })).output).toContain(canary);
  });

  test('node --test works under a test runner: readable output, exit code, no inherited runner variables', async () => {
    const environment = {
      ...process.env,
      NODE_TEST_CONTEXT: 'child-v8',
      NODE_OPTIONS: '--no-such-flag',
      VITEST: 'true',
    };
    const { call, write } = testWorkspace({ environment });
    const word = randomWord();
    write(
      'a.test.mjs',
      `import test from 'node:test'; import assert from 'node:assert';\ntest('${word}', () => assert.equal(2 - 3, 5));\n`,
    );
    const { ok, output, structured } = await call('shell', { command: 'node --test' });
    expect(ok).toBe(true);
    expect(structured).toMatchObject({ exitCode: 1 });
    expect(output).toMatch(/^exit code 1 after \d+ ms\n/);
    expect(output).toContain(word);
    expect(output).toMatch(/expected: 5|\+ actual - expected|-1 !== 5|-1 == 5/);
    expect(output).not.toContain('\u001b[');
  });

  test('the exit code, both streams in their order and the working folder are shown', async () => {
    const { call, root } = testWorkspace();
    const { output, structured } = await call('shell', {
      command: 'echo one; echo two >&2; echo three > /dev/stderr; pwd; exit 7',
    });
    expect(output).toMatch(new RegExp(`^exit code 7 after \\d+ ms\none\ntwo\nthree\n${root}\n$`));
    expect(structured).toMatchObject({ exitCode: 7 });
    expect((await call('shell', { command: 'kill -9 $$' })).output).toMatch(/^exit code 137 \(signal 9\)/);
    expect((await call('shell', { command: 'true' })).output).toMatch(/\n\(no output\)$/);
  });

  test('case T19: nothing waits for a person: prompts, pagers and editors end at once', async () => {
    const { call } = testWorkspace({ environment: { PATH: process.env['PATH'], HOME: '/nonexistent' } });
    const setUp =
      'git init -q . && git config user.email a@example.invalid && git config user.name a && git commit -q --allow-empty -m x';
    expect((await call('shell', { command: setUp })).structured).toMatchObject({ exitCode: 0 });
    const commands = [
      'git log',
      'git commit --allow-empty',
      'read x',
      'sudo true < /dev/tty',
      'ssh -o ConnectTimeout=1 nohost.invalid',
      'python3 -c "input()"',
      'less /etc/passwd | head -1',
      'cat',
      'git rebase -i --root',
    ];
    for (const command of commands) {
      const began = performance.now();
      const result = await call('shell', { command, timeoutMs: 10_000 });
      expect([command, result.ok]).toEqual([command, true]);
      expect(performance.now() - began).toBeLessThan(9_000);
    }
    const stuck = await call('shell', { command: 'sleep 57.5', timeoutMs: 150 });
    expect(stuck).toMatchObject({ ok: false, code: 'timeout', fatal: true });
    expect(stuck.output).toContain('while waiting for "sleep 57.5"');
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are still needed: what the collector would leave, whenever it may run. */
function liveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage(); // with buffers that were collected and wait for the thread that frees them
  return heapUsed + external;
}

describe('output', () => {
  test('case T11: 1 GB of output do not grow memory; head, tail and the real size stay and timers fire', {
    timeout: 60_000,
  }, async () => {
    const { call } = testWorkspace({ keptOutputBytes: 1_000_000 });
    let ticks = 0;
    const timer = setInterval(() => void (ticks += 1), 20);
    const before = liveBytes();
    let peak = 0;
    const watch = setInterval(() => void (peak = Math.max(peak, liveBytes())), 100);
    const result = await call('shell', {
      command: 'echo first; yes | head -c 1000000000 >&2; echo; echo last',
      timeoutMs: 55_000,
    });
    clearInterval(timer);
    clearInterval(watch);
    expect(result.output).toContain('first\ny\n');
    expect(result.output).toMatch(/last\n$/);
    expect(result.outputBytes).toBe(1_000_000_012);
    expect(result.output).toContain('bytes left out');
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(32_768);
    expect(peak).toBeGreaterThan(0);
    expect(peak - before).toBeLessThan(50_000_000);
    expect(ticks).toBeGreaterThan(5);
  });

  const eachBytes = process.env['STINT_SWEEP'] === 'all' ? 20_000_000 : 2_000_000;

  test(`case T11: 100 commands with ${eachBytes / 1e6} MB each in parallel stay in bounds too, and lose no byte`, {
    timeout: 240_000,
  }, async () => {
    const { call } = testWorkspace({ keptOutputBytes: 100_000 });
    const before = liveBytes();
    let peak = 0;
    const watch = setInterval(() => void (peak = Math.max(peak, liveBytes())), 250);
    const calls = Array.from({ length: 100 }, () =>
      call('shell', { command: `head -c ${eachBytes} /dev/zero`, timeoutMs: 230_000 }),
    );
    const results = await Promise.all(calls);
    clearInterval(watch);
    expect(results.map(({ ok, outputBytes }) => [ok, outputBytes])).toEqual(results.map(() => [true, eachBytes]));
    expect(peak).toBeGreaterThan(0);
    expect(peak - before).toBeLessThan(30_000_000); // less than what one read ahead for each, or one careless look at /proc, takes
  });

  test('commands that write at the same time get each its own output, to the last byte', async () => {
    const { call, root } = testWorkspace();
    const words = Array.from({ length: 8 }, randomWord);
    const results = await Promise.all(words.map((word) => call('shell', { command: `yes ${word} | head -n 40000` })));
    results.forEach(({ outputHandle = '' }, at) => {
      const kept = readFileSync(join(root, '..', 'data', 'outputs', outputHandle.slice('output:'.length)), 'utf8');
      expect(kept === `${words[at]}\n`.repeat(40_000)).toBe(true);
    });
  });

  test('what a command wrote is all there, also where its end is seen long before its output has come through', {
    timeout: 60_000,
  }, async () => {
    const { call, path } = testWorkspace();
    const listing = 'for p in $(ps -o pid= --ppid $(ps -o ppid= $PPID)); do [ $p != $PPID ] && echo $p; done';
    const running = call('shell', {
      command: `pipe=$(${listing}); kill -STOP $pipe; head -c 60000 /dev/zero; echo $pipe > new; mv new stopped`,
      timeoutMs: 50_000,
    });
    await expect.poll(() => existsSync(path('stopped')), { timeout: 30_000 }).toBe(true);
    const pipe = Number(readFileSync(path('stopped'), 'utf8'));
    await wait(2_500);
    process.kill(pipe, 'SIGCONT');
    const result = await running;
    expect([result.ok, result.outputBytes]).toEqual([true, 60_000]);
  });

  test('a command that stops the process above it is not waited for longer than its output takes', async () => {
    const { call } = testWorkspace();
    const stopAbove = 'echo here; kill -STOP $(ps -o ppid= $PPID)';
    const result = await call('shell', { command: stopAbove, timeoutMs: 8_000 });
    expect(result).toMatchObject({ ok: true, structured: { exitCode: 0 }, output: expect.stringMatching(/\nhere\n$/) });
  });

  test('a folder for temporary files that is missing, or has a long name, keeps no command from running', async () => {
    const { call } = testWorkspace();
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const folder of ['/nonexistent', `/tmp/${'long/'.repeat(30)}`]) {
      vi.stubEnv('TMPDIR', folder);
      expect((await call('shell', { command: 'echo here' })).output).toMatch(/\nhere\n$/);
    }
  });

  test('case T31: a character split over two chunks is whole', async () => {
    const { call } = testWorkspace();
    const { output } = await call('shell', { command: "printf '\\xe2'; sleep 0.05; printf '\\x80\\x94'" });
    expect(output.endsWith('\n—')).toBe(true);
  });

  test('case Y22: head and tail of a long output are cut between characters', async () => {
    const { call } = testWorkspace();
    for (const shift of ['', 'a', 'ab', 'abc']) {
      const { output } = await call('shell', {
        command: `printf '${shift}'; for i in $(seq 4000); do printf '𝄞—é'; done`,
      });
      expect(output).toContain('bytes left out');
      expect(output).not.toContain('\ufffd');
    }
  });

  test('the whole output lies in a private file under its handle; a short one leaves none', async () => {
    const { call, root } = testWorkspace();
    const folder = join(root, '..', 'data', 'outputs');
    await call('shell', { command: 'echo short' });
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
    const { outputHandle } = await call('shell', { command: 'seq 1 100000' });
    const [name = ''] = readdirSync(folder);
    expect(outputHandle).toBe(`output:${name}`);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, name), 'utf8').split('\n')).toHaveLength(100_001);
  });
});

describe('before the command', () => {
  test('case Y20: the process group is told, and waited for, before the command begins', async () => {
    const order: string[] = [];
    const records: ProcessRecord[] = [];
    const { call, path } = testWorkspace();
    const onProcess = async (record: ProcessRecord) => {
      await wait(80);
      records.push(record);
      order.push(existsSync(path('began')) ? 'command' : 'record');
    };
    const result = await call(
      'shell',
      { command: 'touch began; echo $(ps -o sid= $$) $STINT_OPERATION' },
      { onProcess, toolCallId: 'call-1' },
    );
    expect(order).toEqual(['record']);
    expect(records[0]).toMatchObject({ callId: 'call-1', startTicks: expect.any(Number), bootId: expect.any(String) });
    expect(result.output).toContain(`${records[0]?.processGroup} ${records[0]?.operationId}`);
  });

  test('case Y20: if the group cannot be recorded, the command is not run', async () => {
    const { call, path } = testWorkspace();
    const onProcess = () => Promise.reject(new Error('the database is gone'));
    const result = await call('shell', { command: 'touch began' }, { onProcess });
    expect(result).toMatchObject({ ok: false, code: 'not_started', errorEffect: 'none' });
    expect(result.output).toContain('the database is gone');
    expect(existsSync(path('began'))).toBe(false);
  });

  test('a command that cannot be started is refused with effect none: too long, a zero byte, no folder, no data folder', async () => {
    const { call, path, root } = testWorkspace();
    const refused = async (command: string, tool = call) => {
      const { ok, code, errorEffect, fatal } = await tool('shell', { command });
      return { ok, code, errorEffect, fatal };
    };
    const none = { ok: false, errorEffect: 'none', fatal: undefined };
    expect(await refused(`touch began; : ${'x'.repeat(300_000)}`)).toEqual({ ...none, code: 'not_started' });
    expect(await refused('touch began\0')).toEqual({ ...none, code: 'invalid_input' });
    const long = testWorkspace({ environment: { PATH: process.env['PATH'], LC_ALL: 'C'.repeat(200_000) } });
    expect(await refused('touch began', long.call)).toEqual({ ...none, code: 'not_started' });
    const unkept = testWorkspace({ root, dataDir: '/dev/null/data' });
    expect(await refused('touch began', unkept.call)).toEqual({ ...none, code: 'not_started' });
    expect(existsSync(path('began'))).toBe(false);
    rmSync(root, { recursive: true });
    expect(await refused('true')).toEqual({ ...none, code: 'not_started' });
  });

  test('case Y20: if this process dies before it lets the command begin, nothing runs', async () => {
    const { root, path } = testWorkspace();
    const entry = new URL('../dist/index.js', import.meta.url).href;
    const script = `import { createRegistry, workspaceTools } from ${JSON.stringify(entry)};
      const onProcess = (record) => { console.log(record.processGroup); process.kill(process.pid, 'SIGKILL'); };
      const registry = createRegistry(workspaceTools({ root: process.argv[1], mode: 'write', onProcess }));
      await registry.call('shell', { command: 'touch began; sleep 30' }, { signal: new AbortController().signal });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, root], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    await wait(150);
    expect(existsSync(path('began'))).toBe(false);
  });
});
