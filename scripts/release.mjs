// @ts-check
/**
 * `node scripts/release.mjs [--dry-run]`: publishes every version that the registry does not have yet, and tags it `<name>@<version>`.
 * 1. Dependencies go first (pnpm packs in that order), and the first failure ends the run: nothing is published whose dependencies are not.
 * 2. What is there already is left alone, so a run that failed half way is run again to complete it.
 * 3. A tag is made when the registry has the version, also by a later run: tags are what was published.
 * Versions come from `changeset version`. Registry, token and provenance are npm's own settings.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkFiles, checkManifest, manifestOf } from './checks/tarballs.mjs';
import { packAll } from './pack.mjs';

/** @typedef {import('./pack.mjs').Packed & { manifest: Record<string, any> }} Release */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });

/** @param {string} command @param {string[]} words */
function call(command, ...words) {
  const { status, stdout, stderr, error } = spawnSync(command, words, { cwd: root, encoding: 'utf8' });
  if (error) throw error;
  return { well: status === 0, stdout, said: `${stdout}${stderr}`.trim() };
}

/** @param {string} id `<name>@<version>`; a registry that cannot be asked is not one that lacks the version */
function isPublished(id) {
  const { well, stdout, said } = call('npm', 'view', id, 'version', '--json', '--prefer-online');
  if (well) return stdout.trim() !== '';
  if (JSON.parse(stdout || '{}').error?.code === 'E404') return false;
  throw new Error(`The registry does not say whether it has ${id}:\n${said}`);
}

/** @param {string} id */
function tag(id) {
  if (call('git', 'rev-parse', '--verify', '--quiet', `refs/tags/${id}`).well) return;
  const { well, said } = call('git', 'tag', '--annotate', id, '--message', id);
  if (!well) throw new Error(`${id} is published and could not be tagged; run again once this is repaired:\n${said}`);
}

/** @param {Release} release @returns {boolean} false ends the run */
function publish({ name, version, tarball }) {
  const id = `${name}@${version}`;
  if (isPublished(id)) {
    console.log(`there already   ${id}`);
  } else if (values['dry-run']) {
    console.log(`would publish   ${id}`);
    return true;
  } else {
    const { well, said } = call('npm', 'publish', tarball, '--access', 'public');
    if (!well) {
      console.error(`not published   ${id}; nothing after it was tried, run again to go on:\n${said}`);
      return false;
    }
    console.log(`published       ${id}`);
  }
  if (!values['dry-run']) tag(id);
  return true;
}

const into = mkdtempSync(join(tmpdir(), 'stint-release-'));
try {
  const packed = await packAll(root, into);
  const releases = packed.map((one) => ({ ...one, manifest: manifestOf(one.tarball) }));
  const findings = releases.flatMap(({ name, manifest, files, folder }) =>
    [...checkManifest(root, manifest), ...checkFiles(files, folder)].map((finding) => `${name}: ${finding}`),
  );
  for (const finding of findings) console.error(finding);
  if (findings.length > 0 || !releases.every(publish)) process.exitCode = 1;
} finally {
  rmSync(into, { recursive: true, force: true });
}
