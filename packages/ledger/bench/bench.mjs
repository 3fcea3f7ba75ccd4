// `npm run bench -- ledger`: every figure with its baseline in the same run, medians of interleaved rounds.
//   node bench/bench.mjs [--rounds 7] [--only full,normal,history,prompt,writers,latency,memory,postgres] [--requests 1000000]
//   runs some of the groups alone
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { postgresRows } from './postgres-rows.mjs';
import { sqliteGroups } from './sqlite-rows.mjs';

const groups = { ...sqliteGroups, postgres: postgresRows };

/**
 * @param {{ rounds: number, requests?: number, only?: readonly string[] }} options
 * @returns {Promise<{ bench: 'ledger', rows: { name: string, value: number, unit: string, baseline: number, ratio: number, target: string, met: boolean }[] }>}
 */
export async function bench({ rounds, requests = 1_000_000, only = Object.keys(groups) }) {
  const rows = [];
  for (const name of only) {
    if (groups[name] === undefined) throw new Error(`no group "${name}"; known: ${Object.keys(groups).join(', ')}`);
    rows.push(...(await groups[name]({ rounds, requests })));
  }
  return { bench: 'ledger', rows };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { rounds: { type: 'string', default: '7' }, only: { type: 'string' }, requests: { type: 'string' } };
  const { rounds, only, requests } = parseArgs({ options }).values;
  for (const name of only?.split(',') ?? Object.keys(groups)) {
    const began = performance.now();
    const asked = {
      rounds: Number(rounds),
      only: [name],
      ...(requests === undefined ? {} : { requests: Number(requests) }),
    };
    for (const row of (await bench(asked)).rows)
      console.log(
        `${row.met ? 'met ' : 'MISS'} ${row.name.padEnd(72)} ${row.value.toFixed(1).padStart(8)} ${row.unit.padEnd(6)} baseline ${row.baseline.toFixed(1).padStart(8)}  ratio ${row.ratio.toFixed(3)}  target ${row.target}`,
      );
    console.log(`     ${name}: ${Math.round((performance.now() - began) / 1000)} s`);
  }
}
