// The statements of one pair of reserve and settle, recorded, and played on better-sqlite3 alone: what the driver and SQLite take of a pair.
//   node bench/statements.mjs        prints each statement with its microseconds
import { fileURLToPath } from 'node:url';
import { freshSqlite } from '@stint/storage/testing';
import { reserveRequest, settleRequest } from '../dist/index.js';
import { nextId } from './measure.mjs';
import { openDriver } from './raw-loop.mjs';
import { createTree, usage } from './workload.mjs';

const names = ['get', 'all', 'run'];

/** Drives the body and notes what it asks for. */
const recorded = (body, notes) =>
  function* (ctx) {
    const transaction = body(ctx);
    notes.push({ sql: 'BEGIN IMMEDIATE', call: 'run', params: [] });
    let step = transaction.next();
    while (step.done !== true) {
      const { sql, kind, params } = step.value;
      notes.push({ sql: sql.replace(/ FOR NO KEY UPDATE(?: OF a)?$/u, ''), call: names[kind], params: [...params] });
      step = transaction.next(yield step.value);
    }
    notes.push({ sql: 'COMMIT', call: 'run', params: [] });
    return step.value;
  };

/** Records one pair on a store of its own, and opens its file with the driver alone. */
export async function recordPair(synchronous) {
  const store = freshSqlite();
  const db = await store.open({ synchronous });
  await createTree(db);
  const id = nextId();
  const notes = [];
  const input = {
    id,
    account: 'leaf',
    kind: 'action',
    model: 'simulated:default',
    estimate: { tokens: 400, costMicros: 900 },
    priceVersion: '1',
  };
  await db.write(recorded((ctx) => reserveRequest(ctx, input), notes));
  await db.write(recorded((ctx) => settleRequest(ctx, id, { usage, complete: true, costMicros: 800 }), notes));
  await db.close();
  const driver = openDriver(store.location, synchronous);
  const steps = notes.map((note) => prepared(driver, note));
  return {
    steps,
    play: () => playPair(steps, id),
    close: () => Promise.resolve(driver.close()).then(() => store.remove()),
  };
}

function prepared(driver, { sql, call, params }) {
  const statement = driver.prepare(sql);
  if (call !== 'run') statement.raw(true);
  return { sql, call, params, statement, isEntry: sql.startsWith('INSERT INTO ledger_entries'), microseconds: 0 };
}

let lastSeq = 1_000_000;

function playPair(steps, recordedId) {
  const id = nextId();
  for (const step of steps) {
    const params = step.params.map((value) => (value === recordedId ? id : value));
    if (step.isEntry) params[1] = lastSeq += 1;
    const bound = params.map((value) => (typeof value === 'number' ? BigInt(value) : value));
    const start = performance.now();
    step.statement[step.call](bound);
    step.microseconds += (performance.now() - start) * 1000;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const synchronous of ['full', 'normal']) {
    const { steps, play, close } = await recordPair(synchronous);
    const count = synchronous === 'full' ? 1000 : 5000;
    for (let index = 0; index < count; index += 1) play();
    for (const step of steps) step.microseconds = 0;
    for (let index = 0; index < count; index += 1) play();
    console.log(`${synchronous.toUpperCase()}, us for each statement of a pair`);
    for (const { sql, microseconds } of steps)
      console.log((microseconds / count).toFixed(1).padStart(8), sql.replaceAll(/\s+/gu, ' ').slice(0, 70));
    console.log(
      (steps.reduce((sum, { microseconds }) => sum + microseconds, 0) / count).toFixed(1).padStart(8),
      'together',
    );
    await close();
  }
}
