import { usageOfRaw } from './raw-usage.js';
import { serviceTierAmong } from './service-tier.js';
import { usageOf } from './token-counts.js';
import type { Usage } from './types.js';

interface NestedUsage {
  readonly inputTokens?: { total?: number; noCache?: number; cacheRead?: number; cacheWrite?: number };
  readonly outputTokens?: { total?: number; reasoning?: number };
  readonly raw?: unknown;
}

interface FlatUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
}

/** The usage that an AI SDK result tells, of specification v2 (flat) or v3 and v4 (nested). Null if it tells none. */
export function usageOfResult(usage: unknown, provider: string, providerMetadata?: unknown): Usage | null {
  if (typeof usage !== 'object' || usage === null) return null;
  const { inputTokens } = usage as { inputTokens?: unknown };
  const isNested = typeof inputTokens === 'object' && inputTokens !== null;
  const told = isNested ? usageOfNested(usage) : usageOfFlat(usage, provider, providerMetadata);
  const serviceTier = serviceTierAmong(providerMetadata);
  return told === null || serviceTier === undefined ? told : { ...told, serviceTier };
}

/**
 * v3 and v4. The provider's own usage, which an adapter hands on as `raw`, says more than the adapter's figures: some leave tokens out (Google's
 * of tools' results, xAI's reasoning) or do not know which were cached. It is taken unless it counts fewer tokens, as a last piece of a stream does.
 */
function usageOfNested(usage: NestedUsage): Usage | null {
  const adapted = adaptedUsage(usage);
  const raw = usageOfRaw(usage.raw);
  if (adapted === null || raw === null) return adapted ?? raw;
  if (raw.totalTokens < adapted.totalTokens) return withExtras(adapted, raw);
  return {
    ...raw,
    reasoningTokens: Math.max(raw.reasoningTokens, Math.min(adapted.reasoningTokens, raw.outputTokens)),
  };
}

/**
 * The adapter's figures: `total` counts cached tokens too, with every provider. `noCache` is used only where the total cannot hold the cached
 * ones, that is, where a model breaks that rule.
 */
function adaptedUsage({ inputTokens: input = {}, outputTokens: output = {} }: NestedUsage): Usage | null {
  if (input.total === undefined && input.noCache === undefined && output.total === undefined) return null;
  const cacheRead = input.cacheRead ?? 0;
  const cacheWrite = input.cacheWrite ?? 0;
  const total = input.total ?? (input.noCache ?? 0) + cacheRead + cacheWrite;
  const cached = cacheRead + cacheWrite;
  return usageOf({
    input: total >= cached ? total - cached : (input.noCache ?? total),
    output: output.total ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: output.reasoning ?? 0,
  });
}

/**
 * v2: `inputTokens` counts cached tokens, but not with Anthropic, whose cache writes stand in its metadata. Google's
 * `outputTokens` leaves reasoning out, which its total shows.
 */
function usageOfFlat(usage: FlatUsage, provider: string, providerMetadata: unknown): Usage | null {
  const {
    inputTokens,
    outputTokens,
    totalTokens,
    reasoningTokens: reasoning = 0,
    cachedInputTokens: cacheRead = 0,
  } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return null;
  const [prompt, answer] = [inputTokens ?? 0, outputTokens ?? 0];
  const isAnthropic = provider.toLowerCase().includes('anthropic');
  const answerWithoutReasoning = reasoning > 0 && totalTokens === prompt + answer + reasoning;
  return usageOf({
    input: isAnthropic ? prompt : Math.max(0, prompt - cacheRead),
    output: answerWithoutReasoning ? answer + reasoning : answer,
    cacheRead,
    cacheWrite: isAnthropic ? anthropicCacheWrite(providerMetadata) : 0,
    reasoning,
  });
}

function anthropicCacheWrite(providerMetadata: unknown): number {
  const metadata = (providerMetadata as { anthropic?: { cacheCreationInputTokens?: unknown } } | undefined)?.anthropic;
  return typeof metadata?.cacheCreationInputTokens === 'number' ? metadata.cacheCreationInputTokens : 0;
}

/** What only the provider's own body tells: one-hour cache writes, calls of tools it ran, the tier. */
function withExtras(usage: Usage, raw: Usage): Usage {
  return {
    ...usage,
    ...(raw.cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens: raw.cacheWrite1hTokens }),
    ...(raw.providerToolCalls === undefined ? {} : { providerToolCalls: raw.providerToolCalls }),
    ...(raw.serviceTier === undefined ? {} : { serviceTier: raw.serviceTier }),
  };
}
