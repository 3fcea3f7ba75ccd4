import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { bugFamilies, git } from '../src/buggy-repository.js';
import { Random, testSeed } from '../src/random.js';
import { type SimulatorProcess, startSimulatorProcess } from '../src/simulator-process.js';
import { documentOf, stint, wordsOf } from '../src/stint.js';
import { drawWork, expectEachSentOnce, onlyItem, runWords, type Work } from '../src/work.js';

const seed = testSeed();
const killedStint = fileURLToPath(new URL('../src/killed-stint.mjs', import.meta.url));

/** What must happen after `kill -9` at a point: the work goes on by itself, or a person is asked and the printed command frees it. */
type End = 'unaided' | 'asked';

/**
 * Points are counted over the whole run: turn 1 is the Coordinator's, turn 2 the first of an Action; operation 2 is the edit. `more` is how many
 * requests reach the endpoint beyond those of an undisturbed run: one where an answer was on its way and a person said to send it again.
 */
const table: readonly (readonly [point: string, where: string, end: End, more: number])[] = [
  ['turn:prepared#1', 'before the Coordinator asks', 'unaided', 0],
  ['turn:started#1', 'after the Coordinator reserved, before a byte left', 'asked', 0],
  ['turn:streaming#1', 'while the Coordinator is answered', 'asked', 1],
  ['turn:answered#1', 'after its answer, before it is stored', 'asked', 1],
  ['turn:finished#1', 'after its answer is stored, before it is applied', 'unaided', 0],
  ['turn:prepared#3', 'before an Action asks', 'unaided', 0],
  ['turn:started#3', 'after an Action reserved, before a byte left', 'asked', 0],
  ['turn:streaming#3', 'while an Action is answered', 'asked', 1],
  ['turn:answered#3', 'after its answer, before it is stored', 'asked', 1],
  ['turn:finished#3', 'after its answer is stored', 'unaided', 0],
  ['tool:before#2', 'before a read-only tool', 'unaided', 0],
  ['tool:during#2', 'in a read-only tool', 'unaided', 0],
  ['tool:after#2', 'after a read-only tool', 'unaided', 0],
  ['operation:done#2', 'in the editing tool, after it has edited', 'asked', 0],
  // The printed command takes the edit for done; the model finds out that it is not, and makes it: four requests.
  ['operation:started#2', 'in the editing tool, before it edits', 'asked', 4],
  ['outcome:before#1', 'before the first outcome', 'unaided', 0],
  ['outcome:after#1', 'after the first outcome', 'unaided', 0],
  ['outcome:before#2', 'before the outcome of the repair', 'unaided', 0],
  ['outcome:before#3', 'before the outcome of the gate', 'unaided', 0],
];

/** How many requests an undisturbed run on the same drawn repository takes. */
async function undisturbed(): Promise<number> {
  await using simulator = await startSimulatorProcess();
  const work = draw(simulator);
  const ended = await stint(runWords(work), work.options);
  expect(ended.code, ended.stderr).toBe(0);
  return simulator.served().length;
}

function draw(simulator: SimulatorProcess): Work {
  const random = new Random(seed);
  return drawWork(random, random.pick(bugFamilies), simulator);
}

/** How each run of the table really ended. */
const ends: End[] = [];

let usual = 0;
beforeAll(async () => {
  usual = await undisturbed();
});

describe('stint killed by kill -9', () => {
  it.concurrent.each(table)('at %s, %s: %s', async (point, _where, end, more) => {
    await using simulator = await startSimulatorProcess();
    const work = draw(simulator);
    const killed = await stint(runWords(work), {
      ...work.options,
      program: killedStint,
      environment: { ...work.options.environment, STINT_KILL_AT: point },
    });
    expect(killed.signal, `${killed.stdout}${killed.stderr}`).toBe('SIGKILL');

    const itemId = await onlyItem(work);
    const asked = await bringToDone(work, itemId);
    const really = asked > 0 ? 'asked' : 'unaided';
    ends.push(really);
    expect(really).toBe(end);
    expect(asked).toBeLessThanOrEqual(1);
    expect(readFileSync(join(work.repository.directory, work.repository.sourcePath), 'utf8')).toBe(
      work.repository.rightSource,
    );
    expect(git(work.repository.directory, 'status', '--porcelain').trim()).toBe(`M ${work.repository.sourcePath}`);
    await expectEachSentOnce(work, simulator);
    expect(simulator.served().length - usual).toBe(more);
  });

  it('asks a person at eight of these points and goes on by itself at eleven', () => {
    const count = (end: End): number => ends.filter((one) => one === end).length;
    console.log(`${count('asked')} points asked a person, ${count('unaided')} went on unaided`);
    expect([count('asked'), count('unaided')]).toEqual([8, 11]);
  });
});

/** Watches the item, giving the printed command whenever a person is asked; answers how often that was. */
async function bringToDone(work: Work, itemId: string): Promise<number> {
  for (let asked = 0; asked < 5; asked += 1) {
    const watched = await stint(['watch', itemId, '--json'], work.options);
    const document = documentOf(watched);
    if (watched.code === 0) return asked;
    expect(watched.code, watched.stderr).toBe(3);
    const [need] = document.needs;
    const freed = await stint(wordsOf(need?.command ?? ''), work.options);
    expect(freed.code, freed.stderr).toBe(0);
  }
  throw new Error(`${itemId} was not done after five printed commands`);
}
