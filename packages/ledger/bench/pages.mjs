// Pages that a pair of reserve and settle writes to the log, of the ledger and of the raw loop: fewer pairs than lead to a checkpoint.
//   node bench/pages.mjs
import { statSync } from 'node:fs';
import { freshSqlite } from '@stint/storage/testing';
import { nextId } from './measure.mjs';
import { rawLoop } from './raw-loop.mjs';
import { createTree, pair } from './workload.mjs';

/** A page of 4096 bytes and its head in the log. */
const frameBytes = 4096 + 24;
const pairs = 150;

async function pagesOf(path, call) {
  const log = () => statSync(`${path}-wal`).size;
  const before = log();
  for (let index = 0; index < pairs; index += 1) await call();
  return (log() - before) / frameBytes / pairs;
}

const store = freshSqlite();
const db = await store.open({ synchronous: 'normal' });
await createTree(db);
const rawPath = `${store.location}.raw`;
const raw = rawLoop(rawPath, 'normal');
console.log('ledger  ', (await pagesOf(store.location, () => pair(db, nextId()))).toFixed(2), 'pages a pair');
console.log('raw loop', (await pagesOf(rawPath, () => raw.pair(nextId()))).toFixed(2), 'pages a pair');
raw.close();
await store.remove();
