import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolError, messageOf, refusal } from './errors.js';
import type { McpResult } from './mcp-content.js';
import { type McpToolOptions, type McpTools, mcpTools } from './mcp-tools.js';
import type { ToolContext } from './tool.js';

/** What is needed of a client of `@modelcontextprotocol/sdk`, of any copy. */
export type McpClient = Pick<Client, 'request'>;

const MAX_PAGES = 50;
const MAX_TOOLS = 500;
/** The registry keeps the time of a call; the SDK's own limit must not come first. */
const SDK_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Brings in the tools of a connected MCP client (of `@modelcontextprotocol/sdk`). Use `connectMcp` to have the
 * connection looked after as well.
 * @throws ToolError `invalid_server_name`, `listing_failed`
 */
export async function fromMcp(
  client: McpClient,
  options: McpToolOptions & { readonly signal?: AbortSignal },
): Promise<McpTools> {
  requireServerName(options.name);
  const listing = await listMcpTools(client, options.signal);
  return mcpTools(listing, (name, input, context) => callMcpTool(client, name, input, context), options);
}

/** @throws ToolError `invalid_server_name` */
export function requireServerName(name: string): void {
  if (/^[A-Za-z0-9_-]{1,24}$/.test(name)) return;
  throw refusal(
    'invalid_server_name',
    `The MCP server name ${JSON.stringify(name)} must be 1 to 24 letters, digits, "_" or "-".`,
  );
}

/** All tools as the server lists them, unchecked: one malformed entry must not hide the others. */
export async function listMcpTools(client: McpClient, signal?: AbortSignal): Promise<readonly unknown[]> {
  const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const listed: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && listed.length < MAX_TOOLS; page += 1) {
    const answer: Readonly<Record<string, unknown>> = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      ResultSchema,
      signal === undefined ? {} : { signal },
    );
    const { tools, nextCursor } = answer;
    if (!Array.isArray(tools))
      throw new ToolError('listing_failed', 'The MCP server answered tools/list without a list.', {
        errorEffect: 'none',
      });
    listed.push(...tools);
    if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return listed.slice(0, MAX_TOOLS);
}

/** One call: progress extends its limit, an abort is passed on to the server. */
export async function callMcpTool(
  client: McpClient,
  name: string,
  input: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<McpResult> {
  const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  try {
    return await client.request(
      { method: 'tools/call', params: { name, arguments: { ...input } } },
      CallToolResultSchema,
      {
        signal: context.signal,
        timeout: SDK_TIMEOUT_MS,
        onprogress: ({ progress, total, message }) =>
          context.reportProgress({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          }),
      },
    );
  } catch (cause) {
    context.signal.throwIfAborted();
    throw new ToolError('mcp_failed', `The MCP server failed: ${messageOf(cause)}`, { cause });
  }
}
