// @ts-check
/** All checks that need no test run, in one go; every finding is printed, and one finding is enough to fail. `check.mjs floors` runs one. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkArchitecture } from './checks/architecture.mjs';
import { checkChangesets, publishedPackages } from './checks/changesets.mjs';
import { checkFloors } from './checks/floors.mjs';
import { checkReadmes } from './checks/readmes.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a tool of node_modules/.bin; what it printed is the finding. @param {string} command @param {string[]} parameters @param {string} [cwd] */
function tool(command, parameters, cwd = root) {
  const result = spawnSync(join(root, 'node_modules/.bin', command), parameters, { cwd, encoding: 'utf8' });
  if (result.error) return [result.error.message];
  return result.status === 0 ? [] : [`${result.stdout}${result.stderr}`.trim()];
}

const everyPackage = (/** @type {(entry: { folder: string, name: string }) => string[]} */ check) =>
  publishedPackages(root).flatMap((entry) => check(entry).map((finding) => `${entry.name}: ${finding}`));

/** @type {Record<string, { says: string, find: () => string[] }>} */
const checks = {
  format: { says: 'format (biome)', find: () => tool('biome', ['format', '.']) },
  lint: {
    says: 'lint, promises left floating included (oxlint)',
    find: () => tool('oxlint', ['--type-aware', '--deny-warnings', '.']),
  },
  scripts: { says: 'types of the scripts', find: () => tool('tsc', ['-p', 'scripts']) },
  floors: { says: 'imports only go down, no circles', find: () => checkFloors(root) },
  unused: { says: 'unused files, exports and dependencies (knip)', find: () => tool('knip', ['--no-progress']) },
  packages: {
    says: 'what would be published (publint, types of every export)',
    find: () =>
      everyPackage(({ folder }) => [
        ...tool('publint', ['--pack', 'npm', '--strict'], folder),
        ...tool('attw', ['--pack', '.', '--profile', 'esm-only'], folder),
      ]),
  },
  contracts: {
    says: 'committed schemas of the wire',
    find: () => script('packages/contracts/scripts/check-schemas.mjs'),
  },
  readmes: { says: 'README examples compile', find: () => checkReadmes(root) },
  architecture: { says: 'ARCHITECTURE.md names what exists', find: () => checkArchitecture(root) },
  changesets: { says: 'every new package has a changeset', find: () => checkChangesets(root) },
};

/** @param {string} path */
function script(path) {
  const result = spawnSync(process.execPath, [path], { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? [] : [`${result.stdout}${result.stderr}`.trim()];
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`check: no check "${unknown.join('", "')}"; known: ${Object.keys(checks).join(', ')}`);
  process.exit(2);
}
let findings = 0;
for (const [name, { says, find }] of Object.entries(checks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const began = Date.now();
  const found = find();
  findings += found.length;
  console.log(
    `${found.length === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(13)} ${says} (${((Date.now() - began) / 1000).toFixed(1)} s)`,
  );
  for (const finding of found) console.log(finding.replace(/^/gm, '     '));
}
if (findings > 0) process.exit(1);
