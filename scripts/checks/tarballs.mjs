// @ts-check
/**
 * What would be published, looked at as packed: the manifest can be installed elsewhere, the files are built ones and no more,
 * and every export has its code and its types.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packAll } from '../pack.mjs';
import { mapParallel, tool } from './tool.mjs';
import { workspacePackages } from './workspace.mjs';

const installedWith = /** @type {const} */ (['dependencies', 'peerDependencies', 'optionalDependencies']);
const inTestsOnly = /\.(test|spec|fixture)\.|(^|\/)(test|tests|fixtures|__tests__|test-support)[./]/;

/** @param {string} root @returns {Promise<string[]>} findings */
export async function checkTarballs(root) {
  const into = mkdtempSync(join(tmpdir(), 'stint-packed-'));
  try {
    const packed = await packAll(root, into);
    const findings = await mapParallel(packed, 2, async (one) => [
      ...checkManifest(root, manifestOf(one.tarball)),
      ...checkFiles(one.files, one.folder),
      ...(await lintExports(one.tarball)),
      ...(await tool(root, 'attw', [one.tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'])),
    ]);
    return packed.flatMap(({ name }, index) => (findings[index] ?? []).map((finding) => `${name}: ${finding}`));
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}

/** @param {string} tarball */
export function manifestOf(tarball) {
  const { stdout, stderr, status } = spawnSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${tarball} cannot be read: ${stderr}`);
  return JSON.parse(stdout);
}

/** @param {string} root @param {Record<string, any>} manifest as packed @returns {string[]} findings */
export function checkManifest(root, manifest) {
  const siblings = new Map(workspacePackages(root).map(({ name, manifest: own }) => [name, own]));
  return installedWith.flatMap((field) =>
    Object.entries(manifest[field] ?? {}).flatMap(([name, range]) => {
      const sibling = siblings.get(name);
      if (/^(workspace|catalog|link|file|portal):/.test(range))
        return [`${field} holds "${name}": "${range}", which cannot be installed outside of this workspace`];
      if (sibling?.private) return [`${field} holds "${name}", which is private and never published`];
      if (sibling && field === 'peerDependencies')
        return [`"${name}" is a peer: each of its minor versions would be a major one here; make it a dependency`];
      return [];
    }),
  );
}

/** @param {readonly string[]} files in the tarball, from the package's folder @param {string} folder @returns {string[]} findings */
export function checkFiles(files, folder) {
  const missing = ['README.md', 'LICENSE', 'package.json'].filter((name) => !files.includes(name));
  return [
    ...missing.map((name) => `${name} is not in the tarball`),
    ...files.filter((file) => inTestsOnly.test(file)).map((file) => `${file} is there for tests only`),
    ...files.filter((file) => /(?<!\.d)\.tsx?$/.test(file)).map((file) => `${file} is a source, not what was built`),
    ...files
      .filter((file) => isStale(file, folder))
      .map((file) => `${file} was built from a source that is gone; remove dist and build again`),
  ];
}

/** @param {string} file @param {string} folder */
function isStale(file, folder) {
  const [, path] = /^dist\/(.+?)(?:\.d\.ts|\.js)$/.exec(file) ?? [];
  if (path === undefined || path.startsWith('page/')) return false;
  return !['.ts', '.tsx'].some((ending) => existsSync(join(folder, 'src', path + ending)));
}

/** @param {string} tarball */
async function lintExports(tarball) {
  const { buffer, byteOffset, byteLength } = readFileSync(tarball);
  const bytes = /** @type {ArrayBuffer} */ (buffer.slice(byteOffset, byteOffset + byteLength));
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, level: 'warning' });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}
