import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ProcessRecord, SETTLE_GRACE_MS, endProcesses } from './index.js';
import { isAlive, testWorkspace } from './workspace.test.helper.js';

/** Commands that leave processes behind in every way we know. Each writes the pids it starts to the file `pids`. */
const FAMILIES: Readonly<Record<string, string>> = {
  'forks a child': 'sleep 300 & echo $! >> pids; wait',
  'forks twice': '( (sleep 300 & echo $! >> pids) & ); sleep 300',
  'ignores TERM': `trap '' TERM; sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done'`,
  'starts groups of its own': 'set -m; sleep 300 & echo $! >> pids; sleep 300 & echo $! >> pids; set +m; sleep 300',
  'starts a session': 'setsid sleep 300 & echo $! >> pids; sleep 300',
  'starts a session after forking twice': `( setsid sh -c 'sleep 300 & echo $! >> pids; echo $$ >> pids; exec sleep 300' & ) ; sleep 300`,
  'starts a session without its environment and its output': `env -i /bin/sh -c 'exec setsid sh -c "echo \\$\\$ >> pids; exec sleep 300" < /dev/null > /dev/null 2>&1 &'; sleep 300`,
  'starts a session that closes every file': `( setsid sh -c 'exec 5<&-; echo $$ >> pids; exec sleep 300' < /dev/null > /dev/null 2>&1 & ); sleep 300`,
  'starts a detached child from node': `node -e 'const c = require("child_process").spawn("sleep", ["300"], { detached: true, stdio: "ignore" }); require("fs").appendFileSync("pids", c.pid + "\\n"); setInterval(() => {}, 1000)'`,
  'starts many at once': 'for i in $(seq 40); do (sleep 300 & echo $! >> pids) & done; wait; sleep 300',
  'leaves its group, its parent, its environment and its files': `( set -m; env -i /bin/sh -c 'exec 5<&-; echo $$ >> pids; exec sleep 300' < /dev/null > /dev/null 2>&1 & ); sleep 300`,
  'forks and ends in an endless chain': `printf 'echo $$ >> pids\nsh chain.sh &\n' > chain.sh; setsid sh chain.sh; sleep 300`,
  'keeps forking': `echo $$ >> pids; f() { sh -c 'echo $$ >> pids; trap "" TERM; while :; do sleep 0.01; (sleep 300 & echo $! >> pids); done' & }; f; f; sleep 300`,
};

function pidsIn(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
}

test.each(Object.keys(FAMILIES))(
  'a command that %s is gone with everything it started, at the time limit and when the call is aborted',
  async (family) => {
    const command = FAMILIES[family] ?? '';
    const [limited, stopped] = [testWorkspace({ killGraceMs: 100 }), testWorkspace({ killGraceMs: 100 })];
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('stop')), 600);
    const began = performance.now();
    const [timeout, abort] = await Promise.all([
      limited.call('shell', { command, timeoutMs: 700 }),
      stopped.call('shell', { command }, { signal: controller.signal }),
    ]);
    expect(performance.now() - began).toBeLessThan(700 + SETTLE_GRACE_MS);
    expect(timeout).toMatchObject({ ok: false, code: 'timeout', fatal: true, structured: { survivors: [] } });
    expect(abort).toMatchObject({ ok: false, code: 'aborted', errorEffect: 'unknown', structured: { survivors: [] } });
    for (const { path } of [limited, stopped]) {
      expect(pidsIn(path('pids')).length).toBeGreaterThan(0);
      expect(pidsIn(path('pids')).filter(isAlive)).toEqual([]);
    }
  },
);

test('what a command leaves in the background when it ends is ended and told, also if it holds the output open', async () => {
  const { call, path } = testWorkspace();
  const { output, structured } = await call('shell', {
    command: 'sleep 300 & echo $! >> pids; setsid sleep 301 & echo $! >> pids; echo done',
  });
  expect(structured).toMatchObject({ exitCode: 0, survivors: [] });
  expect(output).toMatch(/^exit code 0 after \d+ ms; ended 2 processes left in the background\ndone\n$/);
  expect(pidsIn(path('pids')).filter(isAlive)).toEqual([]);
});

test('a process that is not the command’s stays alive', async () => {
  const bystander = spawn('sleep', ['300'], { stdio: 'ignore' });
  try {
    const { call } = testWorkspace({ killGraceMs: 50 });
    await call('shell', { command: 'sleep 300', timeoutMs: 200 });
    expect(isAlive(bystander.pid ?? 0)).toBe(true);
  } finally {
    bystander.kill('SIGKILL');
  }
});

describe('after the process that started a command has died', () => {
  async function orphanedCommand(command: string) {
    const { root, path } = testWorkspace();
    const entry = new URL('../dist/index.js', import.meta.url).href;
    const script = `import { createRegistry, workspaceTools } from ${JSON.stringify(entry)};
      import { existsSync } from 'node:fs';
      const onProcess = (record) => { console.log(JSON.stringify(record)); };
      const registry = createRegistry(workspaceTools({ root: process.argv[1], mode: 'write', onProcess }));
      setInterval(() => { if (existsSync(process.argv[1] + '/ready')) process.kill(process.pid, 'SIGKILL'); }, 10);
      await registry.call('shell', { command: process.argv[2] }, { signal: new AbortController().signal });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, root, command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let line = '';
    child.stdout.on('data', (chunk: Buffer) => {
      line += chunk.toString();
    });
    await once(child, 'exit');
    return { record: JSON.parse(line) as ProcessRecord, pids: () => pidsIn(path('pids')) };
  }

  test('its record is enough to end what was left running', async () => {
    const { record, pids } = await orphanedCommand(
      'sleep 300 & echo $! >> pids; setsid sleep 300 & echo $! >> pids; touch ready; wait',
    );
    expect(pids().filter(isAlive)).toHaveLength(2);
    const report = await endProcesses(record, { graceMs: 50 });
    expect(report.survivors).toEqual([]);
    expect(report.ended).toEqual(expect.arrayContaining([...pids()]));
    expect(pids().filter(isAlive)).toEqual([]);
    expect(await endProcesses(record)).toEqual({ ended: [], survivors: [] });
  });

  test('a stranger with the recorded number, and a record of an earlier boot, are left alone', async () => {
    const stranger = spawn('sleep', ['300'], { stdio: 'ignore', detached: true });
    try {
      const record: ProcessRecord = {
        callId: 'c',
        operationId: 'no-such-operation',
        host: 'h',
        processGroup: stranger.pid ?? 0,
        startedAt: Date.now(),
        startTicks: 1,
        bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      };
      expect(await endProcesses(record, { graceMs: 0 })).toEqual({ ended: [], survivors: [] });
      const facts = readFileSync(`/proc/${stranger.pid}/stat`, 'latin1').split(') ')[1]?.split(' ');
      const earlier = { ...record, startTicks: Number(facts?.[19]), bootId: 'another-boot' };
      expect(await endProcesses(earlier, { graceMs: 0 })).toEqual({ ended: [], survivors: [] });
      expect(isAlive(stranger.pid ?? 0)).toBe(true);
    } finally {
      stranger.kill('SIGKILL');
    }
  });
});
