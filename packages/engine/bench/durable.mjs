// @ts-check
/** The durable turn on SQLite: beside a loop by hand with the same commits, and whether a long run's costs more than a short one's. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newWork } from '../../../bench/peers/work.mjs';
import { open } from './durable-run.mjs';
import { judged, microseconds, sideBySide } from './measure.mjs';

const Sqlite = createRequire(new URL('../../storage/package.json', import.meta.url))('better-sqlite3');

/** Turns a second of durable runs, one after the other in a new store. @param {string} folder @param {number} turns @param {number} runs */
async function ours(folder, turns, runs) {
  const side = await open({ folder });
  const us = await microseconds(async () => {
    for (let run = 0; run < runs; run += 1) {
      const work = newWork(turns);
      work.check(await side.run(work));
    }
  });
  await side.close();
  return (turns * runs) / (us / 1e6);
}

/** A loop by hand with the same commits: one for start, answer, begin and end of the tool, each with the least it can write. @param {number} turns @param {string} folder */
async function byHand(turns, folder) {
  const db = new Sqlite(join(folder, `${crypto.randomUUID()}.db`));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE TABLE account (id TEXT PRIMARY KEY, held INTEGER); INSERT INTO account VALUES ('bench', 0);
    CREATE TABLE request (id TEXT PRIMARY KEY, status TEXT, tokens INTEGER);
    CREATE TABLE turn (id TEXT PRIMARY KEY, status TEXT, request TEXT, response TEXT);
    CREATE TABLE operation (id TEXT PRIMARY KEY, status TEXT, result TEXT)`);
  const hold = db.prepare('UPDATE account SET held = held + ? WHERE id = ?');
  const insertRequest = db.prepare("INSERT INTO request VALUES (?, 'reserved', ?)");
  const settle = db.prepare("UPDATE request SET status = 'reported', tokens = ? WHERE id = ?");
  const insertTurnRow = db.prepare("INSERT INTO turn VALUES (?, 'dispatching', ?, NULL)");
  const answer = db.prepare("UPDATE turn SET status = 'responded', response = ? WHERE id = ?");
  const begin = db.prepare("INSERT INTO operation VALUES (?, 'running', NULL)");
  const end = db.prepare("UPDATE operation SET status = 'applied', result = ? WHERE id = ?");
  const start = db.transaction((/** @type {string} */ id) => [
    hold.run(100, 'bench'),
    insertRequest.run(id, 100),
    insertTurnRow.run(id, 'request'),
  ]);
  const finish = db.transaction((/** @type {string} */ id, /** @type {string} */ text) => [
    hold.run(-85, 'bench'),
    settle.run(15, id),
    answer.run(text, id),
  ]);
  const work = newWork(turns);
  const us = await microseconds(async () => {
    for (;;) {
      const id = crypto.randomUUID();
      start(id);
      const { call, text = '' } = work.next();
      finish(id, JSON.stringify(call ?? text));
      if (!call) return work.check(text);
      begin.run(`${id}/0`);
      end.run(String(work.add(call.input)), `${id}/0`);
    }
  });
  db.close();
  return turns / (us / 1e6);
}

/** @param {number} rounds */
export async function durableRows(rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-'));
  const engine = (/** @type {number} */ turns, /** @type {number} */ runs) => () => ours(folder, turns, runs);
  try {
    const hand = await sideBySide(rounds, engine(200, 1), () => byHand(200, folder));
    const flat = await sideBySide(rounds, engine(400, 1), engine(20, 10));
    return [
      judged('durable turn, 200 turns, against a loop by hand', '1/s', hand, '>= 0.7'),
      judged('durable turn, 400 turns, against 20 turns', '1/s', flat, '>= 0.8'),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
