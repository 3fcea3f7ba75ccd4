/** The tools of a raw request, those of the caller and those that the provider runs. */
import type { ToolDefinition } from '@stint/provider-hooks';
import { isCount } from './integers.js';
import { type Fields, fieldsIn } from './raw-media.js';

/**
 * All tools, by name: what they are told of is in the text of the body already. Those that the provider runs are listed too where they are
 * asked for beside the tools: OpenAI's `web_search_options`, OpenRouter's `plugins`.
 */
export function toolsOf({
  tools,
  web_search_options: search,
  plugins,
  max_tool_calls: mostCalls,
}: Fields): readonly ToolDefinition[] {
  const listed = fieldsIn(tools).flatMap((tool) => toolOf(tool, mostCalls));
  const beside = [
    ...(search === undefined || search === null ? [] : ['web_search']),
    ...fieldsIn(plugins).map(({ id }) => wordOf(id) ?? 'plugin'),
  ];
  return [...listed, ...beside.map((name) => providerTool(name, name, mostCalls))];
}

function toolOf(tool: Fields, mostCalls: unknown): readonly ToolDefinition[] {
  const { type, name, max_uses: mostUses = mostCalls, input_schema: schema } = tool;
  if (type === undefined && name === undefined) return googleTools(tool);
  const isFunction = typeof type !== 'string' || type === 'function' || type === 'custom' || schema !== undefined;
  if (isFunction) return [functionTool(wordOf(name) ?? '')];
  return [providerTool(type, wordOf(name) ?? type, mostUses)];
}

/** Google: `{ functionDeclarations: [...] }`, and a member for each tool that it runs itself, as `{ googleSearch: {} }`. */
function googleTools(tool: Fields): readonly ToolDefinition[] {
  return Object.keys(tool).map((name) =>
    /^function_?declarations$/iu.test(name) ? functionTool(name) : providerTool(name, snakeCase(name), undefined),
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (capital) => `_${capital.toLowerCase()}`);
}

function functionTool(name: string): ToolDefinition {
  return { type: 'function', name, inputSchema: {} };
}

function providerTool(type: string, name: string, mostUses: unknown): ToolDefinition {
  return { type: 'provider', id: `raw.${type}`, name, args: isCount(mostUses) ? { maxUses: mostUses } : {} };
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
