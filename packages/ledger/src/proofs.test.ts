/** The proofs that need processes of their own, in short; `bench/sweep.mjs` and `bench/hammer.mjs` run them at length. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';

const run = promisify(execFile);

async function runScript(name: string, options: readonly string[]): Promise<Record<string, unknown>[]> {
  const script = fileURLToPath(new URL(`../bench/${name}.mjs`, import.meta.url));
  const { stdout } = await run(process.execPath, [script, ...options]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('notices by random sequences when an invariant is taken away, and knows where each of them stands in the code', async () => {
  const script = fileURLToPath(new URL('../bench/mutations.mjs', import.meta.url));
  const few = 'an ancestor is not charged,windows are not filled,the charge of an unknown goes down';
  const { stdout } = await run(process.execPath, [script, '--only', few, '--sequences', '300', '--seed', '7']);
  expect(stdout).toContain('3 invariants taken away, 0 not noticed');
  expect((await run(process.execPath, [script, '--check'])).stdout).toMatch(
    /\n\d+ invariants taken away, 0 not noticed/u,
  );
});

const seed = Math.floor(Math.random() * 1_000_000);

for (const engine of ['sqlite', 'postgres']) {
  const server = (): string[] => (engine === 'postgres' ? ['--url', inject('pgUrl')] : []);

  it(`leaves all of an operation or nothing when it is killed between its statements, on ${engine} (seed ${seed})`, async () => {
    const few = ['--every', '6', '--sample', '3', '--seed', String(seed)];
    const outcomes = await runScript('sweep', ['--engine', engine, ...server(), ...few]);
    expect(outcomes).toHaveLength(3);
    for (const { name, points, statements, kept, lost } of outcomes) {
      expect({ name, points }).toEqual({ name, points: Number(statements) + 2 });
      expect({ name, kept }).toEqual({ name, kept: 1 });
      expect(lost).toBeGreaterThan(0);
    }
  });

  it(`admits nothing past a limit while processes hammer one store and die, on ${engine} (seed ${seed})`, async () => {
    const [result] = await runScript('hammer', [
      '--engine',
      engine,
      ...server(),
      '--processes',
      '3',
      '--seconds',
      '4',
      '--seed',
      String(seed),
    ]);
    expect(result).toMatchObject({ violations: [], errors: [], open: 0, verified: true, replayed: true });
    for (const count of ['reads', 'requests', 'reported', 'overshoots'])
      expect(result?.[count], count).toBeGreaterThan(0);
  });
}
