import type { Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type ApprovalPolicy, approvalRequest, decideApproval } from './approval.js';
import type { CallContext } from './call.js';
import type { ToolRegistry } from './registry.js';
import { type ToolResult, failure } from './result.js';
import { inputJsonSchema } from './schema.js';
import { holdStandardOutput } from './standard-output.js';
import { annotationsOf, type Tool, type ToolAnnotations, type ToolProgress, type WorkspaceFacts } from './tool.js';

/** Options of {@link serveTools}. */
export interface ServeToolsOptions {
  /** @default 'stint' */
  readonly name?: string;
  /** @default '1' */
  readonly version?: string;
  /** @default standard input and output of this process */
  readonly transport?: Transport;
  /** Where messages are written if there is no `transport`. @default standard output */
  readonly output?: Writable;
  /** Decides on each call; `ask` is refused, since nobody here can answer. @default every call is allowed */
  readonly policy?: ApprovalPolicy;
  readonly workspace?: WorkspaceFacts;
}

/** A server that is running. */
export interface ToolServer extends AsyncDisposable {
  /** Resolves when the client has gone or `close` was called, and no call is running any more. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Offers a registry as an MCP server. Calls that run when the client goes are stopped. Over standard output, whatever else
 * this process prints meanwhile goes to standard error.
 */
export async function serveTools(registry: ToolRegistry, options: ServeToolsOptions = {}): Promise<ToolServer> {
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { CallToolRequestSchema, ListToolsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const server = new Server(
    { name: options.name ?? 'stint', version: options.version ?? '1' },
    { capabilities: { tools: {} } },
  );
  const running = new Set<Promise<unknown>>();
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: registry.list().map(describe) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const token = params._meta?.progressToken;
    const onProgress = (report: ToolProgress): void => {
      if (token === undefined) return;
      const facts = { progressToken: token, ...report, progress: report.progress ?? 0 };
      extra.sendNotification({ method: 'notifications/progress', params: facts }).catch(() => {}); // the client has gone: the call is stopped by then
    };
    const context: CallContext = {
      signal: extra.signal, // the SDK aborts it when the client cancels and when it goes
      onProgress,
      ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
    };
    const call = answer(registry, params.name, params.arguments, { context, options });
    running.add(call);
    return call.finally(() => running.delete(call));
  });
  const own = options.transport === undefined ? await stdio(server, options.output) : undefined;
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      own?.release();
      void Promise.allSettled(running).then(() => resolve());
    };
  });
  await server.connect(options.transport ?? (own as StdioLink).transport);
  const close = async (): Promise<void> => {
    await server.close();
    await closed;
  };
  return { closed, close, [Symbol.asyncDispose]: close };
}

interface StdioLink {
  readonly transport: Transport;
  /** Gives standard output back. */
  release(): void;
}

/** The SDK's transport does not notice that standard input has ended. */
async function stdio(server: Server, output: Writable | undefined): Promise<StdioLink> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  process.stdin.once('end', () => void server.close());
  if (output !== undefined) return { transport: new StdioServerTransport(process.stdin, output), release: () => {} };
  const held = holdStandardOutput();
  return { transport: new StdioServerTransport(process.stdin, held.out), release: () => held.release() };
}

interface Answering {
  readonly context: CallContext;
  readonly options: ServeToolsOptions;
}

async function answer(
  registry: ToolRegistry,
  name: string,
  input: unknown,
  facts: Answering,
): Promise<Record<string, unknown>> {
  const prepared = await registry.prepare(name, input);
  if ('refused' in prepared) return toMcp(prepared.refused);
  const { call } = prepared;
  const refused = await refusedByPolicy(call.tool, call.input, facts.options);
  return toMcp(refused ?? (await call.run(facts.context)));
}

async function refusedByPolicy(
  tool: Tool,
  input: unknown,
  { policy, workspace }: ServeToolsOptions,
): Promise<ToolResult | undefined> {
  if (policy === undefined) return undefined;
  const { decision, reason } = await decideApproval(policy, await approvalRequest(tool, input, workspace?.root));
  if (decision === 'allow') return undefined;
  const why = decision === 'ask' ? 'it needs a person to agree, and nobody can be asked here' : 'it is not allowed';
  return failure('denied', `${tool.name} was not run: ${why} (${reason}).`);
}

/** Facts that a client may use to page on or to decide about a retry go into `_meta`. */
function toMcp({ ok, output, code, errorEffect, outputHandle, outputBytes }: ToolResult): Record<string, unknown> {
  const facts = { code, errorEffect, outputHandle, outputBytes };
  const meta = Object.fromEntries(
    Object.entries(facts).flatMap(([key, value]) => (value === undefined ? [] : [[`stint/${key}`, value]])),
  );
  return { content: [{ type: 'text', text: output }], isError: !ok, _meta: meta };
}

function describe(tool: Tool): {
  name: string;
  description: string;
  inputSchema: { type: 'object' };
  annotations: ToolAnnotations;
} {
  const inputSchema = { ...inputJsonSchema(tool), type: 'object' as const };
  return {
    name: tool.name,
    description: tool.description,
    inputSchema,
    annotations: annotationsOf(tool),
  };
}
