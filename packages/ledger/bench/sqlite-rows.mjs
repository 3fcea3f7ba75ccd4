// The figures on SQLite, each beside a loop over better-sqlite3 that does the least of the same transactions on a file of the same settings.
import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import { createLedger } from '../dist/index.js';
import { interleaved, measureAll, nextId, quantile, row, timeEach } from './measure.mjs';
import { rawLoop } from './raw-loop.mjs';
import { recordPair } from './statements.mjs';
import { createTree, pair } from './workload.mjs';

const owner = '01930000-0000-7000-8000-000000000000';
const forComparison = '>= 0 (for comparison)';

/** Pairs that no figure counts, so that the code is compiled as it is in a process that has run for a while. */
async function warmUp() {
  const store = freshSqlite();
  const db = await store.open({ synchronous: 'normal' });
  await createTree(db);
  await timeEach(3000, () => pair(db, nextId()));
  await store.remove();
}

/** The pair, and beside it what its statements take on the driver alone: the most that a faster ledger could reach. */
async function pairRows(synchronous, target, rounds) {
  await warmUp();
  const store = freshSqlite();
  const db = await store.open({ synchronous });
  await createTree(db);
  const raw = rawLoop(`${store.location}.raw`, synchronous);
  const statements = await recordPair(synchronous);
  const count = synchronous === 'full' ? 400 : 1500;
  const calls = {
    raw: () => raw.pair(nextId()),
    ledger: () => pair(db, nextId()),
    driver: () => statements.play(),
  };
  const { raw: least, ledger, driver } = await measureAll(rounds, count, calls);
  raw.close();
  await Promise.all([statements.close(), store.remove()]);
  const name = `reserve + settle, SQLite ${synchronous.toUpperCase()}`;
  const figures = (of, figure) => ({
    value: of[figure],
    unit: 'us',
    baseline: least[figure],
    ratio: least[figure] / of[figure],
  });
  return [
    row(name, { ...figures(ledger, 'elapsed'), target }),
    row(`${name}, its statements on the driver alone`, { ...figures(driver, 'elapsed'), target: forComparison }),
    row(`${name}, user and system time`, { ...figures(ledger, 'processor'), target: forComparison }),
    row(`${name}, statements alone, user and system time`, { ...figures(driver, 'processor'), target: forComparison }),
  ];
}

/** The first pairs of a new file, whose log the raw loop makes longer with each commit; the ledger's is made long at once. */
async function newFileRow(rounds) {
  const pairs = 150;
  const raw = async (store) => {
    const loop = rawLoop(store.location, 'full');
    const time = await timeEach(pairs, () => loop.pair(nextId()));
    loop.close();
    return time;
  };
  const ours = async (store) => {
    const db = await store.open();
    await createTree(db);
    return timeEach(pairs, () => pair(db, nextId()));
  };
  const onNewFile = (measure) => async () => {
    const store = freshSqlite();
    const time = await measure(store);
    await store.remove();
    return time;
  };
  const times = await interleaved(rounds, onNewFile(raw), onNewFile(ours));
  return row(`the first ${pairs} pairs of a new file, FULL`, {
    value: times.second,
    unit: 'us',
    baseline: times.first,
    ratio: times.first / times.second,
    target: forComparison,
  });
}

/** A million settled requests, and as many of other accounts, put there by one statement each. */
async function fill(db, account, count) {
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  await db.write(() =>
    run(
      `INSERT INTO ledger_requests (id, account, kind, model, estimate_tokens, estimate_cost, charged_tokens, charged_cost, status, complete, owner, reserved_at, usage)
       ${numbers} SELECT ? || printf('%09d', n), ?, 'action', 'simulated:default', 400, 900, 400, 800, 'reported', 1, ?, 1, '[300,100,0,0,0,400]' FROM numbers`,
      [`0100-${account}-`, account, owner],
    ),
  );
  await db.write(() =>
    run(
      `INSERT INTO ledger_entries (account, seq, revision, at, type, request, kind, delta, hash)
       ${numbers} SELECT ?, n + 10, n, 1, 'settled', 'x', 'action', '[0,0,-100,-400,-900,-1]', ? FROM numbers`,
      [account, 'h'.repeat(43)],
    ),
  );
  await db.write(() =>
    run('UPDATE ledger_accounts SET entry_count = ?, state = ? WHERE id = ?', [
      count + 10,
      JSON.stringify({ kinds: { action: [count, count * 400, count * 800] } }),
      account,
    ]),
  );
}

async function historyRow(rounds, requests) {
  const stores = [freshSqlite(), freshSqlite()];
  const [empty, full] = await Promise.all(stores.map((store) => store.open({ synchronous: 'normal' })));
  for (const db of [empty, full]) await createTree(db, ['leaf', 'other']);
  for (const account of ['leaf', 'other']) await fill(full, account, requests);
  const measure = (db) => () => timeEach(1000, () => pair(db, nextId()));
  await measure(empty)();
  await measure(full)();
  const times = await interleaved(rounds, measure(empty), measure(full));
  await Promise.all(stores.map((store) => store.remove()));
  const ratio = times.second / times.first;
  return row(`the same at ${requests} requests, as many of others`, {
    value: times.second,
    unit: 'us',
    baseline: times.first,
    ratio,
    target: '<= 1.1',
  });
}

async function promptRow(rounds) {
  const store = freshSqlite();
  const ledger = createLedger(await store.open());
  await ledger.migrate();
  await ledger.createAccount({ id: 'leaf' });
  const request = (bytes) => {
    const content = Object.freeze([Object.freeze({ type: 'text', text: 'word '.repeat(bytes / 5) })]);
    return {
      model: 'simulated:default',
      prompt: Object.freeze([Object.freeze({ role: 'user', content })]),
      settings: { maxOutputTokens: 100 },
    };
  };
  const measure = (asked) => () =>
    timeEach(300, async () => {
      const { tokens, costMicros } = ledger.estimateRequest(asked);
      await ledger.reserveRequest({
        id: nextId(),
        account: 'leaf',
        kind: 'action',
        model: asked.model,
        estimate: { tokens, costMicros },
      });
    });
  const [small, large] = [request(2048), request(512 * 1024)];
  await measure(small)();
  await measure(large)();
  const times = await interleaved(rounds, measure(small), measure(large));
  await store.remove();
  const ratio = times.second / times.first;
  return row('reserve with a prompt of 512 KiB, of 2 KiB', {
    value: times.second,
    unit: 'us',
    baseline: times.first,
    ratio,
    target: '<= 1.5',
  });
}

async function latencyRow() {
  const store = freshSqlite();
  const db = await store.open();
  await createTree(db);
  const times = [];
  let largestWal = 0;
  for (let index = 0; index < 4000; index += 1) {
    const start = performance.now();
    await pair(db, nextId());
    times.push((performance.now() - start) * 1000);
    if (index % 200 === 0) largestWal = Math.max(largestWal, statSync(`${store.location}-wal`).size);
  }
  await store.remove();
  const [middle, late] = [quantile(times, 0.5), quantile(times, 0.99)];
  const megabytes = largestWal / 1_048_576;
  return [
    row('latency of a pair, p99 to p50, FULL', {
      value: late,
      unit: 'us',
      baseline: middle,
      ratio: late / middle,
      target: '<= 4',
    }),
    row('write-ahead log', { value: megabytes, unit: 'MB', baseline: 64, ratio: megabytes, target: '<= 64' }),
  ];
}

async function writersRow() {
  const store = freshSqlite();
  const db = await store.open();
  await createTree(db);
  const written = await runChildren(
    'writer-child',
    ['a', 'b'].map((name) => [store.location, name, '4000']),
  );
  await store.remove();
  const counts = written.map(({ count }) => count);
  const sum = counts[0] + counts[1];
  const longest = Math.max(...written.map(({ longestMs }) => longestMs));
  return [
    row('two writers, share of the slower one', {
      value: Math.min(...counts),
      unit: 'writes',
      baseline: sum,
      ratio: Math.min(...counts) / sum,
      target: '>= 0.4',
    }),
    row('two writers, longest wait', { value: longest, unit: 'ms', baseline: 100, ratio: longest, target: '<= 100' }),
  ];
}

/**
 * Resident memory after each tenth of so many requests, in a process of its own: the largest of the second half to the largest of the first,
 * of which the first tenth is left out (the heap grows until its first full collection).
 */
async function memoryRow(requests) {
  const store = freshSqlite();
  const db = await store.open({ synchronous: 'normal' });
  await createTree(db);
  await db.close();
  const [megabytes] = await runChildren('memory-child', [[store.location, String(requests)]]);
  await store.remove();
  const early = Math.max(...megabytes.slice(1, 5));
  const late = Math.max(...megabytes.slice(5));
  return row(`memory over ${requests} requests`, {
    value: late,
    unit: 'MB',
    baseline: early,
    ratio: late / early,
    target: '<= 1.1',
  });
}

/** Runs a script of this folder once for each list of arguments, all at a time; answers what each says at its end. */
function runChildren(name, lists) {
  const script = fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
  const run = (words) =>
    new Promise((resolve, reject) => {
      const process = fork(script, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      let said;
      process.on('message', (message) => {
        said = message;
      });
      process.once('error', reject);
      process.once('close', (code) => (code === 0 ? resolve(said) : reject(new Error(`${name} ended with ${code}`))));
    });
  return Promise.all(lists.map(run));
}

/** The groups of figures, each of which can be asked for alone. */
export const sqliteGroups = {
  full: async ({ rounds }) => [...(await pairRows('full', '>= 0.85', rounds)), await newFileRow(rounds)],
  normal: ({ rounds }) => pairRows('normal', '>= 0.48', rounds),
  history: async ({ rounds, requests }) => [await historyRow(rounds, requests)],
  prompt: async ({ rounds }) => [await promptRow(rounds)],
  writers: () => writersRow(),
  latency: () => latencyRow(),
  memory: async ({ requests }) => [await memoryRow(requests)],
};
