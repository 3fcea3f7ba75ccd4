// The figures on Postgres, each beside a plain `pg` client that runs the same statements with the same round trips.
import pg from 'pg';
import { freshPostgres, startPostgres } from '@stint/storage/testing';
import { interleaved, nextId, row } from './measure.mjs';
import { createTree, reserve } from './workload.mjs';

// The texts that the port and the ledger send, a round trip each.
const begin =
  'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';
const selectChain = `SELECT a.id, a.parent, a.depth, a.status, a.limits, a.accounting, a.stop_reason, a.revision, a.data_revision, a.state,
  a.head, a.entry_count FROM ledger_paths p JOIN ledger_accounts a ON a.id = p.ancestor
  WHERE p.account = $1 ORDER BY p.depth FOR NO KEY UPDATE OF a`;
const insertRequest = `INSERT INTO ledger_requests (id, account, kind, run, run_ordinal, driver, subject, retry_of, model, price_version,
  estimate_tokens, estimate_cost, charged_tokens, charged_cost, status, unpriced, owner, reserved_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'reserved', $15, $16, $17) ON CONFLICT DO NOTHING`;
const insertEntry = `INSERT INTO ledger_entries (account, seq, revision, at, type, request, kind, delta, actor, details, hash)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
const updateAccounts = `UPDATE ledger_accounts SET state = CASE id WHEN $1 THEN $2 WHEN $3 THEN $4 WHEN $5 THEN $6 END,
  data_revision = CASE id WHEN $1 THEN CAST($7 AS BIGINT) WHEN $3 THEN CAST($7 AS BIGINT) WHEN $5 THEN CAST($7 AS BIGINT) END,
  head = CASE id WHEN $5 THEN $8 ELSE head END, entry_count = CASE id WHEN $5 THEN entry_count ELSE entry_count END
  WHERE id IN ($1, $3, $5)`;
const owner = '01930000-0000-7000-8000-000000000000';
const state = '{"kinds":{"action":[1000,400000,900000,400000,900000,1000]}}';
const hash = 'h'.repeat(43);
let lastSeq = 1_000_000_000;

async function plainReserve(client, account) {
  lastSeq += 1;
  const [id, seq, now] = [nextId(), lastSeq, Date.now()];
  const query = (name, text, values) => client.query({ name, text, values });
  await client.query(begin);
  await query('chain', selectChain, [account]);
  await query('request', insertRequest, [
    id,
    account,
    'action',
    null,
    null,
    null,
    null,
    null,
    'simulated:default',
    '1',
    400,
    900,
    400,
    900,
    0,
    owner,
    now,
  ]);
  await query('entry', insertEntry, [
    account,
    seq,
    seq,
    now,
    'reserved',
    id,
    'action',
    '[1,400,900,400,900,1]',
    null,
    null,
    hash,
  ]);
  await query('accounts', updateAccounts, ['root', state, 'middle', state, account, state, seq, hash]);
  await client.query('COMMIT');
}

/** Requests a second of so many clients, each calling one after the other. */
async function rate(clients, each, call) {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let index = 0; index < each; index += 1) await call(client, index);
    }),
  );
  return (clients * each * 1000) / (performance.now() - start);
}

async function reserveRow(server, { clients, accounts, rounds }) {
  const store = await freshPostgres(server.url);
  const db = await store.open({ connections: clients });
  const leaves = Array.from({ length: accounts }, (_, index) => `leaf${index}`);
  await createTree(db, leaves);
  const pool = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new pg.Client({ connectionString: store.location });
      await client.connect();
      return client;
    }),
  );
  const each = clients === 1 ? 300 : 60;
  const accountOf = (client, index) => leaves[(client * 7 + index) % accounts];
  const plain = () => rate(clients, each, (client, index) => plainReserve(pool[client], accountOf(client, index)));
  const ours = () => rate(clients, each, (client, index) => reserve(db, nextId(), accountOf(client, index)));
  await ours();
  await plain();
  // What the plain client wrote is no journal; the ledger never reads it back, so both may share the tables.
  const rates = await interleaved(rounds, plain, ours);
  await Promise.all(pool.map((client) => client.end()));
  await store.remove();
  const name = `reserve, Postgres, ${clients} client${clients === 1 ? '' : 's'}, ${accounts === 1 ? 'hot account' : `${accounts} accounts`}`;
  return row(name, {
    value: rates.second,
    unit: '/s',
    baseline: rates.first,
    ratio: rates.second / rates.first,
    target: '>= 0.85',
  });
}

export async function postgresRows({ rounds }) {
  const server = await startPostgres({ fsync: true });
  try {
    const rows = [];
    for (const clients of [1, 16]) {
      for (const accounts of [1, 100]) rows.push(await reserveRow(server, { clients, accounts, rounds }));
    }
    return rows;
  } finally {
    await server.stop();
  }
}
