import { createHash } from 'node:crypto';
import { headText } from './bounded-text.js';
import { messageOf } from './errors.js';
import { compileJsonSchema } from './json-schema-validator.js';
import { type McpResult, mcpReply } from './mcp-content.js';
import { type JsonSchema, type Tool, type ToolAnnotations, type ToolContext, defineTool, isToolName } from './tool.js';

/** How a server's tools are brought in. */
export interface McpToolOptions {
  /** Name the owner gives the server: letters, digits, `_`, `-`, at most 24. Tools are named `<name>__<tool>`. */
  readonly name: string;
  /** Limit of a call without progress, ms. @default 60_000 */
  readonly timeoutMs?: number;
  /** Limit that progress cannot extend, ms. @default 600_000 */
  readonly absoluteTimeoutMs?: number;
  /**
   * Whose annotations decide what a call may do: none, all, or the named tools (the server's names). Annotations are
   * claims; a tool that claims falsely to be read-only would be run again after a crash.
   * @default false
   */
  readonly trustAnnotations?: boolean | readonly string[];
  /** Most bytes of output the model sees. @default 32_768 */
  readonly outputLimitBytes?: number;
}

/** A tool of a server that is not brought in. */
export interface RefusedMcpTool {
  readonly name: string;
  readonly reason: string;
}

/** What a server's listing came to. */
export interface McpTools {
  readonly tools: readonly Tool[];
  readonly refused: readonly RefusedMcpTool[];
}

/** Sends one call to the server. */
export type McpCaller = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => Promise<McpResult>;

const MAX_DESCRIPTION_BYTES = 4_096;
const MAX_SCHEMA_BYTES = 65_536;
const MAX_SCHEMA_DEPTH = 32;
const MAX_NAME = 64;

/**
 * Tools of a listing as the server sent it. Names are prefixed with the owner's name for the server, so that none can
 * pass for another tool; a listing entry that cannot be used safely is refused with the reason, and the rest stays.
 */
export function mcpTools(listing: readonly unknown[], call: McpCaller, options: McpToolOptions): McpTools {
  const tools: Tool[] = [];
  const refused: RefusedMcpTool[] = [];
  for (const entry of listing) {
    try {
      const tool = mcpTool(entry, call, options);
      if (tools.some(({ name }) => name === tool.name)) throw new Error('another tool of the server has the same name');
      tools.push(tool);
    } catch (error) {
      refused.push({ name: shownName(entry), reason: messageOf(error) });
    }
  }
  return { tools, refused };
}

function mcpTool(entry: unknown, call: McpCaller, options: McpToolOptions): Tool {
  const { name, description, inputSchema, annotations: claims } = readEntry(entry);
  const annotations = readAnnotations(claims);
  const { readOnly, destructive } = isTrusted(name, options)
    ? trustedFacts(annotations)
    : { readOnly: false, destructive: true };
  return defineTool({
    name: localName(options.name, name),
    description: plainText(description),
    inputSchema: requireSchema(inputSchema),
    readOnly,
    destructive,
    concurrencySafe: readOnly,
    errorOutput: null,
    timeoutMs: options.timeoutMs ?? 60_000,
    absoluteTimeoutMs: options.absoluteTimeoutMs ?? 600_000,
    outputLimitBytes: options.outputLimitBytes ?? 32_768,
    source: `mcp:${options.name}`,
    annotations,
    execute: async (input, context) => mcpReply(await call(name, input, context)),
  });
}

interface Entry {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly annotations: unknown;
}

function readEntry(entry: unknown): Entry {
  const {
    name,
    description = '',
    inputSchema,
    annotations,
  } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || name.length > 256 || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) {
    throw new Error('its name is empty, too long, or holds characters that cannot be seen');
  }
  return { name, description: typeof description === 'string' ? description : '', inputSchema, annotations };
}

/** `<server>__<tool>` in the characters every provider accepts; a name that had to be changed ends in its hash. */
function localName(server: string, name: string): string {
  const plain = `${server}__${name}`;
  if (isToolName(plain)) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${plain.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME - 9)}_${hash}`;
}

function requireSchema(schema: unknown): JsonSchema {
  if (typeof schema !== 'object' || schema === null || (schema as JsonSchema)['type'] !== 'object')
    throw new Error('its input schema does not describe an object');
  const size = Buffer.byteLength(JSON.stringify(schema));
  if (size > MAX_SCHEMA_BYTES)
    throw new Error(`its input schema has ${size} bytes; at most ${MAX_SCHEMA_BYTES} are accepted`);
  if (depthOf(schema) > MAX_SCHEMA_DEPTH)
    throw new Error(`its input schema is nested more than ${MAX_SCHEMA_DEPTH} deep`);
  compileJsonSchema(schema as JsonSchema, { ignorePatterns: true });
  return schema as JsonSchema;
}

function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MAX_SCHEMA_DEPTH) return depth;
  return Object.values(value).reduce<number>((deepest, each) => Math.max(deepest, depthOf(each, depth + 1)), depth + 1);
}

/** Only hints that are really true or false are kept. */
function readAnnotations(value: unknown): ToolAnnotations {
  if (typeof value !== 'object' || value === null) return {};
  const given = value as Record<string, unknown>;
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].filter(
    (hint) => typeof given[hint] === 'boolean',
  );
  const title = typeof given['title'] === 'string' ? { title: plainText(given['title']).slice(0, 200) } : {};
  return { ...title, ...Object.fromEntries(hints.map((hint) => [hint, given[hint]])) };
}

/** Hints that contradict each other, or are missing, count as the dangerous case. */
function trustedFacts({ readOnlyHint, destructiveHint }: ToolAnnotations): {
  readonly readOnly: boolean;
  readonly destructive: boolean;
} {
  const readOnly = readOnlyHint === true && destructiveHint !== true;
  return { readOnly, destructive: !readOnly && destructiveHint !== false };
}

function isTrusted(name: string, { trustAnnotations = false }: McpToolOptions): boolean {
  return typeof trustAnnotations === 'boolean' ? trustAnnotations : trustAnnotations.includes(name);
}

/** Text without characters that cannot be seen, bounded. */
function plainText(text: string): string {
  return headText(text.replace(/[^\P{Cc}\n\t]|[\p{Cf}]/gu, ''), MAX_DESCRIPTION_BYTES);
}

function shownName(entry: unknown): string {
  const { name } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  return typeof name === 'string' ? plainText(name).slice(0, 100) : '(no name)';
}
