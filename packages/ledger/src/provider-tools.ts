import type { ToolDefinition } from '@stint/provider-hooks';
import { feeOf } from './cost.js';
import { isCount } from './integers.js';
import type { ModelPrice } from './price-book.js';

const defaultCalls = 5;
const defaultTokensOfCall = 8_000;
/** Tools that bring pages or passages into the prompt. */
const bringing = /search|fetch|url_?context|browse|web/iu;

/** What calls of tools that the provider runs are taken for, before they are made. */
export interface ToolCallRules {
  /** The most calls of each tool that states no maximum of its own. @default 5 */
  readonly providerToolCalls?: number;
  /** What a call of one that searches or fetches brings into the prompt. @default 8000 */
  readonly tokensOfToolCall?: number;
}

/** What is read of a request. */
interface ToolRequest {
  readonly tools?: readonly ToolDefinition[];
  readonly settings?: { readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

/** Fees of the tools that the provider runs, at the most calls allowed; null if one has no known fee. */
export function feesOfTools(request: ToolRequest, price: ModelPrice, rules: ToolCallRules): number | null {
  let fees = 0;
  for (const tool of providerTools(request)) {
    const fee = feeOf(price, tool.name);
    if (fee === null) return null;
    fees += fee * mostCallsOf(tool, request, rules);
  }
  return fees;
}

/** What those that search or fetch bring into the prompt, at the most calls allowed. */
export function tokensOfToolCalls(request: ToolRequest, rules: ToolCallRules): number {
  const { tokensOfToolCall = defaultTokensOfCall } = rules;
  const tools = providerTools(request).filter(({ id }) => bringing.test(id));
  return tools.reduce((sum, tool) => sum + tokensOfToolCall * mostCallsOf(tool, request, rules), 0);
}

type ProviderTool = Extract<ToolDefinition, { type: 'provider' }>;

function providerTools({ tools = [] }: ToolRequest): readonly ProviderTool[] {
  return tools.filter((tool) => tool.type === 'provider');
}

/** As the tool states, else as the request does for all of them, else what the rules take for it. */
function mostCallsOf({ args }: ProviderTool, { settings }: ToolRequest, rules: ToolCallRules): number {
  const forAll = Object.values(settings?.providerOptions ?? {}).map(({ maxToolCalls }) => maxToolCalls);
  const stated = [args.maxUses, args.max_uses, ...forAll].find(isCount);
  return stated ?? rules.providerToolCalls ?? defaultCalls;
}
