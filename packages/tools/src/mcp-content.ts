import { excerpt } from './bounded-text.js';
import { type ToolReply, reply } from './reply.js';

/** A result of `tools/call`, read without trust. */
export interface McpResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

/** A result as a tool's reply. What an error left behind is unknown: MCP has no word for it. */
export function mcpReply(result: McpResult): ToolReply {
  const text = mcpText(result);
  const structured = result.structuredContent === undefined ? {} : { structured: result.structuredContent };
  if (result.isError !== true) return reply({ text, ...structured });
  const said = text === '' ? 'The tool failed without a message.' : text;
  return reply({ text: said, ...structured, failure: { code: 'tool_failed', errorEffect: 'unknown' } });
}

/**
 * The text of a result: text parts and embedded texts as they are, anything else as one line that says what it was.
 * Structured content stands in where there is no content.
 */
function mcpText(result: McpResult): string {
  const parts = Array.isArray(result.content) ? result.content.map(partText) : [];
  if (parts.length > 0) return parts.join('\n');
  return result.structuredContent === undefined ? '' : JSON.stringify(result.structuredContent);
}

function partText(part: unknown): string {
  if (typeof part !== 'object' || part === null) return '';
  const { type, text, data, mimeType, uri, resource } = part as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'image' || type === 'audio')
    return `[${type} ${label(mimeType)}, ${decodedBytes(data)} bytes, not shown]`;
  if (type === 'resource_link') return `[resource ${label(uri)}]`;
  if (type === 'resource' && typeof resource === 'object' && resource !== null)
    return resourceText(resource as Record<string, unknown>);
  return `[${label(type)} part, not shown]`;
}

function resourceText({ uri, text, blob, mimeType }: Record<string, unknown>): string {
  if (typeof text === 'string') return `[resource ${label(uri)}]\n${text}`;
  return `[resource ${label(uri)} ${label(mimeType)}, ${decodedBytes(blob)} bytes, not shown]`;
}

function label(value: unknown): string {
  return typeof value === 'string' ? excerpt(value, 200) : 'of unknown kind';
}

function decodedBytes(base64: unknown): number {
  return typeof base64 === 'string' ? Math.floor((base64.replace(/=+$/, '').length * 3) / 4) : 0;
}
