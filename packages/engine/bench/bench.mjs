// @ts-check
/**
 * `npm run bench -- engine`: cost of the loop, its stream and its durable turn, each beside its baseline in the same run.
 *   node bench/bench.mjs [--rounds 7] [--only loop,stream,durable,peers]   runs some of the groups alone
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { durableRows } from './durable.mjs';
import { loopRows } from './loop.mjs';
import { peerRows } from './peers.mjs';
import { streamRows } from './stream.mjs';

const groups = { loop: loopRows, stream: streamRows, durable: durableRows, peers: peerRows };
const names = /** @type {(keyof typeof groups)[]} */ (Object.keys(groups));

/**
 * @param {{ rounds: number, only?: readonly (keyof typeof groups)[] }} options
 * @returns {Promise<{ bench: string, rows: import('./measure.mjs').Row[] }>}
 */
export async function bench({ rounds, only = names }) {
  const rows = [];
  for (const name of only) rows.push(...(await groups[name](rounds)));
  return { bench: 'engine', rows };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = /** @type {const} */ ({ rounds: { type: 'string', default: '7' }, only: { type: 'string' } });
  const { rounds, only } = parseArgs({ options }).values;
  const wanted = only?.split(',') ?? names;
  const unknown = wanted.filter((name) => !Object.hasOwn(groups, name));
  if (unknown.length > 0) throw new Error(`no group "${unknown.join('", "')}"; known: ${names.join(', ')}`);
  for (const name of /** @type {typeof names} */ (wanted))
    console.table((await bench({ rounds: Number(rounds), only: [name] })).rows);
}
