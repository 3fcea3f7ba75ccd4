import { callsInBody, type ToolCalls, withShownCalls } from './provider-tool-calls.js';
import { serviceTierIn } from './service-tier.js';
import { usageOf } from './token-counts.js';
import type { Usage } from './types.js';

type Fields = Readonly<Record<string, unknown>>;

/** Under this name the calls that the answer shows are kept with its usage; no provider's figure is called so. */
const shownCalls = 'stint_shown_tool_calls';

/**
 * The usage object inside a provider's own body or stream event: Anthropic (message, message_start, message_delta),
 * OpenAI chat, OpenAI responses (body or its `response.*` events), Google. Undefined if it holds none. What stands beside it is put in:
 * OpenAI's tier, and the calls of tools that the answer shows.
 */
export function rawUsageObject(body: unknown): Fields | undefined {
  const top = fieldsOf(body);
  if (top === undefined) return undefined;
  const holder = fieldsOf(top['message']) ?? fieldsOf(top['response']) ?? top;
  const usage = fieldsOf(top['usage']) ?? fieldsOf(holder['usage']) ?? fieldsOf(top['usageMetadata']);
  const beside = usage === undefined ? {} : factsBeside(holder, holder['service_tier'] ?? top['service_tier']);
  return Object.keys(beside).length === 0 ? usage : { ...usage, ...beside };
}

function factsBeside(holder: Fields, tier: unknown): Fields {
  const shown = callsInBody(holder);
  return {
    ...(typeof tier === 'string' ? { service_tier: tier } : {}),
    ...(Object.keys(shown).length === 0 ? {} : { [shownCalls]: shown }),
  };
}

/**
 * Usage objects of one stream, one after the other: reports are cumulative, so a later figure replaces an earlier one,
 * and a figure that is left out stays.
 */
export function mergeRawUsage(earlier: Fields | undefined, later: Fields): Fields {
  const told = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(told) };
}

/** The usage that a provider's usage object tells, whichever dialect it is in; null if it is none of them. */
export function usageOfRaw(raw: unknown): Usage | null {
  const fields = fieldsOf(raw);
  const usage = fields === undefined ? null : usageOfFields(fields);
  const serviceTier = serviceTierIn(fields);
  const withCalls = withShownCalls(usage, (fieldsOf(fields?.[shownCalls]) ?? {}) as ToolCalls);
  return withCalls === null || serviceTier === undefined ? withCalls : { ...withCalls, serviceTier };
}

function usageOfFields(fields: Fields): Usage | null {
  if ('promptTokenCount' in fields || 'candidatesTokenCount' in fields) return usageOfGoogle(fields);
  if ('prompt_tokens' in fields || 'completion_tokens' in fields) return usageOfOpenAi(fields, 'prompt', 'completion');
  if ('input_tokens_details' in fields || 'total_tokens' in fields) return usageOfOpenAi(fields, 'input', 'output');
  if ('input_tokens' in fields || 'output_tokens' in fields) return usageOfAnthropic(fields);
  return null;
}

/**
 * OpenAI, chat and responses: the prompt count includes cached tokens, the answer's includes reasoning. Servers that are compatible may
 * break either rule, which their total shows: what it has beyond both counts is the cached tokens if it is as many, else answer (xAI and
 * Gemini leave reasoning out).
 */
function usageOfOpenAi(fields: Fields, prompt: 'prompt' | 'input', answer: 'completion' | 'output'): Usage | null {
  const promptDetails = fieldsOf(fields[`${prompt}_tokens_details`]) ?? {};
  const answerDetails = fieldsOf(fields[`${answer}_tokens_details`]) ?? {};
  const cacheRead = count(promptDetails, 'cached_tokens') || count(fields, 'prompt_cache_hit_tokens');
  const cacheWrite = count(promptDetails, 'cache_write_tokens');
  const cached = cacheRead + cacheWrite;
  const counts = { prompt: count(fields, `${prompt}_tokens`), answer: count(fields, `${answer}_tokens`) };
  const beyond = Math.max(0, count(fields, 'total_tokens') - counts.prompt - counts.answer);
  const excludesCached = beyond > 0 && beyond === cached;
  const unseen = excludesCached ? 0 : beyond;
  return usageOf({
    input: excludesCached ? counts.prompt : withoutCached(counts.prompt, cached),
    output: counts.answer + unseen,
    cacheRead,
    cacheWrite,
    reasoning: Math.max(count(answerDetails, 'reasoning_tokens'), unseen),
  });
}

/**
 * Anthropic: the input count excludes cached tokens, read and written ones stand beside it. With iterations (a compaction before the message)
 * the counts are those of the last one, and the iterations' are to be summed.
 */
function usageOfAnthropic(fields: Fields): Usage | null {
  const usage = usageOf({
    input: Math.max(count(fields, 'input_tokens'), sumOfIterations(fields, 'input_tokens')),
    output: Math.max(count(fields, 'output_tokens'), sumOfIterations(fields, 'output_tokens')),
    cacheRead: count(fields, 'cache_read_input_tokens'),
    cacheWrite: count(fields, 'cache_creation_input_tokens'),
    reasoning: count(fieldsOf(fields['output_tokens_details']) ?? {}, 'thinking_tokens'),
  });
  if (usage === null) return null;
  const oneHour = fieldsOf(fields['cache_creation'])?.['ephemeral_1h_input_tokens'];
  const tools = toolCalls(fieldsOf(fields['server_tool_use']));
  return {
    ...usage,
    ...(typeof oneHour === 'number' ? { cacheWrite1hTokens: oneHour } : {}),
    ...(tools ? { providerToolCalls: tools } : {}),
  };
}

function sumOfIterations({ iterations }: Fields, name: string): number {
  if (!Array.isArray(iterations)) return 0;
  const own = iterations.filter((each) => ['compaction', 'message'].includes(String(fieldsOf(each)?.['type'])));
  return own.reduce((sum: number, each) => sum + count(each as Fields, name), 0);
}

/** `{ web_search_requests: 3 }` as `{ web_search: 3 }`; calls that the provider reports, not items it shows. */
function toolCalls(fields: Fields | undefined): Readonly<Record<string, number>> | undefined {
  const entries = Object.entries(fields ?? {})
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0)
    .map(([name, calls]): [string, number] => [name.replace(/_requests$/, ''), calls]);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** Google: the prompt count includes cached tokens, the answer's excludes thoughts. */
function usageOfGoogle(fields: Fields): Usage | null {
  const cacheRead = count(fields, 'cachedContentTokenCount');
  const reasoning = count(fields, 'thoughtsTokenCount');
  return usageOf({
    input: withoutCached(count(fields, 'promptTokenCount') + count(fields, 'toolUsePromptTokenCount'), cacheRead),
    output: count(fields, 'candidatesTokenCount') + reasoning,
    cacheRead,
    cacheWrite: 0,
    reasoning,
  });
}

/** A count that is smaller than its cached part cannot include it: a server that breaks its dialect's rule. */
function withoutCached(prompt: number, cached: number): number {
  return prompt >= cached ? prompt - cached : prompt;
}

function count(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
