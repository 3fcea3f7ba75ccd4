// @ts-check
/**
 * Breaks each promise and expects the test it names to fail.
 *
 * promises.json lists mutations: { id, promise, breaks, file, find, replace, test: { project, file, name } }. Each is applied to a copy of the tree,
 * the copy is compiled, and the named test must then fail by an assertion or an error of its own; a mutation that no longer applies, that does not
 * compile, or that the test survives is a finding. `--only <id>,<id>` tries those, `--sample <n>` a random few (the seed is printed; `--seed` repeats it).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** @typedef {{ id: string, promise: number, breaks: string, file: string, find: string, replace: string, test: { project: string, file: string, name: string } }} Mutation */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: { only: { type: 'string' }, sample: { type: 'string' }, seed: { type: 'string' } },
});

/** @returns {Mutation[]} */
function chosen() {
  /** @type {Mutation[]} */
  const all = JSON.parse(readFileSync(join(root, 'promises.json'), 'utf8')).mutations;
  if (values.only) return all.filter(({ id }) => values.only?.split(',').includes(id));
  if (!values.sample) return all;
  const seed = Number(values.seed ?? Date.now() % 100_000);
  console.log(`seed ${seed}`);
  return [...all].sort((a, b) => rank(a.id, seed) - rank(b.id, seed)).slice(0, Number(values.sample));
}

/** A small stable hash, so that a seed picks the same few again. @param {string} text @param {number} seed */
function rank(text, seed) {
  return Buffer.from(text).reduce((sum, byte) => Math.imul(sum ^ byte, 16_777_619) >>> 0, seed >>> 0);
}

/** The tracked files and what was built of them; libraries stay where they are and are linked. */
function copyTree() {
  const copy = mkdtempSync(join(tmpdir(), 'stint-promises-'));
  const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\0');
  for (const path of tracked.filter((one) => one && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const folder of workspaceFolders(tracked)) {
    for (const part of ['dist', 'dist-types', 'node_modules']) {
      if (existsSync(join(root, folder, part)))
        cpSync(join(root, folder, part), join(copy, folder, part), { recursive: true, verbatimSymlinks: true });
    }
  }
  return copy;
}

/** @param {string[]} tracked */
function workspaceFolders(tracked) {
  return tracked
    .filter((path) => /^(packages|apps)\/[^/]+\/package\.json$|^e2e\/package\.json$/.test(path))
    .map((path) => dirname(path));
}

/** @param {string} copy @param {string} file compiles the package that holds the file, and what depends on it */
function compile(copy, file) {
  const result = spawnSync(join(copy, 'node_modules/.bin/tsc'), ['-b'], { cwd: copy, encoding: 'utf8' });
  return result.status === 0 ? undefined : `does not compile after the change in ${file}:\n${result.stdout}`;
}

/** @param {string} copy @param {Mutation['test']} test @returns {'passed' | 'failed' | 'absent'} */
function runTest(copy, test) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const words = [
    'run',
    '--project',
    test.project,
    test.file,
    '-t',
    escapePattern(test.name),
    '--reporter',
    'json',
    '--outputFile',
    report,
  ];
  spawnSync(join(copy, 'node_modules/.bin/vitest'), words, { cwd: copy, encoding: 'utf8' });
  if (!existsSync(report)) return 'absent';
  const results = JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap(
    (/** @type {any} */ file) => file.assertionResults,
  );
  const named = results.filter(
    (/** @type {any} */ one) => one.status !== 'skipped' && one.fullName.includes(test.name),
  );
  if (named.length === 0) return 'absent';
  return named.some((/** @type {any} */ one) => one.status === 'failed') ? 'failed' : 'passed';
}

/** @param {string} text */
function escapePattern(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** @param {string} copy @param {Mutation} mutation @returns {string | undefined} what is wrong */
function tryMutation(copy, { file, find, replace, test }) {
  const path = join(copy, file);
  const before = readFileSync(path, 'utf8');
  if (before.split(find).length !== 2)
    return `the text to change stands ${before.split(find).length - 1} times in ${file}; it must stand there once: ${find}`;
  const sound = runTest(copy, test);
  if (sound !== 'passed') return `before the change the test is ${sound}, it must pass: ${test.file} "${test.name}"`;
  writeFileSync(
    path,
    before.replace(find, () => replace),
  );
  try {
    const broken = compile(copy, file);
    if (broken) return broken;
    const result = runTest(copy, test);
    return result === 'failed'
      ? undefined
      : `the test "${test.name}" ${result === 'passed' ? 'still passes' : 'did not run'} with the promise broken`;
  } finally {
    writeFileSync(path, before);
    compile(copy, file);
  }
}

const copy = copyTree();
let failed = 0;
let passed = 0;
try {
  for (const mutation of chosen()) {
    const problem = tryMutation(copy, mutation);
    if (problem) failed += 1;
    else passed += 1;
    console.log(
      `${problem ? 'FAIL' : 'ok  '} promise ${mutation.promise} ${mutation.id}: ${mutation.breaks}${problem ? `\n     ${problem}` : ''}`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exit(1);
