import { type FreshStore, freshPostgres, freshSqlite } from '@stint/storage/testing';
import type { Database, DatabaseOptions } from '@stint/storage';
import fc from 'fast-check';
import { expect, inject, it } from 'vitest';
import { ledgerMigrations } from './schema.js';
import { playSteps, type Step } from './play-steps.js';

const number = fc.nat({ max: 999 });
const steps: fc.Arbitrary<Step[]> = fc.array(fc.tuple(number, number, number, number), {
  minLength: 20,
  maxLength: 100,
});

/** A lease that the plays' clock does not end, however far it jumps. */
const noJumpEndsIt = 20 * 24 * 3_600_000;

async function compareWithModel(store: FreshStore<DatabaseOptions>, runs: number): Promise<void> {
  const time = { now: Date.UTC(2026, 2, 10, 12) };
  const open = (): Promise<Database> => store.open({ clock: () => time.now, leaseMs: noJumpEndsIt });
  const owners = [await open(), await open(), await open()];
  await owners[0]?.migrate(ledgerMigrations);
  let plays = 0;
  const property = fc.asyncProperty(steps, async (drawn) => {
    plays += 1;
    await playSteps(drawn, { prefix: `play${plays}`, open, owners, time });
  });
  try {
    await fc.assert(property, { numRuns: runs });
  } finally {
    await store.remove();
  }
  expect(plays).toBeGreaterThanOrEqual(runs);
}

it('does what the model does, whatever is called in whatever order, on SQLite', async () => {
  await compareWithModel(freshSqlite(), 25);
}, 180_000);

it('does what the model does, whatever is called in whatever order, on Postgres', async () => {
  await compareWithModel(await freshPostgres(inject('pgUrl')), 5);
}, 180_000);
