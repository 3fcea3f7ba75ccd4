// Lets every pair of the ledger's bodies meet on one tree in Postgres: the second comes after each statement of the first, for every order of
// the two. Each meeting has to end as the two do one after the other, and the journal has to prove right.
//   node bench/interleave.mjs [--url postgres://...] [--only "name of a first body"]
import { parseArgs } from 'node:util';
import { freshPostgres, startPostgres } from '@stint/storage/testing';
import { ledgerMigrations } from '../dist/index.js';
import { bodyNames, Meetings, mostSteps, sceneTime, switchedAfter } from '../dist/interleaving.test.helper.js';

const { values } = parseArgs({ options: { url: { type: 'string' }, only: { type: 'string' } } });
const server = values.url === undefined ? await startPostgres() : undefined;
const store = await freshPostgres(values.url ?? server.url);
const db = await store.open({ clock: () => sceneTime });
await db.migrate(ledgerMigrations);
const meetings = new Meetings(db, store.location);
let count = 0;
let failed = 0;
for (const first of bodyNames.filter((name) => values.only === undefined || name === values.only)) {
  for (const second of bodyNames) {
    for (let steps = 0, isMeeting = true; steps < mostSteps && isMeeting; steps += 1) {
      count += 1;
      try {
        isMeeting = await meetings.meet(first, second, switchedAfter(steps));
      } catch (error) {
        failed += 1;
        console.error(`${first}, ${steps} steps, then ${second}:`, error);
      }
    }
  }
  console.log(`${first}: with ${bodyNames.length} bodies`);
}
await store.remove();
await server?.stop();
console.log(`${count} meetings of ${bodyNames.length} bodies, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
