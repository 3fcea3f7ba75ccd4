import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createRegistry, loadTools, type LoadedModule } from './index.js';
import { callContext, randomWord, temporaryFolder } from './workspace.test.helper.js';

const entry = new URL('../dist/index.js', import.meta.url).href;

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const goodTool = (name: string, word: string) => `import { defineTool } from ${JSON.stringify(entry)};
export default defineTool({ name: ${JSON.stringify(name)}, description: 'd', inputSchema: { type: 'object' }, execute: () => ${JSON.stringify(word)} });`;

test('tools of modules and packages load from the folder of the configuration and say where they come from', async () => {
  const word = randomWord();
  const folder = folderWith({
    'my-tools.mjs': goodTool('mine', word),
    'set.mjs': `export const tools = { by_set: { description: 'd', inputSchema: { type: 'object' }, execute: () => 'set' } };`,
    'list.mjs': `export default [{ name: 'in_list', description: 'd', inputSchema: { type: 'object' }, execute: () => 'list' }];`,
    'node_modules/@acme/stint-tools/package.json':
      '{"name":"@acme/stint-tools","type":"module","exports":{".":{"import":"./esm.js"}}}',
    'node_modules/@acme/stint-tools/esm.js': goodTool('acme', 'from a package'),
    'node_modules/plain/package.json': '{"name":"plain","main":"main.cjs"}',
    'node_modules/plain/main.cjs': `module.exports = { plain_tool: { description: 'd', inputSchema: { type: 'object' }, execute: () => 'cjs' } };`,
  });
  const from = join(folder, 'stint.config.json');
  const { tools, problems } = await loadTools(
    ['./my-tools.mjs', './set.mjs', './list.mjs', '@acme/stint-tools', 'plain'],
    { from },
  );
  expect(problems).toEqual([]);
  expect(tools.map(({ name, source }) => [name, source])).toEqual([
    ['mine', 'plugin:./my-tools.mjs'],
    ['by_set', 'plugin:./set.mjs'],
    ['in_list', 'plugin:./list.mjs'],
    ['acme', 'plugin:@acme/stint-tools'],
    ['plain_tool', 'plugin:plain'],
  ]);
  expect((await createRegistry(tools).call('mine', {}, callContext())).output).toBe(word);
});

/** What can be wrong with a module, and what is said of it. */
const FAULTS: Readonly<Record<string, readonly [text: string, says: RegExp]>> = {
  'throws.mjs': ['throw new Error("broken at import");', /failed while loading: broken at import$/],
  'throws-nothing.mjs': ['throw undefined;', /failed while loading/],
  'broken.mjs': ['export const = ;', /Unexpected token/],
  'imports-missing.mjs': ['import "./no-such-file.mjs";', /no-such-file/],
  'empty.mjs': ['', /exports nothing/],
  'bad-name.mjs': [
    `export default { name: 'not a name', description: 'd', inputSchema: { type: 'object' }, execute: () => 1 };`,
    /not a name/,
  ],
  'exits.mjs': [
    'console.error("bye"); process.exit(7);',
    /ended the process \(exit code 7\) while loading. It said: bye$/,
  ],
  'exits-well.mjs': ['process.exit(0);', /ended the process \(exit code 0\) while loading/],
  'exits-later.mjs': ['setTimeout(() => process.exit(7), 5); export default 1;', /exit code 7\) after loading/],
  'aborts.mjs': ['process.abort();', /ended the process \(SIGABRT\) while loading/],
  'kills.mjs': [
    'process.kill(process.pid, "SIGKILL"); await new Promise(() => setInterval(() => {}, 1e6));',
    /SIGKILL/,
  ],
  'throws-later.mjs': [
    'setTimeout(() => { throw new Error("too late"); }, 5); export default 1;',
    /failed after loading: too late$/,
  ],
  'rejects.mjs': ['void Promise.reject(new Error("nobody listens")); export default 1;', /nobody listens$/],
  'waits.mjs': ['await new Promise(() => {});', /waits at its top level/],
  'missing.mjs': ['', /missing/],
};

test('a module with any fault is refused by name, what it prints stays out of standard output, and the rest loads', async () => {
  const { 'missing.mjs': _missing, ...present } = FAULTS;
  const folder = folderWith({
    ...Object.fromEntries(Object.entries(present).map(([name, [text]]) => [name, text])),
    'mixed.mjs': `${goodTool('good', 'x')}\nexport const helper = () => 1;\nexport const version = '1.0';`,
    'again.mjs': goodTool('good', 'y'),
  });
  const faulty = Object.keys(FAULTS).map((name) => `./${name}`);
  const specifiers = [...faulty, './mixed.mjs', 'no-such-package', './again.mjs'];
  const modules: LoadedModule[] = [];
  const onModule = (module: LoadedModule) => void modules.push(module);
  const { tools, problems } = await loadTools(specifiers, { from: folder, onModule });
  expect(tools.map(({ name }) => name)).toEqual(['good']);
  const told = problems.map(({ specifier, exportName, message }) => [specifier, exportName, message]);
  for (const [name, [, says]] of Object.entries(FAULTS)) {
    expect(told.filter(([specifier]) => specifier === `./${name}`)).toEqual([
      [`./${name}`, name === 'bad-name.mjs' ? 'default' : undefined, expect.stringMatching(says)],
    ]);
  }
  expect(told.filter(([specifier]) => !faulty.includes(specifier ?? ''))).toEqual([
    ['./mixed.mjs', 'helper', expect.stringContaining('not a tool')],
    ['./mixed.mjs', 'version', expect.stringContaining('not a tool')],
    ['no-such-package', undefined, expect.stringContaining('no-such-package')],
    ['./again.mjs', undefined, expect.stringContaining('"good" is already loaded')],
  ]);
  expect(modules.map(({ specifier }) => specifier)).toEqual([
    './empty.mjs',
    './bad-name.mjs',
    './mixed.mjs',
    './again.mjs',
  ]);
});

test('a module that never finishes loading is refused at the limit, even if it never lets go of its process', async () => {
  const folder = folderWith({
    'hangs.mjs': 'await new Promise(() => { setInterval(() => {}, 1000); });',
    'loops.mjs': 'for (;;);',
  });
  const { problems } = await loadTools(['./hangs.mjs', './loops.mjs'], { from: folder, timeoutMs: 500 });
  const message = 'it could not be loaded: it did not finish loading within 500 ms';
  expect(problems).toEqual([
    { specifier: './hangs.mjs', message },
    { specifier: './loops.mjs', message },
  ]);
});

test('a module that fails only in this process is refused as well, and leaves nothing changed', async () => {
  const folder = folderWith({
    'prints.mjs': `console.log('from a plugin'); process.stdout.write('and more\\n');\n${goodTool('prints', 'x')}`,
    'exits.mjs': 'process.exitCode = 3; if (globalThis.stintTestHere) process.exit(7); export default 1;',
  });
  const methods = () => [
    Object.getOwnPropertyDescriptor(process.stdout, 'write'),
    Object.getOwnPropertyDescriptor(process, 'exit'),
  ];
  const before = methods();
  (globalThis as { stintTestHere?: boolean }).stintTestHere = true;
  const { tools, problems } = await loadTools(['./prints.mjs', './exits.mjs'], { from: folder });
  expect(tools.map(({ name }) => name)).toEqual(['prints']);
  expect(problems).toEqual([
    { specifier: './exits.mjs', message: 'it could not be loaded: it called process.exit(7)' },
  ]);
  expect(methods()).toEqual(before);
  expect(process.exitCode).toBeUndefined();
});
