import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BuggyRepository, bugFamilies, git, makeBuggyRepository } from '../src/buggy-repository.js';
import { Random, testSeed } from '../src/random.js';
import { readStore, type StoredRequest } from '../src/read-store.js';
import { startSimulatorProcess } from '../src/simulator-process.js';
import { cleanEnvironment, documentOf, freshDataDirectory, type StintOptions, stint } from '../src/stint.js';

const seed = testSeed();
const goal = 'make the failing test pass';

const runIn = (repository: BuggyRepository, options: StintOptions, model: string) =>
  stint(
    ['run', goal, '--accept', 'node --test passes', '--dir', repository.directory, '--model', model, '--json'],
    options,
  );

async function nodeTestPasses(directory: string): Promise<boolean> {
  const child = spawn(process.execPath, ['--test'], { cwd: directory, env: cleanEnvironment(), stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0; // a failing test suite leaves with a code, which is what is asked here
}

async function expectRepaired(repository: BuggyRepository): Promise<void> {
  expect(readFileSync(join(repository.directory, repository.sourcePath), 'utf8')).toBe(repository.rightSource);
  expect(await nodeTestPasses(repository.directory)).toBe(true);
  expect(git(repository.directory, 'status', '--porcelain').trim()).toBe(`M ${repository.sourcePath}`);
}

describe('stint run on a git repository with a failing test', () => {
  // Each is a chain of processes that mostly wait for each other.
  it.concurrent.each(Array.from({ length: 20 }, (_, index) => seed + index))(
    'repairs two drawn repositories in one data directory (seed %i)',
    async (drawn) => {
      const random = new Random(drawn);
      await using simulator = await startSimulatorProcess();
      const options = { dataDirectory: freshDataDirectory(), environment: simulator.environment };
      for (const turn of [0, 1]) {
        const repository = makeBuggyRepository(random, bugFamilies[(drawn + turn) % bugFamilies.length] ?? 'operator');
        expect(await nodeTestPasses(repository.directory)).toBe(false);
        const ended = await runIn(repository, options, 'openai:drawn');
        expect(ended.code, ended.stderr).toBe(0);
        const document = documentOf(ended);
        expect(document).toMatchObject({ status: 'done', exitCode: 0, reason: 'done' });
        const [criterion] = document.finalResult?.criteria ?? [];
        expect(criterion).toMatchObject({ status: 'passed' });
        expect(criterion?.evidenceRunIds.length).toBeGreaterThan(0);
        expect(criterion?.evidence).not.toBe('');
        await expectRepaired(repository);
        rmSync(repository.directory, { recursive: true });
      }
      await expectSameCounts(options.dataDirectory, simulator.served());
    },
  );

  it.concurrent('works the same with the built-in simulated model, without a key or a network', async () => {
    const repository = makeBuggyRepository(new Random(seed), 'operator');
    const ended = await runIn(repository, { dataDirectory: freshDataDirectory() }, 'simulated');
    expect(ended.code, ended.stderr).toBe(0);
    await expectRepaired(repository);
  });

  it.concurrent('ends stuck and not with 0 when what it would have to read is gone', async () => {
    const repository = makeBuggyRepository(new Random(seed + 1), 'constant');
    rmSync(join(repository.directory, repository.sourcePath));
    const ended = await runIn(repository, { dataDirectory: freshDataDirectory() }, 'simulated');
    expect(ended.code).not.toBe(0);
    expect(ended.stdout + ended.stderr).toMatch(/stuck/);
  });

  it.concurrent('answers in text when no directory is given', async () => {
    const ended = await stint(['run', 'say what a budget is', '--model', 'simulated', '--json'], {
      dataDirectory: freshDataDirectory(),
    });
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(ended).finalResult?.outputs).toEqual([expect.objectContaining({ kind: 'response' })]);
  });

  it.concurrent('prints the result for a person on stdout and the progress on stderr', async () => {
    const repository = makeBuggyRepository(new Random(seed + 2), 'comparison');
    const ended = await stint(
      ['run', goal, '--accept', 'node --test passes', '--dir', repository.directory, '--model', 'simulated'],
      {
        dataDirectory: freshDataDirectory(),
      },
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('[x] node --test passes');
    expect(ended.stderr).toMatch(/action\.\w+/);
  });
});

/** What the ledger charged and what the endpoint counted, compared turn by turn. */
async function expectSameCounts(
  dataDirectory: string,
  served: readonly { turnId: string | null; inputTokens: number; outputTokens: number }[],
): Promise<void> {
  const requests = await readStore<StoredRequest>(dataDirectory, 'SELECT * FROM ledger_requests ORDER BY id');
  expect(requests.length).toBeGreaterThanOrEqual(5);
  const counted = new Map(served.map((request) => [request.turnId, request.inputTokens + request.outputTokens]));
  expect(counted.size).toBe(served.length);
  expect(Object.fromEntries(requests.map((request) => [request.id, request.charged_tokens]))).toEqual(
    Object.fromEntries(counted),
  );
  expect(new Set(requests.map(({ kind }) => kind))).toEqual(new Set(['coordinator', 'action']));
}
