import { messageOf, systemCode } from './errors.js';
import { callMcpTool, listMcpTools, requireServerName } from './from-mcp.js';
import type { McpResult } from './mcp-content.js';
import { type McpLink, type McpServerAddress, notConnected, openMcpLink } from './mcp-link.js';
import { type McpToolOptions, type McpTools, mcpTools } from './mcp-tools.js';
import type { ToolRegistry } from './registry.js';
import type { ToolContext } from './tool.js';

/** Options of {@link connectMcp}. */
export interface McpConnectionOptions extends McpToolOptions {
  readonly server: McpServerAddress;
  /** Longest time for connecting and listing, ms. @default 15_000 */
  readonly connectTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A server that is looked after: connected again when a call needs it, listed again when it says so. */
export interface McpConnection extends McpTools, AsyncDisposable {
  /** Told after the list changed. Returns a function that ends it. */
  onChange(listener: (tools: McpTools) => void): () => void;
  /** Registers the tools, and keeps the registry in step with the server's list; a name that is taken is left out. Returns a function that removes them. */
  registerIn(registry: ToolRegistry): () => void;
  /** Ends the connection and every process of a server that was started here. */
  close(): Promise<void>;
}

const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 30_000;

/**
 * Connects to an MCP server and lists its tools.
 * @throws ToolError `not_connected` with what the server said on standard error, `invalid_server_name`
 */
export async function connectMcp(options: McpConnectionOptions): Promise<McpConnection> {
  requireServerName(options.name);
  const connection = new Connection(options);
  await connection.open(options.signal);
  return connection;
}

class Connection implements McpConnection {
  readonly #options: McpConnectionOptions;
  readonly #listeners = new Set<(tools: McpTools) => void>();
  #link: Promise<McpLink> | undefined;
  #listed: McpTools = { tools: [], refused: [] };
  #failures = 0;
  #retryAt = 0;
  #closed = false;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  get tools(): McpTools['tools'] {
    return this.#listed.tools;
  }

  get refused(): McpTools['refused'] {
    return this.#listed.refused;
  }

  async open(signal?: AbortSignal): Promise<void> {
    await this.#connected(signal);
  }

  onChange(listener: (tools: McpTools) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  registerIn(registry: ToolRegistry): () => void {
    let names: readonly string[] = [];
    const remove = (): void => names.forEach((name) => void registry.unregister(name));
    const put = ({ tools }: McpTools): void => {
      remove();
      const free = tools.filter(({ name }) => registry.get(name) === undefined);
      for (const tool of free) registry.register(tool);
      names = free.map(({ name }) => name);
    };
    put(this);
    const forget = this.onChange(put);
    return () => {
      forget();
      remove();
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const link = this.#link;
    this.#link = undefined;
    await (await link?.catch(() => undefined))?.close(); // a link that never came up has closed itself
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The living link, or a new one; not sooner than the wait after the last failure. */
  #connected(signal?: AbortSignal): Promise<McpLink> {
    if (this.#closed) return Promise.reject(notConnected(this.#options.name, 'the connection was closed'));
    if (this.#link !== undefined) return this.#link;
    const waitMs = this.#retryAt - Date.now();
    if (waitMs > 0)
      return Promise.reject(
        notConnected(this.#options.name, `the last attempt failed; the next is possible in ${waitMs} ms`),
      );
    const link = this.#connect(signal);
    this.#link = link;
    link.then(
      ({ client }) => {
        client.onclose = () => this.#lost(link);
      },
      () => this.#lost(link),
    );
    return link;
  }

  async #connect(signal?: AbortSignal): Promise<McpLink> {
    try {
      const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
      const link = await openMcpLink(this.#options, signal);
      link.client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#relist(link));
      await this.#take(link, signal);
      this.#failures = 0;
      return link;
    } catch (error) {
      this.#failures += 1;
      this.#retryAt = Date.now() + Math.min(RETRY_FIRST_MS * 2 ** (this.#failures - 1), RETRY_LAST_MS);
      throw error;
    }
  }

  #lost(link: Promise<McpLink>): void {
    if (this.#link === link) this.#link = undefined;
  }

  /** A server that says its list changed and then fails to list keeps its old one until the next connection. */
  async #relist(link: McpLink): Promise<void> {
    await this.#take(link).catch(() => {});
  }

  async #take(link: McpLink, signal?: AbortSignal): Promise<void> {
    const limit = AbortSignal.timeout(this.#options.connectTimeoutMs ?? 15_000);
    try {
      const listing = await listMcpTools(link.client, signal === undefined ? limit : AbortSignal.any([signal, limit]));
      const listed = mcpTools(listing, (name, input, context) => this.#call(name, input, context), this.#options);
      const isSame = JSON.stringify(listed) === JSON.stringify(this.#listed);
      this.#listed = listed;
      if (!isSame) for (const listener of this.#listeners) listener(listed);
    } catch (cause) {
      await link.close();
      throw notConnected(this.#options.name, `its tools could not be listed: ${messageOf(cause)}`, cause);
    }
  }

  async #call(name: string, input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<McpResult> {
    const pending = this.#connected(context.signal);
    const link = await pending;
    try {
      return await callMcpTool(link.client, name, input, context);
    } catch (error) {
      if (!wasNeverTaken(error)) throw error;
      this.#lost(pending);
      await link.close();
      if (!isLostSession(error)) throw notConnected(this.#options.name, messageOf(error), error);
      return callMcpTool((await this.#connected(context.signal)).client, name, input, context);
    }
  }
}

/** True when the server cannot have seen the call: nobody was listening, or it did not know the session. */
function wasNeverTaken(error: unknown): boolean {
  return (
    isLostSession(error) ||
    causes(error).some(
      (cause) =>
        ['ECONNREFUSED', 'ENOTFOUND'].includes(systemCode(cause) ?? '') || messageOf(cause) === 'Not connected',
    )
  );
}

/** HTTP 404, or 400 from servers that answer so, for a session of an earlier life of the server. */
function isLostSession(error: unknown): boolean {
  return causes(error).some((cause) => {
    const { code } = cause as { readonly code?: unknown };
    return code === 404 || (code === 400 && /session/i.test(messageOf(cause)));
  });
}

function causes(error: unknown): readonly object[] {
  const chain: object[] = [];
  for (
    let at = error;
    typeof at === 'object' && at !== null && chain.length < 8;
    at = (at as { cause?: unknown }).cause
  )
    chain.push(at);
  return chain;
}
