import { refusal } from './errors.js';
import { type McpResult, mcpReply } from './mcp-content.js';
import { isStandardSchema } from './schema.js';
import {
  defineTool,
  type InputSchema,
  type JsonSchema,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolDefinition,
} from './tool.js';

/**
 * A tool of the AI SDK, as its `tool()` makes it: no name, `inputSchema` any Standard Schema or the SDK's own
 * `jsonSchema()`, and `execute(input, options)`.
 */
export interface AiSdkTool {
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly execute?: unknown;
}

/**
 * A tool as MCP servers are written: a handler that is given arguments and answers `{ content, isError? }`. Without an
 * `inputSchema` the handler takes no arguments.
 */
export interface McpShapedTool {
  readonly name?: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly annotations?: ToolAnnotations | undefined;
  readonly handler: unknown;
}

/** Anything a registry takes: a tool, a definition, or (with a name) a tool of the AI SDK or of an MCP server. */
export type ToolLike = Tool | ToolDefinition | AiSdkTool | McpShapedTool;

/** True for what {@link toTool} accepts, given a name. */
export function isToolLike(value: unknown): value is ToolLike {
  if (typeof value !== 'object' || value === null) return false;
  const { inputSchema, execute, handler } = value as Record<string, unknown>;
  if (typeof handler === 'function') return true;
  return (
    typeof execute === 'function' &&
    ((typeof inputSchema === 'object' && inputSchema !== null) || typeof inputSchema === 'function')
  );
}

/**
 * Makes a {@link Tool} of any accepted shape.
 * @param name name of a tool that has none of its own (AI SDK, MCP); another keeps its own.
 * @throws ToolError `invalid_tool`
 */
export function toTool(like: ToolLike, name?: string): Tool {
  if (!isToolLike(like)) {
    throw refusal(
      'invalid_tool',
      `${name === undefined ? 'A value' : JSON.stringify(name)} is not a tool: it needs inputSchema and execute.`,
    );
  }
  if ('handler' in like && typeof like.handler === 'function') return fromMcpShape(like, like.name ?? name ?? '');
  if ('name' in like && typeof like.name === 'string') return defineTool(like as ToolDefinition);
  return fromAiSdk(like as AiSdkTool, name ?? '');
}

/** Hints decide here: the handler is the owner's own code, not a stranger's claim. */
function fromMcpShape(tool: McpShapedTool, name: string): Tool {
  const handler = tool.handler as (...parameters: readonly unknown[]) => unknown;
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  const readOnly = readOnlyHint === true && destructiveHint !== true;
  return defineTool({
    name,
    description: tool.description ?? '',
    inputSchema: tool.inputSchema === undefined ? { type: 'object' } : plainSchema(tool.inputSchema),
    readOnly,
    destructive: !readOnly && destructiveHint !== false,
    errorOutput: null,
    source: 'mcp-handler',
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    async execute(input: unknown, context: ToolContext) {
      const extra = { signal: context.signal, requestId: context.callId };
      const result = (await (tool.inputSchema === undefined
        ? handler.call(tool, extra)
        : handler.call(tool, input, extra))) as McpResult;
      return mcpReply(result);
    },
  });
}

interface AiSdkSchema {
  readonly jsonSchema: JsonSchema;
}

const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

function fromAiSdk(tool: AiSdkTool, name: string): Tool {
  const execute = tool.execute as (input: unknown, options: Readonly<Record<string, unknown>>) => unknown;
  return defineTool({
    name,
    description: tool.description ?? '',
    inputSchema: plainSchema(tool.inputSchema),
    source: 'ai-sdk',
    execute: (input: unknown, context: ToolContext) =>
      lastValue(execute.call(tool, input, { toolCallId: context.callId, messages: [], abortSignal: context.signal })),
  });
}

/** The schema itself, or the JSON Schema inside the AI SDK's own wrapper. */
function plainSchema(schema: unknown): InputSchema {
  if (isStandardSchema(schema)) return schema;
  const lazySchema = typeof schema === 'function' ? (schema as () => unknown)() : schema;
  const wrapped = typeof lazySchema === 'object' && lazySchema !== null && AI_SDK_SCHEMA in lazySchema;
  return wrapped ? (lazySchema as unknown as AiSdkSchema).jsonSchema : (lazySchema as InputSchema);
}

/** An AI SDK tool may yield preliminary values; the last one is its result. */
async function lastValue(returned: unknown): Promise<unknown> {
  const value = await returned;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const each of value as AsyncIterable<unknown>) last = each;
  return last;
}
