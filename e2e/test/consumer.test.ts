import { startPostgres } from '@stint/storage/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleForBrowser, runLikeBrowser } from '../src/browser-bundle.js';
import { Consumer, packAll, type Packed, pinned, run } from '../src/consumer.js';
import { examplesOf, installsOf } from '../src/readme-examples.js';
import { cleanEnvironment, documentOf, freshDataDirectory } from '../src/stint.js';

/** What a user of TypeScript has besides. */
const compiler = [pinned('typescript'), pinned('@types/node')];

let packedInto: string;
let packed: readonly Packed[];
let all: Consumer;
let findings: Readonly<Record<'node16' | 'bundler', string>>;
const made: Consumer[] = [];

const publishedNames = (
  'agent bridge contracts coordinator engine journal ledger projection provider-hooks ' +
  'simulator storage tools work-items'
)
  .split(' ')
  .map((name) => `@stint/${name}`);

/** Tarballs of the packages that are named, or all. */
const tarballs = (names = publishedNames): string[] =>
  packed.filter(({ name }) => names.includes(name)).map(({ tarball }) => tarball);

async function install(
  names: readonly string[],
  libraries: readonly string[],
  ignoreScripts = false,
): Promise<Consumer> {
  const consumer = await Consumer.install({
    tarballs: tarballs([...names]),
    libraries: [...compiler, ...libraries],
    ignoreScripts,
  });
  made.push(consumer);
  return consumer;
}

/** What the READMEs of the packages tell to install from the registry. */
const librariesOf = (readmes: readonly string[]): string[] => [
  ...new Set(
    readmes
      .flatMap(installsOf)
      .filter((word) => !word.startsWith('@stint/'))
      .map(pinned),
  ),
];

/** Empty when there is none, which is a finding of a test of its own. */
const readTextOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const readmeOf = (consumer: Consumer, name: string): string =>
  readTextOf(consumer.path('node_modules', name, 'README.md'));
const moduleOf = (name: string, index: number): string => `${name.replace('@stint/', '')}-${index + 1}`;

const examplesIn = (consumer: Consumer, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) =>
      examplesOf(readmeOf(consumer, name)).map((code, index) => [moduleOf(name, index), code] as const),
    ),
  );

/**
 * The compiler's findings in our declarations and in the examples. All declarations are read (`skipLibCheck` is off); findings inside
 * of other people's packages, such as a missing `@types/json-schema`, are theirs.
 */
const ours = (findings: string): string[] =>
  findings
    .split('\n')
    .filter(
      (line) =>
        /^\S+\(\d+,\d+\): error|^error /.test(line) && !/node_modules\/(?!@stint\/)/.test(line.split('(')[0] ?? ''),
    );

/** An example needs no key and no network, and it ends by itself. */
async function expectToRun(consumer: Consumer, module: string): Promise<void> {
  const { code, stderr } = await consumer.runCompiled('node16', module);
  expect(code, stderr).toBe(0);
}

/** Examples of how a server of one's own is used: they are compiled, and there is no such server here. */
const needsServer = (code: string): boolean => /\bconnectMcp\(/.test(code);

/** The examples that open a file, with a database of a server in its place. */
const onPostgres = (examples: Readonly<Record<string, string>>, url: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(examples)
      .filter(([, code]) => code.includes('openSqlite('))
      .map(([module, code]) => {
        const opened = code.replaceAll(/openSqlite\(\{[^}]*\}\)/g, `openPostgres(${JSON.stringify({ url })})`);
        return [`${module}-on-postgres`, opened.replaceAll('openSqlite', 'openPostgres')];
      }),
  );

/** Runs an example that serves tools of a plugin and of an MCP server, asks it for them as a client, and uses one of each. */
async function expectToServe(consumer: Consumer, module: string): Promise<void> {
  const cwd = mkdtempSync(consumer.path(`serve-${module}-`));
  writeFileSync(join(cwd, 'note.txt'), 'a note');
  const plugin = `import { defineTool } from '@stint/tools';
    export const shout = defineTool({ name: 'shout', description: 'Shouts.', readOnly: true,
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      execute: ({ text }) => text.toUpperCase() });`;
  writeFileSync(join(cwd, 'my-tools.js'), plugin);
  const { PATH = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [consumer.compiled('node16', module)],
    cwd,
    env: { PATH, HOME: cwd },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => void (stderr += String(chunk)));
  const client = new Client({ name: 'consumer', version: '1.0.0' });
  await client.connect(transport);
  const use = async (name: string, input: Record<string, unknown>) =>
    JSON.stringify((await client.callTool({ name, arguments: input })).content);
  expect(await use('shout', { text: 'heard' })).toContain('HEARD');
  expect(await use('files__read_text_file', { path: join(cwd, 'note.txt') })).toContain('a note');
  expect(stderr).toContain('@acme/stint-tools');
  await client.close();
}

/** The packages whose README has an example in TypeScript; the agent's shows commands. */
const withExamples = publishedNames.filter((name) => name !== '@stint/agent');

beforeAll(async () => {
  packedInto = mkdtempSync(join(tmpdir(), 'stint-packed-'));
  packed = await packAll(packedInto);
  all = await install(publishedNames, librariesOf(packed.map(({ folder }) => readTextOf(join(folder, 'README.md')))));
  findings = {
    node16: await all.compile('node16', examplesIn(all, withExamples), 'node16'),
    bundler: await all.compile('bundler', examplesIn(all, withExamples), 'bundler'),
  };
}, 900_000);

afterAll(() => {
  for (const { directory } of made) rmSync(directory, { recursive: true, force: true });
  rmSync(packedInto, { recursive: true, force: true });
});

describe('every package, packed and installed into one directory with plain npm', () => {
  it('is each of the published packages', () => {
    expect(packed.map(({ name }) => name).toSorted()).toEqual(publishedNames);
  });

  it.each(publishedNames)(
    'case U01: %s holds what was built, README and LICENSE, and nothing of this workspace',
    (name) => {
      const files = all.filesOf(name);
      expect(all.installed(name, 'package.json')).not.toMatch(/"(?:workspace|catalog|link|file|portal):/);
      expect(['package.json', 'README.md', 'LICENSE'].filter((file) => !files.includes(file))).toEqual([]);
      expect(
        files.filter((file) =>
          /(?<!\.d)\.[cm]?tsx?$|\.map$|tsbuildinfo|\.(test|fixture|spec)\.|^(src|test)\//.test(file),
        ),
      ).toEqual([]);
      expect(files.filter((file) => file.startsWith('dist/')).length).toBeGreaterThan(0);
    },
  );

  it.each(['node16', 'bundler'] as const)(
    'case U09: the README examples compile under ESM with moduleResolution %s, declarations included',
    (resolution) => {
      expect(ours(findings[resolution])).toEqual([]);
    },
  );

  it.each(withExamples)('%s: the first README example runs, without network or key', async (name) => {
    await expectToRun(all, moduleOf(name, 0));
  });

  it.each(['@stint/simulator', '@stint/provider-hooks', '@stint/engine'])(
    '%s: every further README example runs too',
    async (name) => {
      const further = examplesOf(readmeOf(all, name)).slice(1);
      expect(further.length).toBeGreaterThan(0);
      for (const index of further.keys()) await expectToRun(all, moduleOf(name, index + 1));
    },
  );

  it('the contracts run in a browser, without polyfills', async () => {
    const modules =
      "export * as contracts from '@stint/contracts';\nexport * as compatibility from '@stint/contracts/compatibility';\n";
    writeFileSync(all.path('page.js'), modules);
    const bundle = await bundleForBrowser(all.directory, all.path('page.js'));
    const frame = runLikeBrowser(
      bundle,
      `bundle.contracts.encodeFrame({ type: 'hello', protocol: bundle.contracts.PROTOCOL_RANGE, client: { name: 'page', version: '1' } })`,
    );
    expect(JSON.parse(String(frame))).toMatchObject({ type: 'hello' });
    expect(runLikeBrowser(bundle, 'Object.keys(bundle.compatibility.generateSchemas()).length')).toBeGreaterThan(10);
  });
});

describe('the stint command, installed from its tarball', () => {
  const npx = (...words: readonly string[]) => {
    const home = mkdtempSync(all.path('home-'));
    return run('npx', ['--no-install', 'stint', ...words], all.directory, cleanEnvironment({ HOME: home }));
  };
  const runSimulated = () =>
    npx('run', 'say what a budget is', '--model', 'simulated', '--json', '--data-dir', freshDataDirectory());

  it('tells its version', async () => {
    const { version } = JSON.parse(all.installed('@stint/agent', 'package.json')) as { version: string };
    expect(await npx('--version')).toMatchObject({ code: 0, stdout: expect.stringContaining(version) });
  });

  it('brings an item to done with the built-in model', async () => {
    const ended = await runSimulated();
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf({ ...ended, signal: null })).toMatchObject({ status: 'done', exitCode: 0 });
  });

  it('case U03: without the compiled driver it names the command to run, and shows no stack', async () => {
    const [addon, aside] = [all.path('node_modules/better-sqlite3/build'), all.path('driver-aside')];
    renameSync(addon, aside);
    try {
      const { code, stdout, stderr } = await runSimulated();
      expect(code).toBeGreaterThan(0);
      expect(stdout + stderr).toContain('npm rebuild better-sqlite3');
      expect(stdout + stderr).not.toMatch(/^\s+at /m);
    } finally {
      renameSync(aside, addon);
    }
  });
});

describe('a package alone, with nothing of the workspace but what it depends on', () => {
  const alone = [
    { name: '@stint/ledger', withIt: ['@stint/storage', '@stint/provider-hooks', '@stint/simulator'] },
    { name: '@stint/engine', withIt: ['@stint/provider-hooks', '@stint/tools', '@stint/simulator'] },
    { name: '@stint/tools', withIt: [] },
  ];

  it("@stint/ledger's README examples run with Postgres in the place of the file too", async () => {
    const names = ['@stint/ledger', '@stint/storage', '@stint/provider-hooks', '@stint/simulator'];
    const consumer = await install(names, [...librariesOf([readmeOf(all, '@stint/ledger')]), pinned('pg')], true);
    const server = await startPostgres();
    try {
      const examples = onPostgres(examplesIn(consumer, ['@stint/ledger']), server.url);
      expect(Object.keys(examples)).toHaveLength(2);
      expect(ours(await consumer.compile('node16', examples, 'node16'))).toEqual([]);
      for (const module of Object.keys(examples)) await expectToRun(consumer, module);
    } finally {
      await server.stop();
    }
  });

  it.each(alone)('$name compiles and runs its README examples', async ({ name, withIt }) => {
    const consumer = await install([name, ...withIt], librariesOf([readmeOf(all, name)]), true);
    if (withIt.includes('@stint/storage')) {
      expect(await consumer.openStore()).toContain('driver_missing'); // case U03: as pnpm without an approval leaves it
      consumer.takeDriverFrom(all);
    }
    const examples = examplesIn(consumer, [name]);
    expect(ours(await consumer.compile('node16', examples, 'node16'))).toEqual([]);
    const runnable = Object.entries(examples).filter(([, code]) => !needsServer(code));
    expect(runnable.length).toBeGreaterThan(0);
    for (const [module] of runnable) await expectToRun(consumer, module);
    for (const [module, code] of Object.entries(examples))
      if (code.includes('serveTools(')) await expectToServe(consumer, module);
  });
});
