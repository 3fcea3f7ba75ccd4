// @ts-check
/** `node scripts/pack.mjs <folder>`: packs every published package into that folder, as publishing would, and prints what it made as JSON. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { publishedPackages } from './checks/workspace.mjs';

/** @typedef {{ name: string, version: string, tarball: string, files: string[], folder: string }} Packed */

/**
 * Packs with the pinned pnpm, which turns `workspace:` and `catalog:` into versions. Needs no registry once that pnpm is cached.
 * @param {string} root @param {string} into a folder, made when absent
 * @returns {Promise<Packed[]>} each after those that it depends on
 */
export async function packAll(root, into) {
  const packages = publishedPackages(root);
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(into, { recursive: true });
  const filters = packages.flatMap(({ name }) => ['--filter', name]);
  const words = [
    '--yes',
    packageManager,
    '--recursive',
    ...filters,
    'pack',
    '--pack-destination',
    resolve(into),
    '--json',
  ];
  const printed = JSON.parse(await outputOf('npx', words, root));
  return (Array.isArray(printed) ? printed : [printed]).map((/** @type {any} */ one) => ({
    name: one.name,
    version: one.version,
    tarball: resolve(into, one.filename),
    files: one.files.map((/** @type {{ path: string }} */ file) => file.path),
    folder: packages.find(({ name }) => name === one.name)?.folder ?? '',
  }));
}

/** @param {string} command @param {string[]} parameters @param {string} cwd @returns {Promise<string>} */
function outputOf(command, parameters, cwd) {
  return new Promise((done, refuse) => {
    const child = spawn(command, parameters, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
    child.once('error', refuse);
    child.once('close', (code) =>
      code === 0
        ? done(output)
        : refuse(new Error(`${command} ${parameters.join(' ')} failed (${code}):\n${errors}${output}`)),
    );
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = process.argv[2];
  if (folder === undefined) {
    console.error('pack: say where to: node scripts/pack.mjs <folder>');
    process.exit(2);
  }
  console.log(JSON.stringify(await packAll(dirname(dirname(fileURLToPath(import.meta.url))), folder), null, 2));
}
