// The figures on SQLite, each beside a loop over better-sqlite3 that does the least of the same transactions on a file of the same settings.
import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { run } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import { createLedger } from '../dist/index.js';
import { interleaved, nextId, quantile, row, timeEach } from './measure.mjs';
import { recordPair } from './statements.mjs';
import { createTree, pair, reserve, settle, usage } from './workload.mjs';

const owner = '01930000-0000-7000-8000-000000000000';

/** One read by primary key, one insert, one update; then one read by primary key, two updates. */
function rawLoop(path, synchronous) {
  const raw = new Database(path);
  raw.pragma('journal_mode = WAL');
  raw.pragma(`synchronous = ${synchronous}`);
  raw.exec(`CREATE TABLE accounts (id TEXT PRIMARY KEY, tokens INTEGER, requests INTEGER);
    CREATE TABLE requests (id TEXT PRIMARY KEY, account TEXT, kind TEXT, model TEXT, tokens INTEGER, cost INTEGER, charged INTEGER,
      charged_cost INTEGER, status TEXT, owner TEXT, at INTEGER, usage TEXT);
    INSERT INTO accounts VALUES ('leaf', 0, 0)`);
  const statement = (sql) => raw.prepare(sql);
  const begin = statement('BEGIN IMMEDIATE');
  const commit = statement('COMMIT');
  const readAccount = statement('SELECT * FROM accounts WHERE id = ?');
  const insert = statement("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, NULL)");
  const addHold = statement('UPDATE accounts SET tokens = tokens + ?, requests = requests + 1 WHERE id = ?');
  const readRequest = statement('SELECT * FROM requests WHERE id = ?');
  const settleRequest = statement("UPDATE requests SET status = 'reported', charged = ?, usage = ? WHERE id = ?");
  const addCharge = statement('UPDATE accounts SET tokens = tokens + ? WHERE id = ?');
  return {
    pair(id) {
      begin.run();
      readAccount.get('leaf');
      insert.run(id, 'leaf', 'action', 'simulated:default', 400, 900, 400, 900, owner, Date.now());
      addHold.run(400, 'leaf');
      commit.run();
      begin.run();
      readRequest.get(id);
      settleRequest.run(400, JSON.stringify(usage), id);
      addCharge.run(0, 'leaf');
      commit.run();
    },
    close: () => raw.close(),
  };
}

/** The pair, and beside it what its statements take on the driver alone: the most that a faster ledger could reach. */
async function pairRows(synchronous, target, rounds) {
  const store = freshSqlite();
  const db = await store.open({ synchronous });
  await createTree(db);
  const raw = rawLoop(`${store.location}.raw`, synchronous);
  const statements = await recordPair(synchronous);
  const count = synchronous === 'full' ? 400 : 1500;
  const rawTime = () => timeEach(count, () => raw.pair(nextId()));
  const ledgerTime = () => timeEach(count, () => pair(db, nextId()));
  const driverTime = () => timeEach(count, () => statements.play());
  for (const warm of [rawTime, ledgerTime, driverTime]) await warm();
  const times = await interleaved(rounds, rawTime, ledgerTime);
  const alone = await interleaved(rounds, rawTime, driverTime);
  raw.close();
  await Promise.all([statements.close(), store.remove()]);
  const name = `reserve + settle, SQLite ${synchronous.toUpperCase()}`;
  const figures = ({ first, second }) => ({ value: second, unit: 'us', baseline: first, ratio: first / second });
  return [
    row(name, { ...figures(times), target }),
    row(`${name}, its statements on the driver alone`, { ...figures(alone), target: '>= 0 (for comparison)' }),
  ];
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
  const child = fileURLToPath(new URL('./writer-child.mjs', import.meta.url));
  const written = await Promise.all(
    ['a', 'b'].map(
      (name) =>
        new Promise((resolve, reject) => {
          const process = fork(child, [store.location, name, '4000'], {
            stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
          });
          process.once('message', resolve);
          process.once('error', reject);
        }),
    ),
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

async function memoryRow(pairs) {
  const store = freshSqlite();
  const db = await store.open({ synchronous: 'normal' });
  await createTree(db);
  const used = () => {
    globalThis.gc?.();
    return process.memoryUsage().rss / 1_048_576;
  };
  await timeEach(pairs / 10, () => pair(db, nextId()));
  const early = used();
  await timeEach(pairs, async () => {
    const id = nextId();
    await reserve(db, id);
    await settle(db, id);
  });
  const late = used();
  await store.remove();
  return row(`memory after ${pairs} more pairs`, {
    value: late,
    unit: 'MB',
    baseline: early,
    ratio: late / early,
    target: '<= 1.25',
  });
}

export async function sqliteRows({ rounds, requests, pairs }) {
  return [
    ...(await pairRows('full', '>= 0.85', rounds)),
    ...(await pairRows('normal', '>= 0.48', rounds)),
    await historyRow(rounds, requests),
    await promptRow(rounds),
    ...(await writersRow()),
    ...(await latencyRow()),
    await memoryRow(pairs),
  ];
}
