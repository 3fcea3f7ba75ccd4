import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runItem } from './mini-agent.test.support.js';
import { openBench, type ScenarioBench } from './scenario-bench.test.support.js';

const firstSeed = Math.floor(Math.random() * 1_000_000);
let bench: ScenarioBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe(`an Action that was interrupted, on samples from seed ${firstSeed}`, () => {
  test.each([
    [
      'was interrupted before it changed anything',
      'Interrupted before it changed anything. You may make the call again.',
      false,
    ],
    ['was done although its output is lost', 'Interrupted, but it was done; its output is lost.', true],
    ['is said to be done and is not', 'Interrupted, but it was done; its output is lost.', false],
    [
      'ended unknown but took',
      'Interrupted; the outcome is unknown. Check what the call did before you repeat it.',
      true,
    ],
    [
      'ended unknown and did not take',
      'Interrupted; the outcome is unknown. Check what the call did before you repeat it.',
      false,
    ],
  ])('repairs all the same when its edit %s', async (_, said, takes) => {
    const drawn = await bench.sample(firstSeed + 11);
    let first = true;
    const tamper = (name: string, result: string) => {
      if (name !== 'edit_file' || !first) return result;
      first = false;
      if (!takes) writeFileSync(join(drawn.root, drawn.sourcePath), drawn.wrong);
      return said;
    };
    const results = await runItem(bench.itemFor(drawn.root, { tamper }));
    expect(results.map(({ outcome }) => outcome['summary'])).toHaveLength(3);
    expect(await readFile(join(drawn.root, drawn.sourcePath), 'utf8')).toBe(drawn.right);
  });

  test.each(['list_directory', 'read_file', 'shell'])('makes a call of %s again that was not run', async (tool) => {
    const drawn = await bench.sample(firstSeed + 13);
    let first = true;
    const tamper = (name: string, result: string) => {
      if (name !== tool || !first) return result;
      first = false;
      return 'Not run: the run was stopped.';
    };
    const results = await runItem(bench.itemFor(drawn.root, { tamper }));
    expect(results.map(({ outcome }) => outcome['status'])).toEqual(['completed', 'completed', 'completed']);
  });
});
