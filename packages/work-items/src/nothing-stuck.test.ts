import { randomInt } from 'node:crypto';
import { freshSqlite } from '@stint/storage/testing';
import { expect, it } from 'vitest';
import { assertNothingStuck } from './nothing-stuck.js';
import { add, Work } from './testing-harness.js';
import { seededRandom, Simulation } from './testing-simulation.js';

const firstSeed = randomInt(2 ** 31);
const seeds = Array.from({ length: 36 }, (_, index) => firstSeed + index);

it.each(seeds)(
  'nothing is ever stuck: any legal commands, then the offered ones, end the item (seed %i)',
  async (seed) => {
    const store = freshSqlite();
    try {
      const random = seededRandom(seed);
      const work = await Work.open(store);
      const place = { workDir: '/repo', workspaceKey: 'm1:/repo' };
      const itemId = await work.create({ acceptanceCriteria: ['one'], ...place });
      await work.start(itemId);
      const simulation = new Simulation(work, itemId, random);
      try {
        for (let step = 0; step < 80; step += 1) await simulation.step();
        expect(['done', 'cancelled']).toContain(await simulation.settle(300));
      } catch (error) {
        throw new Error(`seed ${seed} after:\n${simulation.trace.join('\n')}`, { cause: error });
      }
    } finally {
      await store.remove();
    }
  },
);

it('the checker sees a status that was not derived, a lost Run and an Action blocked by nothing', async () => {
  const store = freshSqlite();
  try {
    const work = await Work.open(store);
    const itemId = await work.planned([add('a'), add('end', { kind: 'deliver', dependencies: ['a'] })]);
    const { action } = await work.claim('a');
    const records = await work.look(itemId);
    const item = { ...records.item, status: 'done' as const };
    expect(() => assertNothingStuck({ ...records, item })).toThrow(/stored as done, derived running/);
    expect(() => assertNothingStuck({ ...records, runs: [] })).toThrow(/a is running with 0 running Runs/);
    const actions = records.actions
      .filter((other) => other.id !== action.id)
      .map((end) => ({ ...end, dependencies: [] }));
    expect(() => assertNothingStuck({ ...records, actions })).toThrow(/end is blocked by nothing/);
  } finally {
    await store.remove();
  }
});
