/** Calls of tools that a provider runs itself and bills by the call, where its usage does not report them: as the answer shows them. */
import type { Usage } from './types.js';

type Fields = Readonly<Record<string, unknown>>;

/** How often each tool was called. */
export type ToolCalls = Readonly<Record<string, number>>;

/** What a search does after it searched, which is no call of its own. */
const looking: ReadonlySet<unknown> = new Set(['open_page', 'openPage', 'find', 'find_in_page', 'findInPage']);
/** Items of OpenAI's answers that are calls of the caller's own tools, or of a server that bills nobody here. */
const billedByNobody: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'mcp_call',
]);

/** The usage, with calls of those tools that it does not report itself. */
export function withShownCalls(usage: Usage | null, shown: ToolCalls): Usage | null {
  if (usage === null || Object.keys(shown).length === 0) return usage;
  return { ...usage, providerToolCalls: { ...shown, ...usage.providerToolCalls } };
}

/** In the content of an AI SDK answer, and in what its provider tells beside it. */
export function callsInContent(content: readonly Fields[], metadata: unknown): ToolCalls {
  const results = new Map(
    content.filter(({ type }) => type === 'tool-result').map((part) => [part['toolCallId'], part]),
  );
  const calls = content.filter(
    ({ type, providerExecuted, dynamic }) => type === 'tool-call' && providerExecuted === true && dynamic !== true,
  );
  const billed = calls.filter(({ toolCallId }) => !isLooking(fieldsOf(results.get(toolCallId)?.['result'])));
  const searches = googleSearches(fieldsOf(fieldsOf(metadata)?.['google'])?.['groundingMetadata']);
  return countOf([...billed.map(({ toolName }) => toolName), ...searches]);
}

/** In an answer in the provider's own form: OpenAI's output, Google's candidates. */
export function callsInBody({ output, candidates }: Fields): ToolCalls {
  const items = fieldsIn(output).filter(({ type }) => typeof type === 'string' && type.endsWith('_call'));
  const billed = items.filter((item) => !billedByNobody.has(item['type']) && !isLooking(item));
  const searches = fieldsIn(candidates).flatMap(({ groundingMetadata }) => googleSearches(groundingMetadata));
  return countOf([...billed.map(({ type }) => String(type).replace(/_call$/, '')), ...searches]);
}

function isLooking(item: Fields | undefined): boolean {
  return looking.has(fieldsOf(item?.['action'])?.['type']);
}

function googleSearches(grounding: unknown): readonly string[] {
  const queries = fieldsOf(grounding)?.['webSearchQueries'];
  return Array.isArray(queries) ? queries.map(() => 'google_search') : [];
}

function countOf(names: readonly unknown[]): ToolCalls {
  const counts = new Map<string, number>();
  for (const name of names) if (typeof name === 'string') counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.map(fieldsOf).filter((each) => each !== undefined) : [];
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
