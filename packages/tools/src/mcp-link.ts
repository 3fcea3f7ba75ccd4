import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { tailText } from './bounded-text.js';
import { ToolError, isToolError, messageOf } from './errors.js';
import { OPERATION_VARIABLE, ProcessTree } from './process-tree.js';

/** A server that is started here, or reached by streamable HTTP. */
export type McpServerAddress =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly cwd?: string;
      /** Added to a small set of safe variables. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** One life of a connection. */
export interface McpLink {
  readonly client: Client;
  /** Ends the connection and every process of a server that was started for it. */
  close(): Promise<void>;
}

/** What a link is opened with. */
export interface McpLinkOptions {
  readonly name: string;
  readonly server: McpServerAddress;
  /** @default 15_000 */
  readonly connectTimeoutMs?: number;
}

const CLIENT_INFO = { name: 'stint', version: '1' };
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const STDERR_KEPT = 2_000;

/** Connects once. @throws ToolError `not_connected` with what the server said on standard error */
export async function openMcpLink(options: McpLinkOptions, signal?: AbortSignal): Promise<McpLink> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const wire = await openWire(options.server);
  const client = new Client(CLIENT_INFO);
  const close = async (): Promise<void> => {
    const tree = wire.tree();
    await client.close();
    await tree?.end(0);
  };
  try {
    const timeout = options.connectTimeoutMs ?? 15_000;
    await client.connect(wire.transport, { timeout, ...(signal === undefined ? {} : { signal }) });
    return { client, close };
  } catch (cause) {
    const said = wire.said();
    await close();
    throw notConnected(options.name, `${messageOf(cause)}${said === '' ? '' : `. It said: ${said}`}`, cause);
  }
}

/** The error of a server that cannot be reached; nothing was sent to it. */
export function notConnected(name: string, why: string, cause?: unknown): ToolError {
  if (isToolError(cause) && cause.code === 'not_connected') return cause;
  const message = `The MCP server "${name}" is not connected: ${why}`;
  return new ToolError('not_connected', message, { errorEffect: 'none', retryable: true, cause });
}

interface Wire {
  readonly transport: Transport;
  /** Processes of a server that was started here. */
  tree(): ProcessTree | undefined;
  /** The end of what it wrote to standard error. */
  said(): string;
}

async function openWire(server: McpServerAddress): Promise<Wire> {
  return 'url' in server ? httpWire(server.url, server.headers) : stdioWire(server);
}

async function httpWire(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Wire> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } });
  return { transport: transport as Transport, tree: () => undefined, said: () => '' };
}

async function stdioWire(server: Exclude<McpServerAddress, { readonly url: string }>): Promise<Wire> {
  const { StdioClientTransport, getDefaultEnvironment } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const operationId = randomUUID();
  const transport = new StdioClientTransport({
    command: server.command,
    args: [...(server.args ?? [])],
    env: { ...getDefaultEnvironment(), ...server.env, [OPERATION_VARIABLE]: operationId },
    stderr: 'pipe',
    maxBufferSize: MAX_MESSAGE_BYTES,
    ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
  });
  let said = '';
  // It is read in any case, so that the server never blocks on it.
  (transport.stderr as Readable | null)?.on('data', (chunk: Buffer) => {
    said = tailText(said + chunk.toString('utf8'), STDERR_KEPT);
  });
  return {
    transport,
    tree: () =>
      transport.pid === null
        ? undefined
        : new ProcessTree({ processGroup: transport.pid, operationId, startTicks: null }),
    said: () => said.trim(),
  };
}
