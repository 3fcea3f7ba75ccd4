import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coordinate, runItem, runShell } from './mini-agent.test.support.js';
import { families } from './sample-repository.test.support.js';
import { openBench, type ScenarioBench } from './scenario-bench.test.support.js';

const firstSeed = Math.floor(Math.random() * 1_000_000);
let bench: ScenarioBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe(`the default scenario on samples from seed ${firstSeed}`, () => {
  test.each(families)('repairs a wrong %s from what it read', async (family) => {
    const drawn = await bench.sample(firstSeed, family);
    const results = await runItem(bench.itemFor(drawn.root));
    const told = JSON.stringify(results.map(({ outcome }) => outcome['summary']));
    expect(
      results.map(({ id, outcome }) => [id, outcome['status']]),
      told,
    ).toEqual([
      ['inspect', 'completed'],
      ['repair', 'completed'],
      ['deliver', 'completed'],
    ]);
    expect(await runShell(drawn.root, 'node --test')).toMatch(/^exit code 0/);
    const [before, after] = [drawn.wrong, await readFile(join(drawn.root, drawn.sourcePath), 'utf8')].map((text) =>
      text.split('\n'),
    );
    expect(after?.filter((line, index) => line !== before?.[index])).toHaveLength(1);
    expect(results.at(-1)?.outcome['checks']).toMatchObject([
      { criterionId: 'c1', status: 'passed' },
      { criterionId: 'c2', status: 'passed' },
    ]);
  });

  test.each([
    ['list_directory', /^stuck: I could not list/],
    ['read_file', /^stuck: I could not read/],
    ['shell', /^stuck: node --test cannot be run/],
  ] as const)('is stuck when %s gives nothing back, and says so', async (tool, summary) => {
    const drawn = await bench.sample(firstSeed + 7);
    const tamper = (name: string, result: string) => (name === tool ? '' : result);
    const results = await runItem(bench.itemFor(drawn.root, { tamper }));
    expect(results.at(-1)?.outcome).toMatchObject({ status: 'failed', summary: expect.stringMatching(summary) });
    expect(await readFile(join(drawn.root, drawn.sourcePath), 'utf8')).toBe(drawn.wrong);
  });

  test('tries changes one by one, and takes back those that do not help, when it cannot evaluate the source', async () => {
    const drawn = await bench.sample(firstSeed + 12, 'arithmetic');
    const path = join(drawn.root, drawn.sourcePath);
    const beyond = 'function* neverRead() {\n  yield 1;\n}\n';
    await writeFile(path, beyond + drawn.wrong);
    const results = await runItem(bench.itemFor(drawn.root));
    expect(results.map(({ outcome }) => outcome['status'])).toEqual(['completed', 'completed', 'completed']);
    expect(await runShell(drawn.root, 'node --test')).toMatch(/^exit code 0/);
    const [before, after] = [beyond + drawn.wrong, await readFile(path, 'utf8')].map((text) => text.split('\n'));
    expect(after?.filter((line, index) => line !== before?.[index])).toHaveLength(1);
  });

  test('is stuck when no single change makes the tests pass, and leaves the files as they were', async () => {
    const drawn = await bench.sample(firstSeed + 8, 'arithmetic');
    const broken = (name: string, result: string) =>
      name === 'shell' ? `exit code 1 after 1 ms\n# pass 0\n# fail 1` : result;
    const results = await runItem(bench.itemFor(drawn.root, { tamper: broken }));
    expect(results.at(-1)?.outcome).toMatchObject({ status: 'failed', summary: expect.stringMatching(/^stuck/) });
    expect(await readFile(join(drawn.root, drawn.sourcePath), 'utf8')).toBe(drawn.wrong);
  });

  test('names no file as delivered when nothing had to be changed', async () => {
    const drawn = await bench.sample(firstSeed + 9, 'arithmetic');
    await writeFile(join(drawn.root, drawn.sourcePath), drawn.right);
    const results = await runItem(bench.itemFor(drawn.root));
    expect(results.map(({ outcome }) => outcome['status'])).toEqual(['completed', 'completed', 'completed']);
    expect(results.at(-1)?.outcome['outputs']).toEqual([
      { kind: 'workspace_files', value: 'no file had to be changed' },
    ]);
  });

  test('answers in words without a work directory', async () => {
    const [answer] = await runItem(bench.itemFor(null, { goal: 'name three rivers' }));
    expect(answer?.outcome).toMatchObject({
      status: 'completed',
      outputs: [{ kind: 'response', value: expect.stringContaining('three rivers') }],
    });
  });
});

describe('the Coordinator of the default scenario', () => {
  const done = {
    kind: 'work',
    status: 'completed',
    dependencies: [],
    result: {
      runId: 'r1',
      summary: 'Did it.',
      checks: [
        { criterionId: 'c1', status: 'passed' },
        { criterionId: 'c2', status: 'passed' },
      ],
      outputs: [{ kind: 'workspace_files', value: 'a.js' }],
    },
  };
  const failed = { id: 'repair', kind: 'work', status: 'failed', dependencies: ['inspect'], note: 'stuck: no idea' };
  const gate = { id: 'deliver', kind: 'deliver', status: 'blocked', dependencies: ['repair'] };

  test('completes with the runs that passed each criterion when everything is finished', async () => {
    const decision = JSON.parse(
      await coordinate(bench.itemFor('/tmp'), { kind: 'plan_used_up' }, [{ id: 'inspect', ...done }]),
    );
    expect(decision).toMatchObject({
      decision: 'complete',
      criteria: [
        { id: 'c1', evidenceRunIds: ['r1'] },
        { id: 'c2', evidenceRunIds: ['r1'] },
      ],
      outputs: [{ kind: 'workspace_files', text: 'a.js' }],
    });
  });

  test('plans anew after a cancel that came before the gate was done', async () => {
    const actions = [
      { id: 'inspect', ...done },
      { ...failed, status: 'cancelled' },
      { ...gate, status: 'cancelled' },
    ];
    const decision = JSON.parse(await coordinate(bench.itemFor('/tmp'), { kind: 'resumed' }, actions));
    expect(decision).toMatchObject({ decision: 'plan', mutations: [{ op: 'add' }, { op: 'add' }, { op: 'add' }] });
    const ids = decision.mutations.map(({ action }: { action: { id: string } }) => action.id);
    expect(ids).toEqual(['inspect-2', 'repair-2', 'deliver-2']);
  });

  test('asks the person about a failed Action, and replaces it after the person wrote', async () => {
    const actions = [failed, gate, { id: 'inspect', ...done }];
    const asked = JSON.parse(
      await coordinate(bench.itemFor('/tmp'), { kind: 'action_settled', action: 'repair' }, actions),
    );
    expect(asked).toMatchObject({ decision: 'ask_human', question: expect.stringContaining('stuck: no idea') });
    const replanned = JSON.parse(
      await coordinate(bench.itemFor('/tmp'), { kind: 'message', text: 'try again' }, actions),
    );
    expect(replanned).toMatchObject({
      decision: 'plan',
      mutations: [
        { op: 'replace', id: 'repair', action: { id: 'repair-2', dependencies: ['inspect'], workspaceMode: 'shared' } },
      ],
    });
  });

  test('plans two Actions that do not depend on each other in the variant parallel', async () => {
    const decision = JSON.parse(
      await coordinate(bench.itemFor('/tmp', { model: 'simulated:parallel' }), { kind: 'started' }, []),
    );
    const added = decision.mutations.map(({ action }: { action: { id: string; dependencies: string[] } }) => [
      action.id,
      action.dependencies,
    ]);
    expect(added.slice(0, 2)).toEqual([
      ['inspect-sources', []],
      ['inspect-tests', []],
    ]);
  });
});
