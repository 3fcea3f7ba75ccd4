// Several processes on one store call the ledger at random and die at random, half of the settlements above their hold. A reader outside
// sums request rows all the while; at the end the journal is verified and replayed.
//   node bench/hammer.mjs [--engine sqlite|postgres] [--url postgres://...] [--processes 8] [--seconds 60] [--seed N]
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { all } from '@stint/storage';
import { freshPostgres, freshSqlite, startPostgres } from '@stint/storage/testing';
import { createLedger } from '../dist/index.js';

const child = fileURLToPath(new URL('./hammer-child.mjs', import.meta.url));
const limits = { root: 20_000, left: 12_000, right: 12_000, 'left.leaf': 6000 };
const beneath = {
  root: ['root', 'left', 'right', 'left.leaf'],
  left: ['left', 'left.leaf'],
  right: ['right'],
  'left.leaf': ['left.leaf'],
};

/** What all requests of an account and beneath were charged within their holds: what admission promised to keep below the limit. */
const sumWithinHolds = (
  accounts,
) => `SELECT COALESCE(CAST(SUM(CASE WHEN charged_tokens < estimate_tokens THEN charged_tokens ELSE estimate_tokens END) AS BIGINT), 0) AS within
  FROM ledger_requests WHERE account IN (${accounts.map(() => '?').join(', ')})`;

async function readOutside(db, state) {
  while (!state.ended) {
    for (const [account, accounts] of Object.entries(beneath)) {
      const [row, limit] = await db.read(function* () {
        const [sum] = yield* all(sumWithinHolds(accounts), accounts);
        const [kept] = yield* all('SELECT limits FROM ledger_accounts WHERE id = ?', [account]);
        return [sum, JSON.parse(kept.limits).maxTokens];
      });
      state.reads += 1;
      if (row.within > limit) state.violations.push({ account, within: row.within, limit });
    }
    await sleep(5);
  }
}

/** A process that dies by its own hand is started again until the time is up. */
async function keepRunning(options, seed, state) {
  const end = performance.now() + options.seconds * 1000;
  for (let life = 0; performance.now() < end; life += 1) {
    const left = Math.max(0.2, (end - performance.now()) / 1000);
    const process = fork(child, [options.engine, options.location, String(seed + life * 1000), String(left)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    process.on('message', ({ counts }) => state.counts.push(counts));
    process.stderr.on('data', (chunk) => state.errors.push(String(chunk)));
    const [code, signal] = await new Promise((resolve) => process.once('close', (...ended) => resolve(ended)));
    if (signal === 'SIGKILL') state.crashes += 1;
    else if (code !== 0) state.errors.push(`ended with ${code}`);
  }
}

export async function hammer(store, { engine, processes, seconds, seed }) {
  const db = await store.open();
  const ledger = createLedger(db);
  await ledger.migrate();
  for (const [id, maxTokens] of Object.entries(limits)) {
    const parent = id === 'root' ? undefined : id === 'left.leaf' ? 'left' : 'root';
    await ledger.createAccount({ id, ...(parent === undefined ? {} : { parent }), limits: { maxTokens } });
  }
  const state = { reads: 0, violations: [], counts: [], errors: [], crashes: 0, ended: false };
  const reading = readOutside(db, state);
  const options = { engine, location: store.location, seconds };
  await Promise.all(Array.from({ length: processes }, (_, index) => keepRunning(options, seed + index, state)));
  await ledger.recoverRequests();
  state.ended = true;
  await reading;
  const proofs = [await ledger.verifyAccount('root'), await ledger.replayAccount('root')];
  const { usage } = await ledger.snapshotAccount('root');
  const [rows] = await db.read(() =>
    all(
      "SELECT SUM(CASE WHEN status = 'reported' THEN 1 ELSE 0 END) AS reported, SUM(overshoot) AS overshoots FROM ledger_requests",
    ),
  );
  const sum = (name) => state.counts.reduce((total, counts) => total + counts[name], 0);
  return {
    engine,
    processes,
    seconds,
    seed,
    crashes: state.crashes,
    reads: state.reads,
    violations: state.violations,
    errors: state.errors,
    refused: sum('refused'),
    reported: Number(rows.reported),
    overshoots: Number(rows.overshoots),
    requests: usage.requests,
    open: usage.open,
    verified: proofs[0].ok,
    replayed: proofs[1].ok,
    proofs: proofs.filter(({ ok }) => !ok),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', default: 'sqlite' },
      url: { type: 'string' },
      processes: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  const server = values.engine === 'postgres' && values.url === undefined ? await startPostgres() : undefined;
  const store = values.engine === 'sqlite' ? freshSqlite() : await freshPostgres(values.url ?? server.url);
  const numbers = { processes: Number(values.processes), seconds: Number(values.seconds), seed: Number(values.seed) };
  const result = await hammer(store, { engine: values.engine, ...numbers });
  await store.remove();
  await server?.stop();
  console.log(JSON.stringify(result));
  const isRight =
    result.verified &&
    result.replayed &&
    result.violations.length === 0 &&
    result.errors.length === 0 &&
    result.open === 0;
  process.exitCode = isRight ? 0 : 1;
}
