import { existsSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { expect, onTestFinished, test } from 'vitest';
import { createApprovalPolicy, createRegistry, defineTool, serveTools } from './index.js';
import { isAlive, randomWord, testWorkspace } from './workspace.test.helper.js';

const entry = new URL('../dist/index.js', import.meta.url).href;

/** Stint's tools as a server in a process of its own. */
async function servedWorkspace(root: string) {
  const script = `import { createRegistry, defineTool, serveTools, workspaceTools } from ${JSON.stringify(entry)};
    const noisy = defineTool({ name: 'noisy', description: 'd', inputSchema: { type: 'object' }, execute() {
      console.log('noise'); process.stdout.write('{"jsonrpc":"2.0","method":"noise"}\\n'); return 'done'; } });
    const server = await serveTools(createRegistry([...workspaceTools({ root: process.argv[1], mode: 'write' }), noisy]));
    await server.closed;`;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--input-type=module', '-e', script, root],
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  const client = new Client({ name: 'test', version: '1' });
  const garbled: Error[] = [];
  client.onerror = (error) => void garbled.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid ?? 0, garbled, said: () => said };
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

test('a real MCP client lists the built-in tools with annotations and calls them over stdio', async () => {
  const { root, text } = testWorkspace();
  const { client } = await servedWorkspace(root);
  const { tools } = await client.listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints['read_file']).toMatchObject({ readOnlyHint: true });
  expect(hints['shell']).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  const word = randomWord();
  expect((await client.callTool({ name: 'write_file', arguments: { path: 'a.txt', content: word } })).isError).toBe(
    false,
  );
  expect(text('a.txt')).toBe(word);
  expect(textOf(await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } }))).toBe(word);
  const refused = await client.callTool({ name: 'read_file', arguments: { path: '../x' } });
  expect(refused).toMatchObject({
    isError: true,
    _meta: { 'stint/code': 'outside_workspace', 'stint/errorEffect': 'none' },
  });
  expect(await client.callTool({ name: 'read_file', arguments: {} })).toMatchObject({
    isError: true,
    _meta: { 'stint/code': 'invalid_input' },
  });
  expect(await client.callTool({ name: 'constructor', arguments: {} })).toMatchObject({
    isError: true,
    _meta: { 'stint/code': 'unknown_tool' },
  });
});

test('what a tool prints goes to standard error and not between the messages', async () => {
  const { client, garbled, said } = await servedWorkspace(testWorkspace().root);
  const unknown: unknown[] = [];
  client.fallbackNotificationHandler = async (notification) => void unknown.push(notification);
  expect(textOf(await client.callTool({ name: 'noisy', arguments: {} }))).toBe('done');
  await expect.poll(said).toContain('noise\n{"jsonrpc"');
  await client.ping();
  expect([garbled, unknown]).toEqual([[], []]);
});

test('a call the client cancels, and one that runs when the client goes, is stopped with its processes', async () => {
  const { root, path, text } = testWorkspace();
  const { client, pid } = await servedWorkspace(root);
  const controller = new AbortController();
  const cancelled = client.callTool(
    { name: 'shell', arguments: { command: 'echo $$ > first; sleep 300' } },
    undefined,
    { signal: controller.signal },
  );
  await expect.poll(() => existsSync(path('first')) && text('first') !== '').toBe(true);
  controller.abort();
  await expect(cancelled).rejects.toThrow();
  await expect.poll(() => isAlive(Number(text('first'))), { timeout: 5_000 }).toBe(false);
  const left = client.callTool({ name: 'shell', arguments: { command: 'echo $$ > second; sleep 300' } });
  left.catch(() => {}); // the connection it is asked over goes away
  await expect.poll(() => existsSync(path('second')) && text('second') !== '').toBe(true);
  await client.close();
  await expect.poll(() => isAlive(Number(text('second'))), { timeout: 8_000 }).toBe(false);
  await expect.poll(() => isAlive(pid), { timeout: 8_000 }).toBe(false);
});

test('a policy decides; ask is refused, since nobody can be asked; progress is passed on', async () => {
  const slow = defineTool({
    name: 'steps',
    description: 'd',
    inputSchema: { type: 'object' },
    execute: (_input, { reportProgress }) => {
      for (let step = 1; step <= 3; step += 1) reportProgress({ progress: step, total: 3 });
      return 'done';
    },
  });
  let stopped: unknown;
  let begun: () => void = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const hang = defineTool({
    name: 'steps_without_end',
    description: 'd',
    inputSchema: { type: 'object' },
    execute: (_input, { signal }) =>
      new Promise((resolve) => {
        begun();
        signal.addEventListener('abort', () => {
          stopped = signal.reason;
          resolve('');
        });
      }),
  });
  const other = defineTool({ ...slow, name: 'other', inputSchema: { type: 'object' } });
  const policy = createApprovalPolicy({ rules: [{ decision: 'allow', tool: 'steps*' }] });
  const [here, there] = InMemoryTransport.createLinkedPair();
  const server = await serveTools(createRegistry([slow, hang, other]), { transport: there, policy });
  onTestFinished(() => server.close());
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(here);
  const seen: number[] = [];
  const result = await client.callTool({ name: 'steps', arguments: {} }, undefined, {
    onprogress: ({ progress }) => void seen.push(progress),
  });
  expect(textOf(result)).toBe('done');
  expect(seen).toEqual([1, 2, 3]);
  const asked = await client.callTool({ name: 'other', arguments: {} });
  expect(asked).toMatchObject({ isError: true, _meta: { 'stint/code': 'denied', 'stint/errorEffect': 'none' } });
  expect(textOf(asked)).toContain('needs a person');
  client.callTool({ name: 'steps_without_end', arguments: {} }).catch(() => {}); // its connection goes away
  await running;
  await client.close();
  await server.closed;
  expect(stopped).toBeDefined();
});
