import { SETTLE_GRACE_MS, callFacts, runCall, type CallContext, type CallFacts, type CallSettings } from './call.js';
import { messageOf, refusal } from './errors.js';
import { toTool, type ToolLike } from './foreign-tools.js';
import { temporaryOutputStore, type OutputStore } from './output-store.js';
import { failure, type ToolResult } from './result.js';
import { inputJsonSchema, inputParser, type InputParser } from './schema.js';
import type { JsonSchema, Tool } from './tool.js';

/** What a provider is told about a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: JsonSchema;
}

/** A call whose tool exists and whose input is valid, ready to run. */
export interface PreparedCall extends CallFacts {
  readonly tool: Tool;
  /** The parsed input. */
  readonly input: unknown;
  /** Runs the call to its one result; never rejects. */
  run(context: CallContext): Promise<ToolResult>;
}

/** A list of tools, or an AI SDK tool set (`{ name: tool }`). */
export type ToolSource = readonly ToolLike[] | Readonly<Record<string, ToolLike>>;

/** Holds tools by name. It looks up, validates, bounds and reports; it decides nothing. */
export interface ToolRegistry {
  /** Adds a tool. @throws ToolError `duplicate_tool` when its name or an alias is taken */
  register(tool: ToolLike, name?: string): Tool;
  /** Removes a tool with its aliases; false if there is none. An alias is not enough. */
  unregister(name: string): boolean;
  /** The tool of a name or alias. */
  get(name: string): Tool | undefined;
  /** Tools in order of registration, without aliases. */
  list(): readonly Tool[];
  /** Descriptions for a provider, in order of registration, without aliases. */
  definitions(): readonly ToolDescription[];
  /** Looks up and validates without running. A refusal is the call's result, with effect `none`. */
  prepare(name: string, input: unknown): Promise<{ readonly call: PreparedCall } | { readonly refused: ToolResult }>;
  /**
   * Looks up, validates and runs. Never rejects.
   * @param context without one, nothing can stop the call but its time limit
   */
  call(name: string, input: unknown, context?: Partial<CallContext>): Promise<ToolResult>;
}

/** Options of {@link createRegistry}. */
export interface RegistryOptions {
  /** Where whole outputs are kept. @default that of the first tool that has one, else a private temporary folder */
  readonly outputs?: OutputStore;
  /** Time a tool has to end after its signal aborted, before the call settles without it, ms. @default 10_000 */
  readonly settleGraceMs?: number;
}

interface Entry {
  readonly tool: Tool;
  readonly parser: () => InputParser;
  description?: ToolDescription;
}

/** @throws ToolError `invalid_tool`, `invalid_schema` or `duplicate_tool` */
export function createRegistry(tools: ToolSource = [], options: RegistryOptions = {}): ToolRegistry {
  const entries = new Map<string, Entry>();
  const names = new Map<string, string>(); // name or alias -> name
  const { settleGraceMs = SETTLE_GRACE_MS } = options;
  const outputs = (): OutputStore =>
    options.outputs ??
    [...entries.values()].find(({ tool }) => tool.outputs !== undefined)?.tool.outputs ??
    temporaryOutputStore();

  const entryOf = (name: string): Entry | undefined => entries.get(names.get(name) ?? '');
  const register = (like: ToolLike, name?: string): Tool => {
    const tool = toTool(like, name);
    const taken = [tool.name, ...tool.aliases].find((each, at, all) => names.has(each) || all.indexOf(each) !== at);
    if (taken !== undefined)
      throw refusal('duplicate_tool', `Tool "${tool.name}" cannot be added: the name "${taken}" is taken.`);
    entries.set(tool.name, { tool, parser: lazy(() => inputParser(tool.inputSchema, parserOptions(tool))) });
    for (const each of [tool.name, ...tool.aliases]) names.set(each, tool.name);
    return tool;
  };
  const prepare: ToolRegistry['prepare'] = async (name, input) => {
    const entry = entryOf(name);
    if (entry === undefined) return { refused: unknownTool(String(name), [...entries.keys()]) };
    return prepareCall(entry, input ?? {}, () => ({ outputs: outputs(), settleGraceMs }));
  };
  if (Array.isArray(tools)) for (const tool of tools as readonly ToolLike[]) register(tool);
  else for (const [name, tool] of Object.entries(tools)) register(tool, name);

  return {
    register,
    unregister(name) {
      const entry = entries.get(name);
      if (entry === undefined) return false;
      for (const each of [name, ...entry.tool.aliases]) names.delete(each);
      return entries.delete(name);
    },
    get: (name) => entryOf(name)?.tool,
    list: () => [...entries.values()].map(({ tool }) => tool),
    definitions: () => [...entries.values()].map(describe),
    prepare,
    async call(name, input, context) {
      const prepared = await prepare(name, input);
      return 'refused' in prepared ? prepared.refused : prepared.call.run(context as CallContext); // what is missing is completed there
    },
  };
}

async function prepareCall(
  { tool, parser }: Entry,
  input: unknown,
  settings: () => CallSettings,
): Promise<{ readonly call: PreparedCall } | { readonly refused: ToolResult }> {
  try {
    const parsed = await parser()(input);
    if (!parsed.ok)
      return { refused: failure('invalid_input', `Invalid input for ${tool.name}. ${parsed.issues.join('; ')}`) };
    const { value } = parsed;
    return {
      call: {
        tool,
        input: value,
        ...callFacts(tool, value),
        run: (context?: Partial<CallContext>) => runCall(tool, value, context, settings()),
      },
    };
  } catch (error) {
    return { refused: failure('invalid_schema', `The input of ${tool.name} cannot be checked: ${messageOf(error)}`) };
  }
}

function describe(entry: Entry): ToolDescription {
  const { tool } = entry;
  entry.description ??= { name: tool.name, description: tool.description, inputSchema: inputJsonSchema(tool) };
  return entry.description;
}

/** A schema that came over a wire may hold an expression that stops the event loop; its server checks it anyway. */
function parserOptions(tool: Tool): { readonly ignorePatterns: boolean } {
  return { ignorePatterns: tool.source.startsWith('mcp:') };
}

function unknownTool(name: string, known: readonly string[]): ToolResult {
  const list = known.length === 0 ? 'There are no tools.' : `Tools: ${known.join(', ')}.`;
  return failure('unknown_tool', `No tool named ${JSON.stringify(name.slice(0, 80))}. ${list.slice(0, 2000)}`);
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
