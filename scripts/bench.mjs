// @ts-check
/** `npm run bench -- ledger [--rounds N] [--json]`: runs packages/<name>/bench/bench.mjs, baseline included, and prints a table or one JSON document. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** @typedef {{ name: string, unit: string, target: string }} Named */
/** `met` is null where a figure is told without a target. @typedef {Named & { value: number, baseline: number, ratio: number, met: boolean | null, notMeasured?: undefined }} Measured */
/** What the row needs could not be had; it counts neither as met nor as missed. @typedef {Named & { met: null, notMeasured: string }} NotMeasured */
/** @typedef {Measured | NotMeasured} Row */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' }, json: { type: 'boolean', default: false } },
});
const place = (/** @type {string} */ name) => join(root, 'packages', name, 'bench/bench.mjs');
const known = readdirSync(join(root, 'packages')).filter((name) => existsSync(place(name)));
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`bench: no benchmark "${unknown.join('", "')}"; known: ${known.join(', ') || 'none'}`);
  process.exit(2);
}

/** @param {Row[]} rows */
function table(rows) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows
    .map((row) => `${verdict(row)} ${row.name.padEnd(width)} ${figures(row)}  target ${row.target}`)
    .join('\n');
}

/** @param {Row} row */
function verdict({ met, notMeasured }) {
  if (notMeasured !== undefined) return 'NONE';
  if (met === null) return 'told';
  return met ? 'met ' : 'MISS';
}

/** @param {Row} row */
function figures(row) {
  if (row.notMeasured !== undefined) return `not measured: ${row.notMeasured}`;
  const figure = (/** @type {number} */ value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3)).padStart(9);
  return `${figure(row.value)} ${row.unit.padEnd(8)} baseline ${figure(row.baseline)}  ratio ${row.ratio.toFixed(2)}`;
}

let missed = false;
for (const name of positionals.length > 0 ? positionals : known) {
  /** @type {{ bench: string, rows: Row[] }} */
  const result = await (await import(pathToFileURL(place(name)).href)).bench({ rounds: Number(values.rounds) });
  missed ||= result.rows.some(({ met }) => met === false);
  console.log(values.json ? JSON.stringify(result) : `\n${name}\n${table(result.rows)}`);
}
if (missed) process.exitCode = 1;
