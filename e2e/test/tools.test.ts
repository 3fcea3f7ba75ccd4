import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { cleanEnvironment, freshDataDirectory, startStint, stint, stintPath } from '../src/stint.js';

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

  it('shows the rest and nothing else with modules that end the process, fail later, print, or stay', async () => {
    const modules = {
      'exits.js': 'process.exit(7);',
      'throws-later.js': 'setTimeout(() => { throw new Error("kaboom 1"); });',
      'rejects.js': 'Promise.reject(new Error("kaboom 2"));',
      'here-only.js': `if (process.send === undefined) Promise.reject(new Error('kaboom 3')); export default [];`,
      'prints.js': `import { execSync } from 'node:child_process'; import { writeSync } from 'node:fs';
        console.log('noise 1'); writeSync(1, 'noise 2\\n'); execSync('echo noise 3', { stdio: 'inherit' });
        setInterval(() => console.log('noise 4'), 1); process.exitCode = 3;
        ${good}`,
    };
    const tools = Object.keys(modules).map((name) => `./${name}`);
    const ended = await list(configured(modules, { tools }));
    expect(ended.code, ended.stderr).toBe(0);
    const names = ended.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { name: string }).name);
    expect(names).toEqual(expect.arrayContaining(['read_file', 'edit_file', 'shell', 'shout']));
    for (const says of [
      /"\.\/exits\.js".*exit code 7\) while loading/,
      /"\.\/throws-later\.js".*kaboom 1/,
      /"\.\/rejects\.js".*kaboom 2/,
      /"\.\/here-only\.js" failed outside of a call: kaboom 3/,
      /noise 1/,
      /noise 2/,
      /noise 3/,
    ])
      expect(ended.stderr).toMatch(says);
  });

  it('case L07: refuses an unknown key of the configuration by name, with exit code 2', async () => {
    const ended = await list(configured({}, { tolls: ['./good.js'] }));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/tolls/);
    expect(JSON.parse(ended.stdout)).toEqual({
      code: 'usage',
      message: expect.stringContaining('tolls'),
      retryable: false,
      exitCode: 2,
    });
  });

  it('blames no module for a reader that leaves early, and is ended by it as any program is', async () => {
    const directory = configured({ 'good.js': good }, { tools: ['./good.js'] });
    const { child, ended } = startStint(['tools', 'list', '--json'], {
      dataDirectory: freshDataDirectory(),
      cwd: directory,
    });
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 141, stdout: '', stderr: '' });
  });

  it('is not misled by a variable that it inherits', async () => {
    const directory = configured({ 'good.js': good }, { tools: ['./good.js'] });
    for (const value of ['1', '999999999']) {
      const environment = { STINT_PLUGIN_PROCESS: value };
      const ended = await stint(['tools', 'list'], {
        dataDirectory: freshDataDirectory(),
        cwd: directory,
        environment,
      });
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stdout).toContain('shout');
    }
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

  it('goes on with a module that prints, fails later and wants to end it, and ends with its client', async () => {
    const noisy = `import { execSync } from 'node:child_process'; import { writeSync } from 'node:fs';
      const noise = () => { console.log('noise'); writeSync(1, 'noise\\n'); execSync('echo noise', { stdio: 'inherit' }); };
      noise();
      if (process.send === undefined) setTimeout(() => { setTimeout(() => process.exit(7)); setTimeout(() => { throw new Error('kaboom'); }); noise(); }, 20);
      setInterval(noise, 50);
      ${good}`;
    const directory = configured({ 'noisy.js': noisy }, { tools: ['./noisy.js'] });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [stintPath, 'tools', 'serve', '--dir', directory],
      cwd: directory,
      env: cleanEnvironment(),
      stderr: 'pipe',
    });
    let said = '';
    transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const client = new Client({ name: 'e2e', version: '0' });
    const garbled: Error[] = [];
    client.onerror = (error) => void garbled.push(error);
    await client.connect(transport);
    try {
      await expect.poll(() => said, { timeout: 20_000 }).toMatch(/"\.\/noisy\.js" called process\.exit\(7\)/);
      await expect.poll(() => said, { timeout: 20_000 }).toMatch(/"\.\/noisy\.js" failed outside of a call: kaboom/);
      writeFileSync(join(directory, 'a.txt'), 'one');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('shout');
      expect((await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } })).isError).toBe(false);
      const shout = await client.callTool({ name: 'shout', arguments: { text: 'x' } });
      expect(shout.isError).toBe(true); // nobody can be asked
      expect(garbled).toEqual([]);
    } finally {
      await client.close();
    }
  });
});
