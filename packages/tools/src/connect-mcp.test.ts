import { randomUUID } from 'node:crypto';
import { type Server as HttpServer, createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type McpConnection, type McpToolOptions, connectMcp, createRegistry, fromMcp } from './index.js';
import { callContext, isAlive, randomWord, temporaryFolder } from './workspace.test.helper.js';

const require = createRequire(import.meta.url);
const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/package.json');
const FILESYSTEM = require.resolve('@modelcontextprotocol/server-filesystem/package.json');

/** The program of a package. */
function binOf(manifest: string): string {
  const { bin } = require(manifest) as { bin: Record<string, string> };
  return join(dirname(manifest), Object.values(bin)[0] ?? '');
}

async function opened(connecting: Promise<McpConnection>): Promise<McpConnection> {
  const connection = await connecting;
  onTestFinished(() => connection.close());
  return connection;
}

/** A server in this process whose listing and answers are whatever the test says, without the SDK's own checks. */
async function rawServer(
  listing: () => readonly unknown[],
  answer: (name: string) => unknown = () => ({ content: [] }),
  options: Partial<McpToolOptions> = {},
) {
  const server = new Server({ name: 'raw', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listing() }) as never);
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => answer(params.name) as never);
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(there), client.connect(here)]);
  onTestFinished(() => client.close());
  return fromMcp(client, { name: 'raw', ...options });
}

const plainSchema = { type: 'object', properties: {} };

describe('real servers over stdio', () => {
  test('the everything server: tools with their annotations, calls, errors, progress', {
    timeout: 30_000,
  }, async () => {
    const server = { command: process.execPath, args: [binOf(EVERYTHING), 'stdio'] };
    const connection = await opened(connectMcp({ name: 'everything', server }));
    expect(connection.refused).toEqual([]);
    const registry = createRegistry();
    connection.registerIn(registry);
    const word = randomWord();
    expect((await registry.call('everything__echo', { message: word }, callContext())).output).toContain(word);
    expect(await registry.call('everything__echo', {}, callContext())).toMatchObject({
      code: 'invalid_input',
      errorEffect: 'none',
    });
    const reports: unknown[] = [];
    const long = connection.tools.find(({ name }) => name.includes('long-running'));
    const result = await registry.call(
      long?.name ?? '',
      { duration: 0.3, steps: 3 },
      callContext({ onProgress: (report) => void reports.push(report) }),
    );
    expect(result.ok).toBe(true);
    expect(reports.length).toBeGreaterThanOrEqual(2);
    expect(registry.get('everything__get-env')).toMatchObject({
      readOnly: false,
      destructive: true,
      source: 'mcp:everything',
      annotations: expect.any(Object),
    });
  });

  test('the filesystem server: annotations are shown, and decide only where the owner trusts them', {
    timeout: 30_000,
  }, async () => {
    const folder = temporaryFolder();
    const server = { command: process.execPath, args: [binOf(FILESYSTEM), folder] };
    const wary = await opened(connectMcp({ name: 'fs', server }));
    const reading = wary.tools.find(({ name }) => name === 'fs__read_text_file');
    expect(reading).toMatchObject({ readOnly: false, destructive: true, annotations: { readOnlyHint: true } });
    const trusting = await opened(connectMcp({ name: 'fs', server, trustAnnotations: true }));
    const facts = Object.fromEntries(
      trusting.tools.map(({ name, readOnly, destructive }) => [name, { readOnly, destructive }]),
    );
    expect(facts['fs__read_text_file']).toEqual({ readOnly: true, destructive: false });
    expect(facts['fs__write_file']).toEqual({ readOnly: false, destructive: true });
    const registry = createRegistry([...trusting.tools]);
    const path = join(folder, 'a.txt');
    expect((await registry.call('fs__write_file', { path, content: 'hello' }, callContext())).ok).toBe(true);
    expect((await registry.call('fs__read_text_file', { path }, callContext())).output).toContain('hello');
    expect(await registry.call('fs__read_text_file', { path: '/etc/passwd' }, callContext())).toMatchObject({
      ok: false,
      code: 'tool_failed',
    });
  });

  test('a server that cannot start, or dies at once, is told with what it said', async () => {
    await expect(connectMcp({ name: 'x', server: { command: '/no/such/program' } })).rejects.toMatchObject({
      code: 'not_connected',
      errorEffect: 'none',
      retryable: true,
    });
    const word = randomWord();
    const dying = {
      command: process.execPath,
      args: ['-e', `console.error('${word}'); setTimeout(() => process.exit(1), 50)`],
    };
    await expect(connectMcp({ name: 'x', server: dying })).rejects.toThrow(word);
    const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
    await expect(connectMcp({ name: 'x', server: silent, connectTimeoutMs: 200 })).rejects.toMatchObject({
      code: 'not_connected',
    });
  });
});

/** A server of the SDK in a process of its own: what its tools do is in their names. */
const fixture = `
import { McpServer } from ${JSON.stringify(import.meta.resolve('@modelcontextprotocol/sdk/server/mcp.js'))};
import { StdioServerTransport } from ${JSON.stringify(import.meta.resolve('@modelcontextprotocol/sdk/server/stdio.js'))};
import * as z from ${JSON.stringify(import.meta.resolve('zod'))};
import { spawn } from 'node:child_process';
const server = new McpServer({ name: 'fixture', version: '1' });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const every = async (ms, times, extra) => {
  for (let step = 1; step <= times && !extra.signal.aborted; step++) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: extra._meta.progressToken, progress: step } });
  }
};
server.registerTool('pid', {}, async () => text(process.pid));
server.registerTool('die', {}, async () => process.exit(3));
server.registerTool('large', {}, async () => text('x'.repeat(5_000_000)));
server.registerTool('steady', {}, async (extra) => { await every(40, 8, extra); return text('finished'); });
server.registerTool('forever', {}, async (extra) => { await every(40, 100000, extra); return text('never'); });
let cancelled = 0;
server.registerTool('slow', {}, async ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => { cancelled++; resolve(text('')); })));
server.registerTool('cancelled', {}, async () => text(cancelled));
server.registerTool('grandchild', {}, async () => text(spawn('sleep', ['300'], { detached: true, stdio: 'ignore' }).pid));
server.registerTool('grow', {}, async () => { server.registerTool('grown', { inputSchema: { n: z.number() } }, async ({ n }) => text(n + 1)); return text('ok'); });
await server.connect(new StdioServerTransport());
`;

const fixtureServer = { command: process.execPath, args: ['--input-type=module', '-e', fixture] };

describe('calls', () => {
  test('case T33: progress of a remote tool extends its limit, up to the absolute one', async () => {
    const connection = await opened(
      connectMcp({ name: 'f', server: fixtureServer, timeoutMs: 200, absoluteTimeoutMs: 700 }),
    );
    const registry = createRegistry([...connection.tools]);
    expect(await registry.call('f__steady', {}, callContext())).toMatchObject({ ok: true, output: 'finished' });
    const began = performance.now();
    expect(await registry.call('f__forever', {}, callContext())).toMatchObject({
      ok: false,
      code: 'timeout',
      errorEffect: 'unknown',
      fatal: true,
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(680);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('an abort reaches the server', async () => {
    const connection = await opened(connectMcp({ name: 'f', server: fixtureServer }));
    const registry = createRegistry([...connection.tools]);
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('stop')), 100);
    expect(await registry.call('f__slow', {}, callContext({ signal: controller.signal }))).toMatchObject({
      code: 'aborted',
      errorEffect: 'unknown',
    });
    await expect.poll(async () => (await registry.call('f__cancelled', {}, callContext())).output).toBe('1');
  });

  test('case T35: an answer of 5 MB is bounded and kept whole', async () => {
    const connection = await opened(connectMcp({ name: 'f', server: fixtureServer }));
    const result = await createRegistry([...connection.tools]).call('f__large', {}, callContext());
    expect(result).toMatchObject({ ok: true, outputBytes: 5_000_000, outputHandle: expect.stringMatching(/^output:/) });
    expect(result.output.length).toBeLessThanOrEqual(32_768);
  });

  test('a server that dies in a call leaves its effect unknown, and the next call starts it again', async () => {
    const connection = await opened(connectMcp({ name: 'f', server: fixtureServer }));
    const registry = createRegistry([...connection.tools]);
    const first = (await registry.call('f__pid', {}, callContext())).output;
    expect(await registry.call('f__die', {}, callContext())).toMatchObject({ ok: false, errorEffect: 'unknown' });
    const second = await registry.call('f__pid', {}, callContext());
    expect(second.ok).toBe(true);
    expect(second.output).not.toBe(first);
  });

  test('closing ends the server and what it started', async () => {
    const connection = await connectMcp({ name: 'f', server: fixtureServer });
    const registry = createRegistry([...connection.tools]);
    const pids = [
      Number((await registry.call('f__pid', {}, callContext())).output),
      Number((await registry.call('f__grandchild', {}, callContext())).output),
    ];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await connection.close();
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await registry.call('f__pid', {}, callContext())).toMatchObject({
      ok: false,
      code: 'not_connected',
      errorEffect: 'none',
    });
  });

  test('a changed list reaches the registry it was registered in', async () => {
    const connection = await opened(connectMcp({ name: 'f', server: fixtureServer }));
    const registry = createRegistry();
    const remove = connection.registerIn(registry);
    expect(registry.get('f__grown')).toBeUndefined();
    await registry.call('f__grow', {}, callContext());
    await expect.poll(() => registry.get('f__grown')).toBeDefined();
    expect((await registry.call('f__grown', { n: 4 }, callContext())).output).toBe('5');
    remove();
    expect(registry.list()).toEqual([]);
  });
});

describe('streamable HTTP', () => {
  async function httpServer(port = 0): Promise<{ readonly port: number; close(): Promise<void>; forget(): void }> {
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    const http: HttpServer = createServer((request, response) => {
      void (async () => {
        const id = request.headers['mcp-session-id'];
        const known = typeof id === 'string' ? sessions.get(id) : undefined;
        if (typeof id === 'string' && known === undefined) return void response.writeHead(404).end('Session not found');
        const transport =
          known ??
          new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: (session) => void sessions.set(session, transport),
          });
        if (known === undefined) {
          const server = new McpServer({ name: 'http', version: '1' });
          server.registerTool('double', { inputSchema: { n: z.number() } }, async ({ n }) => ({
            content: [{ type: 'text', text: String(n * 2) }],
          }));
          await server.connect(transport as never);
        }
        await transport.handleRequest(request, response);
      })();
    });
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    const close = async (): Promise<void> => {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    };
    onTestFinished(() => close().catch(() => {}));
    return { port: (http.address() as AddressInfo).port, close, forget: () => sessions.clear() };
  }

  test('a server that restarts on its port is used again, and says not connected in between', async () => {
    const first = await httpServer();
    const connection = await opened(connectMcp({ name: 'h', server: { url: `http://127.0.0.1:${first.port}/mcp` } }));
    const registry = createRegistry([...connection.tools]);
    expect((await registry.call('h__double', { n: 21 }, callContext())).output).toBe('42');
    await first.close();
    // The first call may still meet a connection that is being cut; from then on nobody listens, and it says so.
    const gone = () => registry.call('h__double', { n: 1 }, callContext());
    await expect.poll(gone).toMatchObject({ ok: false, code: 'not_connected', errorEffect: 'none', retryable: true });
    await httpServer(first.port);
    await expect
      .poll(async () => (await registry.call('h__double', { n: 2 }, callContext())).output, { timeout: 5_000 })
      .toBe('4');
  });

  test('a session the server no longer knows is opened again within the call', async () => {
    const first = await httpServer();
    const connection = await opened(connectMcp({ name: 'h', server: { url: `http://127.0.0.1:${first.port}/mcp` } }));
    const registry = createRegistry([...connection.tools]);
    first.forget();
    expect(await registry.call('h__double', { n: 3 }, callContext())).toMatchObject({ ok: true, output: '6' });
  });
});

describe('a server that means harm', () => {
  test('names cannot pass for other tools, and unusable entries are refused one by one', async () => {
    const long = 'n'.repeat(200);
    const listing = [
      { name: 'read_file', inputSchema: plainSchema },
      { name: 'files/read', inputSchema: plainSchema },
      { name: 'files.read', inputSchema: plainSchema },
      { name: long, inputSchema: plainSchema },
      { name: '__proto__', inputSchema: plainSchema },
      { name: '', inputSchema: plainSchema },
      { name: 'a\u202eb', inputSchema: plainSchema },
      { name: 'read_file', inputSchema: plainSchema },
      { name: 'no-schema' },
      { name: 'array', inputSchema: { type: 'array' } },
      null,
    ];
    const { tools, refused } = await rawServer(() => listing);
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 1)).toEqual(['raw__read_file']);
    expect(names.every((name) => /^raw__[\w-]{1,59}$/.test(name))).toBe(true);
    expect(new Set(names).size).toBe(5);
    expect(refused).toHaveLength(6);
    createRegistry([...tools]);
  });

  test('schemas that are huge, deep, slow or point elsewhere cannot stop the process', async () => {
    const deep = JSON.parse(`${'{"properties":{"a":'.repeat(60)}{}${'}}'.repeat(60)}`) as object;
    const listing = [
      {
        name: 'huge',
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 5000 }, (_, n) => [`property-number-${n}`, { type: 'string' }]),
          ),
        },
      },
      { name: 'deep', inputSchema: { type: 'object', ...deep } },
      {
        name: 'remote',
        inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.invalid/schema' } } },
      },
      { name: 'slow', inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } },
    ];
    const { tools, refused } = await rawServer(() => listing);
    expect(refused.map(({ name }) => name)).toEqual(['huge', 'deep', 'remote']);
    const began = performance.now();
    expect((await createRegistry([...tools]).call('raw__slow', { a: `${'a'.repeat(40)}!` }, callContext())).ok).toBe(
      true,
    );
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test('missing, contradicting or ill-typed annotations count as the dangerous case even where they are trusted', async () => {
    const listing = [
      { name: 'none', inputSchema: plainSchema },
      { name: 'both', inputSchema: plainSchema, annotations: { readOnlyHint: true, destructiveHint: true } },
      { name: 'text', inputSchema: plainSchema, annotations: { readOnlyHint: 'yes', destructiveHint: 0 } },
      { name: 'good', inputSchema: plainSchema, annotations: { readOnlyHint: true } },
      { name: 'mild', inputSchema: plainSchema, annotations: { readOnlyHint: false, destructiveHint: false } },
    ];
    const { tools } = await rawServer(() => listing, undefined, { trustAnnotations: true });
    expect(tools.map(({ readOnly, destructive }) => [readOnly, destructive])).toEqual([
      [false, true],
      [false, true],
      [false, true],
      [true, false],
      [false, false],
    ]);
    const some = await rawServer(() => listing, undefined, { trustAnnotations: ['mild'] });
    expect(some.tools.map(({ readOnly, destructive }) => [readOnly, destructive]).at(3)).toEqual([false, true]);
  });

  test('descriptions are bounded and hold nothing invisible', async () => {
    const description = `Reads.\u202e\u200b\u0007${'x'.repeat(100_000)}`;
    const { tools } = await rawServer(() => [{ name: 'a', description, inputSchema: plainSchema }]);
    expect(Buffer.byteLength(tools[0]?.description ?? '')).toBeLessThanOrEqual(4096);
    expect(tools[0]?.description.startsWith('Reads.xxx')).toBe(true);
  });

  test('content of every kind becomes text; an error result is a failure with unknown effect', async () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', data: Buffer.alloc(300).toString('base64'), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
      { type: 'resource_link', uri: 'file:///b', name: 'b' },
    ];
    const answers: Record<string, unknown> = {
      mixed: { content },
      bad: { content: [{ type: 'text', text: 'went wrong' }], isError: true },
      structured: { content: [], structuredContent: { a: 1 } },
    };
    const { tools } = await rawServer(
      () => Object.keys(answers).map((name) => ({ name, inputSchema: plainSchema })),
      (name) => answers[name],
    );
    const registry = createRegistry([...tools]);
    expect((await registry.call('raw__mixed', {}, callContext())).output).toBe(
      'one\n[image image/png, 300 bytes, not shown]\n[resource file:///a]\ninside\n[resource file:///b]',
    );
    expect(await registry.call('raw__bad', {}, callContext())).toMatchObject({
      ok: false,
      code: 'tool_failed',
      output: 'went wrong',
      errorEffect: 'unknown',
    });
    expect(await registry.call('raw__structured', {}, callContext())).toMatchObject({
      ok: true,
      output: '{"a":1}',
      structured: { a: 1 },
    });
  });

  test('a list without end is cut', async () => {
    const { tools } = await rawServer(() =>
      Array.from({ length: 2000 }, (_, n) => ({ name: `t${n}`, inputSchema: plainSchema })),
    );
    expect(tools.length).toBe(500);
  });
});
