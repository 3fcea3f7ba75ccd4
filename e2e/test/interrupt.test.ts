import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { bugFamilies } from '../src/buggy-repository.js';
import { Random, testSeed } from '../src/random.js';
import { briskScenario, startSimulatorProcess } from '../src/simulator-process.js';
import { documentOf, startStint, stint } from '../src/stint.js';
import { drawWork, expectEachSentOnce, runWords } from '../src/work.js';

const seed = testSeed();

describe('Ctrl-C during stint run', () => {
  it('stops safely with exit code 130, says how to go on, and the work goes on from there without a question', async () => {
    const random = new Random(seed);
    await using simulator = await startSimulatorProcess(briskScenario);
    const work = drawWork(random, random.pick(bugFamilies), simulator);
    const running = startStint(runWords(work), work.options);
    while (!running.stderr().includes('inspect: running')) await once(running.child.stderr, 'data');
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(130);
    const document = documentOf(ended);
    expect(document).toMatchObject({ exitCode: 130, reason: 'interrupted' });
    expect(ended.stderr).toContain(`stint watch ${document.id}`);

    const watched = await stint(['watch', document.id, '--json'], work.options);
    expect(watched.code, watched.stderr).toBe(0);
    await expectEachSentOnce(work, simulator);
  });
});
