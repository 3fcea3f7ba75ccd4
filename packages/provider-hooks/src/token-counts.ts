import type { Usage } from './types.js';

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** Usage out of counts that each stand for other tokens; null if one is no non-negative integer (an impossible report). */
export function usageOf(counts: TokenCounts): Usage | null {
  const { input, output, cacheRead, cacheWrite, reasoning } = counts;
  const all = [input, output, cacheRead, cacheWrite, reasoning];
  if (!all.every((count) => Number.isSafeInteger(count) && count >= 0)) return null;
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: Math.min(reasoning, output),
    totalTokens: input + output + cacheRead + cacheWrite,
  };
}
