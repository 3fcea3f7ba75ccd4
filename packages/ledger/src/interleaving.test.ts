import type { Database } from '@stint/storage';
import { type FreshStore, freshPostgres } from '@stint/storage/testing';
import { afterAll, beforeAll, inject, it } from 'vitest';
import { bodyNames, Meetings, mostSteps, sceneTime, switchedAfter } from './interleaving.test.helper.js';
import { ledgerMigrations } from './schema.js';

let store: FreshStore<object>;
let meetings: Meetings;

beforeAll(async () => {
  store = await freshPostgres(inject('pgUrl'));
  const db = await (store as FreshStore<{ clock: () => number }>).open({ clock: () => sceneTime });
  await db.migrate(ledgerMigrations);
  meetings = new Meetings(db satisfies Database, store.location);
});

afterAll(async () => {
  await store.remove();
});

const seed = Math.floor(Math.random() * 1_000_000);
let drawn = seed;

/** From 0 to `below`, by the seed. */
function draw(below: number): number {
  drawn = (drawn * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((drawn / 2_147_483_648) * below);
}

// `bench/interleave.mjs` lets every pair meet at every statement; here each body meets one other at one of its statements.
for (const first of bodyNames) {
  it(`does with "${first}" what one order of it and another body does, wherever they meet (seed ${seed})`, async () => {
    await meetings.meet(first, bodyNames[draw(bodyNames.length)] ?? first, switchedAfter(draw(mostSteps)));
  });
}
