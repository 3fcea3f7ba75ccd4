// better-sqlite3 alone, on a file of the same settings as a store has.
import Database from 'better-sqlite3';
import { usage } from './workload.mjs';

const owner = '01930000-0000-7000-8000-000000000000';
/** What the store sets. The rounds before the first one that counts make the log as long as it becomes, which a store does at once. */
const checkpointPages = 2000;

/** Opens a file with the settings of a store. */
export function openDriver(path, synchronous) {
  const driver = new Database(path);
  driver.pragma('journal_mode = WAL');
  driver.pragma(`synchronous = ${synchronous}`);
  driver.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  driver.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
  return driver;
}

/**
 * The least that the two transactions of a pair can be. Reserve: one read by primary key, one insert, one update; settle: one read by primary
 * key, two updates. The settlement differs from its hold, as one does, so that its update of the account is one: SQLite writes no page for an
 * update that changes nothing.
 */
export function rawLoop(path, synchronous) {
  const raw = openDriver(path, synchronous);
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
      settleRequest.run(usage.totalTokens, JSON.stringify(usage), id);
      addCharge.run(usage.totalTokens - 400, 'leaf');
      commit.run();
    },
    close: () => raw.close(),
  };
}
