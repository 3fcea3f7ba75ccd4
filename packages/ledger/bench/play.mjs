// Plays random sequences of calls against a store and a model, and compares them after each call.
//   node bench/play.mjs [--sequences 10000] [--seed N] [--engine sqlite|postgres] [--only N]
// A failure prints the seed and the number of the sequence; `--seed S --only N` plays that one alone.
import { parseArgs } from 'node:util';
import { freshPostgres, freshSqlite, startPostgres } from '@stint/storage/testing';
import { ledgerMigrations } from '../dist/index.js';
import { playSteps } from '../dist/testing.js';
import { seededRandom } from './random.mjs';

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string', default: 'sqlite' },
    only: { type: 'string' },
  },
});

const server = values.engine === 'postgres' ? await startPostgres() : undefined;
const time = { now: Date.UTC(2026, 2, 10, 12) };
const longLeaseMs = 20 * 24 * 3_600_000;
/** Sequences that share one store: what others left open makes each a little slower. */
const sequencesOfStore = 200;

async function openStore() {
  const store = server === undefined ? freshSqlite() : await freshPostgres(server.url);
  const open = () => store.open({ clock: () => time.now, leaseMs: longLeaseMs, synchronous: 'normal' });
  const owners = [await open(), await open(), await open()];
  await owners[0].migrate(ledgerMigrations);
  return { store, open, owners };
}

function stepsOf(sequence) {
  const random = seededRandom(Number(values.seed) * 100_003 + sequence);
  const draw = () => Math.floor(random() * 1000);
  return Array.from({ length: 20 + Math.floor(random() * 81) }, () => [draw(), draw(), draw(), draw()]);
}

const first = values.only === undefined ? 0 : Number(values.only);
const end = values.only === undefined ? Number(values.sequences) : first + 1;
let failed = 0;
for (let sequence = first; sequence < end && failed === 0; ) {
  const { store, open, owners } = await openStore();
  const last = Math.min(end, sequence + sequencesOfStore);
  for (; sequence < last && failed === 0; sequence += 1) {
    try {
      await playSteps(stepsOf(sequence), { prefix: `play${sequence}`, open, owners, time });
    } catch (error) {
      failed += 1;
      console.error(`sequence ${sequence} of seed ${values.seed} on ${values.engine}:`, error);
    }
  }
  await store.remove();
}
await server?.stop();
console.log(`${end - first} sequences of seed ${values.seed} on ${values.engine}, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
