// @ts-check
/**
 * What `npm start`, `npm test` and the other npm scripts run. Needs Node, npm and git only: it brings the pinned pnpm along through npx,
 * says what it is doing while it does it, and leaves with the code of the step that failed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pnpm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager;
const [task = '', ...args] = process.argv.slice(2);

/** Node's own headers, where the installation carries them, so that compiling the SQLite driver downloads nothing. */
function headersEnvironment() {
  const prefix = dirname(dirname(process.execPath));
  const known = process.env['npm_config_nodedir'] !== undefined || !existsSync(join(prefix, 'include/node/node.h'));
  return known ? {} : { npm_config_nodedir: prefix };
}

/** @param {string} saying @param {string} command @param {string[]} parameters */
function step(saying, command, parameters) {
  console.error(`\n> ${saying}`);
  const began = Date.now();
  const { status, error } = spawnSync(command, parameters, {
    cwd: root,
    stdio: 'inherit',
    env: { TURBO_TELEMETRY_DISABLED: '1', ...process.env, ...headersEnvironment() },
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
  console.error(`  (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}

const npx = (/** @type {string[]} */ ...words) => ['--yes', pnpm, ...words];
const install = () =>
  step(
    'installing packages (the first time compiles the SQLite driver, about a minute)',
    'npx',
    npx('install', '--frozen-lockfile'),
  );
const build = () => step('building all packages and the page', 'npx', npx('run', 'build'));
const node = (/** @type {string} */ saying, /** @type {string[]} */ ...words) => step(saying, process.execPath, words);

const tasks = {
  start: async () => {
    install();
    build();
    console.error('\n> starting stint local');
    process.argv = [process.execPath, join(root, 'apps/agent/dist/stint.js'), 'local', ...args];
    await import(pathToFileURL(join(root, 'apps/agent/dist/stint.js')).href);
  },
  test: () => {
    install();
    build();
    step(
      'running all tests (real SQLite, Postgres, sockets, processes and a browser)',
      'npx',
      npx('exec', 'vitest', 'run', ...args),
    );
  },
  check: () => {
    install();
    build();
    node(
      'checking format, lint, types, floors, unused code, tarballs, schemas, README examples and changesets',
      'scripts/check.mjs',
      ...args,
    );
  },
  bench: () => {
    install();
    build();
    node('measuring', 'scripts/bench.mjs', ...args);
  },
  promises: () => {
    install();
    build();
    node('breaking each promise to see its test fail', 'scripts/promises.mjs', ...args);
  },
  verify: () => {
    tasks.check();
    tasks.test();
  },
};

if (!Object.hasOwn(tasks, task)) {
  console.error(`npm-entry: no task "${task}"; known: ${Object.keys(tasks).join(', ')}`);
  process.exit(2);
}
await tasks[/** @type {keyof typeof tasks} */ (task)]();
