// @ts-check
/** `npm run bench -- ledger [--rounds N] [--json]`: runs packages/<name>/bench/bench.mjs, baseline included, and prints a table or one JSON document. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { table } from './bench-table.mjs';

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

let missed = false;
for (const name of positionals.length > 0 ? positionals : known) {
  /** @type {{ bench: string, rows: import('./bench-table.mjs').Row[] }} */
  const result = await (await import(pathToFileURL(place(name)).href)).bench({ rounds: Number(values.rounds) });
  missed ||= result.rows.some(({ met }) => met === false);
  console.log(values.json ? JSON.stringify(result) : `\n${name}\n${table(result.rows)}`);
}
if (missed) process.exitCode = 1;
