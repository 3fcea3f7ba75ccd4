// Kills a process between every two statements of each operation, and at its commit: the store has all of it or nothing.
//   node bench/sweep.mjs [--engine sqlite|postgres] [--url postgres://...] [--every 1] [--sample N --seed N]
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { all } from '@stint/storage';
import { freshPostgres, freshSqlite, startPostgres } from '@stint/storage/testing';
import { ledgerMigrations, replayAccount, verifyAccount } from '../dist/index.js';
import { operations, sweepTime } from './operations.mjs';
import { seededRandom } from './random.mjs';

const child = fileURLToPath(new URL('./crash-child.mjs', import.meta.url));
const tables = {
  ledger_accounts: 'id',
  ledger_entries: 'account, seq',
  ledger_requests: 'id',
  ledger_subjects: 'account, subject',
};

/**
 * Sweeps one operation.
 * @param {() => Promise<object>} fresh a new store
 * @param {{ engine: string, name: string, every?: number }} options `every` n-th point only
 * @returns {Promise<{ points: number, statements: number, kept: number, lost: number }>}
 * @throws Error at a store that has a part of the operation
 */
export async function sweepOperation(fresh, { engine, name, every = 1 }) {
  const whole = await crashAt(fresh, { engine, name, point: -1 });
  const outcome = { ...whole.counted, kept: 0, lost: 0 };
  const last = whole.counted.points - 1;
  for (let point = 0; point <= last; point = point === last ? last + 1 : Math.min(point + every, last)) {
    const { before, after } = await crashAt(fresh, { engine, name, point });
    if (after === whole.after) outcome.kept += 1;
    else if (after === before) outcome.lost += 1;
    else throw new Error(`${name} on ${engine}, killed at point ${point}, left a part of it:\n${after}`);
  }
  return outcome;
}

async function crashAt(fresh, { engine, name, point }) {
  const store = await fresh();
  try {
    const before = await prepare(store, name);
    const counted = await runChild([engine, store.location, name, String(point)], point);
    return { before, counted, after: await inspect(store) };
  } finally {
    await store.remove();
  }
}

async function prepare(store, name) {
  const db = await store.open({ clock: () => sweepTime });
  await db.migrate(ledgerMigrations);
  await db.write((ctx) => operations[name].before(ctx));
  const before = await dump(db);
  await db.close();
  return before;
}

async function inspect(store) {
  const db = await store.open({ clock: () => sweepTime });
  for (const proof of [verifyAccount, replayAccount]) {
    const result = await db.read((ctx) => proof(ctx, 'root'));
    if (!result.ok) throw new Error(`after a crash: ${result.misfit.problem}`);
  }
  return dump(db);
}

/** All rows but for the ids of processes. */
async function dump(db) {
  const rows = {};
  for (const [table, order] of Object.entries(tables)) {
    rows[table] = (await db.read(() => all(`SELECT * FROM ${table} ORDER BY ${order}`))).map((row) => ({
      ...row,
      owner: undefined,
    }));
  }
  return JSON.stringify(rows);
}

async function runChild(argv, point) {
  const process = fork(child, argv, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let counted;
  let errors = '';
  process.on('message', (message) => {
    counted = message;
  });
  process.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const signal = await new Promise((resolve) => process.once('close', (_code, by) => resolve(by)));
  const isRight = point < 0 ? counted !== undefined : signal === 'SIGKILL';
  if (!isRight) throw new Error(`the child ended with ${signal} at point ${point}: ${errors}`);
  return counted;
}

export const operationNames = Object.keys(operations);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    engine: { type: 'string', default: 'sqlite' },
    url: { type: 'string' },
    every: { type: 'string', default: '1' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  };
  const { engine, url, every, sample, seed } = parseArgs({ options }).values;
  const server = engine === 'postgres' && url === undefined ? await startPostgres({ fsync: true }) : undefined;
  const fresh = async () => (engine === 'sqlite' ? freshSqlite() : freshPostgres(url ?? server.url));
  const random = seededRandom(Number(seed));
  const shuffled = operationNames
    .map((name) => ({ name, order: random() }))
    .sort((left, right) => left.order - right.order);
  for (const { name } of shuffled.slice(0, Number(sample ?? operationNames.length))) {
    const outcome = await sweepOperation(fresh, { engine, name, every: Number(every) });
    console.log(JSON.stringify({ name, ...outcome }));
  }
  await server?.stop();
}
