import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createRegistry, loadTools } from './index.js';
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

test('a plugin that throws, exports nothing, exports a non-tool, is missing or hangs is named, and the rest loads', async () => {
  const folder = folderWith({
    'throws.mjs': 'throw new Error("broken at import");',
    'empty.mjs': '',
    'mixed.mjs': `${goodTool('good', 'x')}\nexport const helper = () => 1;\nexport const version = '1.0';`,
    'bad-name.mjs': `export default { name: 'not a name', description: 'd', inputSchema: { type: 'object' }, execute: () => 1 };`,
    'hangs.mjs': 'await new Promise(() => { setInterval(() => {}, 1000).unref(); });',
    'again.mjs': goodTool('good', 'y'),
  });
  const specifiers = [
    './throws.mjs',
    './empty.mjs',
    './mixed.mjs',
    './bad-name.mjs',
    './hangs.mjs',
    './missing.mjs',
    'no-such-package',
    './again.mjs',
  ];
  const { tools, problems } = await loadTools(specifiers, { from: folder, timeoutMs: 300 });
  expect(tools.map(({ name }) => name)).toEqual(['good']);
  const told = problems.map(({ specifier, exportName, message }) => `${specifier} ${exportName ?? ''} ${message}`);
  expect(told).toHaveLength(9);
  const expected = [
    /throws.*broken at import/,
    /empty.*exports nothing/,
    /mixed.*helper.*not a tool/,
    /mixed.*version.*not a tool/,
    /bad-name.*not a name/,
    /hangs.*300 ms/,
    /missing/,
    /no-such-package/,
    /again.*"good" is already loaded/,
  ];
  for (const pattern of expected) expect(told.some((line) => pattern.test(line))).toBe(true);
});
