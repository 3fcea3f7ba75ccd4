import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { cleanEnvironment, freshDataDirectory, stint, stintPath } from '../src/stint.js';

const fresh = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'stint-tools-')));

const good = `import { defineTool } from '@stint/tools';
export const shout = defineTool({
  name: 'shout',
  description: 'Says it loud.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  readOnly: true,
  execute: ({ text }) => text.toUpperCase(),
});
`;

/** A folder with a configuration, its modules, and @stint/tools to import. */
function configured(modules: Readonly<Record<string, string>>, config: unknown): string {
  const directory = fresh();
  mkdirSync(join(directory, 'node_modules/@stint'), { recursive: true });
  symlinkSync(
    fileURLToPath(new URL('../../packages/tools', import.meta.url)),
    join(directory, 'node_modules/@stint/tools'),
  );
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(directory, name), text);
  writeFileSync(join(directory, 'stint.config.json'), JSON.stringify(config));
  return directory;
}

const list = (directory: string) =>
  stint(['tools', 'list', '--json'], { dataDirectory: freshDataDirectory(), cwd: directory });

describe('stint tools list', () => {
  it.each([
    ['throws at import', 'throw new Error("kaboom")', /"\.\/faulty\.js".*kaboom/],
    ['exports nothing', '', /"\.\/faulty\.js".*exports nothing/],
    ['exports something that is no tool', 'export const five = 5;', /"\.\/faulty\.js".*export "five".*not a tool/],
  ])('names a module that %s on stderr, shows the rest and leaves with 0', async (_fault, text, says) => {
    const directory = configured({ 'good.js': good, 'faulty.js': text }, { tools: ['./faulty.js', './good.js'] });
    const ended = await list(directory);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(says);
    const tools = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; source: string; annotations: { readOnlyHint: boolean } });
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['read_file', 'edit_file', 'shell', 'shout']));
    const shout = tools.find(({ name }) => name === 'shout');
    expect(shout?.annotations.readOnlyHint).toBe(true);
    expect(shout?.source).not.toBe('built-in');
  });

  it('case L07: refuses an unknown key of the configuration by name, with exit code 2', async () => {
    const ended = await list(configured({}, { tolls: ['./good.js'] }));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/tolls/);
    expect(ended.stdout).toBe('');
  });
});

describe('stint tools serve', () => {
  it('is listed and called by an MCP client, confined to its directory, and ends with it', async () => {
    const directory = fresh();
    writeFileSync(join(directory, 'a.txt'), 'one\ntwo\n');
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [stintPath, 'tools', 'serve', '--dir', directory],
      env: cleanEnvironment(),
      stderr: 'pipe',
    });
    const client = new Client({ name: 'e2e', version: '0' });
    await client.connect(transport);
    try {
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === 'read_file')?.annotations?.readOnlyHint).toBe(true);
      expect(tools.find(({ name }) => name === 'edit_file')?.annotations?.destructiveHint).toBe(true);
      const read = await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } });
      expect(JSON.stringify(read.content)).toContain('two');
      const outside = await client.callTool({ name: 'read_file', arguments: { path: '../../etc/hostname' } });
      expect(outside.isError).toBe(true);
    } finally {
      await client.close();
    }
  });
});
