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
 * v3 and v4: `total` counts cached tokens too, with every provider. `noCache` is used only where the total cannot hold
 * the cached ones, that is, where a model breaks that rule. The provider's own body knows of answer tokens that its adapter left out.
 */
function usageOfNested(usage: NestedUsage): Usage | null {
  const { inputTokens: input = {}, outputTokens: output = {} } = usage;
  if (input.total === undefined && input.noCache === undefined && output.total === undefined) return null;
  const cacheRead = input.cacheRead ?? 0;
  const cacheWrite = input.cacheWrite ?? 0;
  const total = input.total ?? (input.noCache ?? 0) + cacheRead + cacheWrite;
  const cached = cacheRead + cacheWrite;
  const raw = usageOfRaw(usage.raw);
  const counts = {
    input: total >= cached ? total - cached : (input.noCache ?? total),
    // An impossible count stays one, unless the body has a possible one.
    output: raw === null ? (output.total ?? 0) : Math.max(output.total ?? 0, raw.outputTokens),
    cacheRead,
    cacheWrite,
    reasoning: raw === null ? (output.reasoning ?? 0) : Math.max(output.reasoning ?? 0, raw.reasoningTokens),
  };
  return withExtras(usageOf(counts), raw);
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
function withExtras(usage: Usage | null, raw: Usage | null): Usage | null {
  if (usage === null || raw === null) return usage;
  return {
    ...usage,
    ...(raw.cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens: raw.cacheWrite1hTokens }),
    ...(raw.providerToolCalls === undefined ? {} : { providerToolCalls: raw.providerToolCalls }),
    ...(raw.serviceTier === undefined ? {} : { serviceTier: raw.serviceTier }),
  };
}
