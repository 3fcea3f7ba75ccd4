// @ts-check
/** All checks that need no test run, in one go; every finding is printed, and one finding is enough to fail. `check.mjs floors` runs one. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkArchitecture } from './checks/architecture.mjs';
import { checkChangesets } from './checks/changesets.mjs';
import { checkFloors } from './checks/floors.mjs';
import { checkPromises } from './checks/promises.mjs';
import { checkReadmes } from './checks/readmes.mjs';
import { checkTarballs } from './checks/tarballs.mjs';
import { script, tool } from './checks/tool.mjs';
import { checkUnused } from './checks/unused.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @type {Record<string, { says: string, find: () => string[] | Promise<string[]> }>} */
const checks = {
  format: { says: 'format (biome)', find: () => tool(root, 'biome', ['format', '.']) },
  lint: {
    says: 'lint, promises left floating included (oxlint)',
    find: () => tool(root, 'oxlint', ['--type-aware', '--deny-warnings', '.']),
  },
  types: {
    says: 'types of the scripts and of the whole-product tests (the build checks those of the packages)',
    find: async () => [...(await tool(root, 'tsc', ['-p', 'scripts'])), ...(await tool(root, 'tsc', ['-p', 'e2e']))],
  },
  floors: { says: 'imports only go down, no circles', find: () => checkFloors(root) },
  unused: { says: 'no unused files, exports and dependencies (knip)', find: () => checkUnused(root) },
  tarballs: { says: 'what would be published (publint, types of every export)', find: () => checkTarballs(root) },
  contracts: {
    says: 'the committed schemas of the wire are those of the code',
    find: () => script(root, 'packages/contracts/scripts/schemas.mjs', 'check'),
  },
  readmes: { says: 'README examples compile', find: () => checkReadmes(root) },
  architecture: { says: 'ARCHITECTURE.md names what exists', find: () => checkArchitecture(root) },
  promises: { says: 'what breaks each promise still applies', find: () => checkPromises(root) },
  changesets: { says: 'every new package has a changeset', find: () => checkChangesets(root) },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`check: no check "${unknown.join('", "')}"; known: ${Object.keys(checks).join(', ')}`);
  process.exit(2);
}

/** A check that cannot do its work has found something too. @param {() => string[] | Promise<string[]>} find */
async function findingsOf(find) {
  try {
    return await find();
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

const failed = [];
for (const [name, { says, find }] of Object.entries(checks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const began = Date.now();
  if (process.stdout.isTTY) process.stdout.write(`...  ${name.padEnd(12)} ${says}\r`);
  const found = await findingsOf(find);
  if (found.length > 0) failed.push(name);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  console.log(`${found.length === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(12)} ${says} (${seconds} s)`);
  for (const finding of found) console.log(finding.replace(/^/gm, '     '));
}
if (failed.length > 0) {
  console.error(`check: ${failed.join(', ')} failed; run one alone with: node scripts/check.mjs ${failed[0]}`);
  process.exit(1);
}
