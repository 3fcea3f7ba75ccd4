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

/** What leaves everything behind that a process can be known by. Only a guard finds these. */
const HIDDEN = {
  'starts a daemon without environment, files, session and parent': `env -i setsid sh -c 'echo $$ >> pids; (echo daemon > started; exec sleep 300 </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&-) & echo $! >> pids; exit' & sleep 300`,
  'starts daemons that start daemons': `cat > d.sh <<'END'
[ "$1" -gt 0 ] || { echo $$ >> pids; exec sleep 300; }
setsid env -i /bin/sh d.sh $(($1 - 1)) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- &
END
sh d.sh 6; sh d.sh 3; sleep 300`,
};

/** Nothing of the family is left, whatever the way it was stopped in. */
function expectNoneLeft(path: (name: string) => string): void {
  expect(pidsIn(path('pids')).length).toBeGreaterThan(0);
  expect(pidsIn(path('pids')).filter(isAlive)).toEqual([]);
}

function pidsIn(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
}

describe.each(Object.entries({ ...FAMILIES, ...HIDDEN }))('a command that %s', (family, command) => {
  test('is gone with everything it started, at the time limit and when the call is aborted', async () => {
    const options = { killGraceMs: 100 };
    const [limited, stopped, unguarded] = [
      testWorkspace(options),
      testWorkspace(options),
      testWorkspace({ ...options, guardPaths: [] }),
    ];
    const controller = new AbortController();
    const began = performance.now();
    const calls = [
      limited.call('shell', { command, timeoutMs: 1_000 }),
      stopped.call('shell', { command }, { signal: controller.signal }),
      ...(family in HIDDEN ? [] : [unguarded.call('shell', { command, timeoutMs: 1_000 })]),
    ];
    await expect.poll(() => pidsIn(stopped.path('pids')).length, { timeout: 20_000, interval: 20 }).toBeGreaterThan(0);
    controller.abort(new Error('stop'));
    const [timeout, abort, seen] = await Promise.all(calls);
    expect(performance.now() - began).toBeLessThan(20_000 + SETTLE_GRACE_MS);
    const proven = { survivors: [], allEnded: true };
    expect(timeout).toMatchObject({ ok: false, code: 'timeout', fatal: true, structured: proven });
    expect(abort).toMatchObject({ ok: false, code: 'aborted', errorEffect: 'unknown', structured: proven });
    expect(timeout?.output).toContain('; every process was ended');
    for (const { path } of [limited, stopped]) expectNoneLeft(path);
    if (seen === undefined) return;
    expect(seen).toMatchObject({ code: 'timeout', fatal: true, structured: { survivors: [], allEnded: false } });
    expect(seen.output).toContain('; every process that was seen was ended');
    expectNoneLeft(unguarded.path);
  });
});

describe('a daemon that cleared its environment, closed its files, and left session and parent', () => {
  const command = `env -i setsid sh -c 'echo $$ >> pids; exec sleep 300 </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&-' &
    while [ ! -s pids ]; do sleep 0.01; done; exit 0`;

  test.each(['/usr/bin/perl', '/usr/bin/python3'].filter(existsSync))(
    'is ended when the command exits, guarded by %s',
    async (guard) => {
      const { call, path } = testWorkspace({ guardPaths: [guard] });
      const { output, structured } = await call('shell', { command });
      expect(structured).toMatchObject({ exitCode: 0, survivors: [], allEnded: true });
      expect(output).toContain('; ended 1 process left in the background');
      expectNoneLeft(path);
    },
  );

  test('descends from the recorded leader, so that it is known as a tool’s while it runs', async () => {
    const { call, text } = testWorkspace();
    const leaders: number[] = [];
    const daemon = `env -i setsid sh -c '(sleep 0.2; ps -o ppid= -p $(cut -d" " -f4 /proc/self/stat) > parent; mv parent seen) </dev/null >/dev/null 2>&1 &' &`;
    await call(
      'shell',
      { command: `${daemon} while [ ! -s seen ]; do sleep 0.02; done` },
      { onProcess: ({ processGroup }) => void leaders.push(processGroup) },
    );
    expect(Number(text('seen'))).toBe(leaders[0]);
  });

  test('is not claimed to be ended where nothing can see it', async () => {
    const { call, path } = testWorkspace({ guardPaths: ['/no/such/interpreter'] });
    const result = await call('shell', { command });
    const left = pidsIn(path('pids')).filter(isAlive);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(result.structured).toMatchObject({ exitCode: 0, allEnded: false });
  });

  test('is not claimed to be ended when the command killed its guard', async () => {
    const { call, path } = testWorkspace();
    const killGuard = 'kill -9 $(ps -o sid= $$); sleep 0.1; ';
    const result = await call('shell', { command: killGuard + command });
    const left = pidsIn(path('pids')).filter(isAlive);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(result.structured).toMatchObject({ allEnded: false });
  });

  test('leaves its guard alone by signals that are sent to all of the same name', async () => {
    const { call, path } = testWorkspace();
    const { structured } = await call('shell', {
      command: `kill -TERM $(ps -o sid= $$); kill -HUP $(ps -o sid= $$); ${command}`,
    });
    expect(structured).toMatchObject({ exitCode: 0, survivors: [], allEnded: true });
    expectNoneLeft(path);
  });
});

test('what a command leaves in the background when it ends is ended and told, also if it holds the output open', async () => {
  const { call, path } = testWorkspace();
  const { output, structured } = await call('shell', {
    command: 'sleep 300 & echo $! >> pids; setsid sleep 301 & echo $! >> pids; echo done',
  });
  expect(structured).toMatchObject({ exitCode: 0, survivors: [], allEnded: true });
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
      `sleep 300 & echo $! >> pids; setsid sleep 300 & echo $! >> pids;
       env -i setsid sh -c 'echo $$ >> pids; exec sleep 300 </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&-' &
       while [ $(wc -l < pids) -lt 3 ]; do sleep 0.01; done; touch ready; wait`,
    );
    expect(pids().filter(isAlive)).toHaveLength(3);
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
