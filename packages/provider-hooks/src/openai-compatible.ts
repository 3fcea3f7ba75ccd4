import {
  createOpenAICompatible,
  type OpenAICompatibleProvider,
  type OpenAICompatibleProviderSettings,
} from '@ai-sdk/openai-compatible';
import { hookProvider } from './hook-provider.js';

/**
 * Any server that speaks OpenAI's chat completions, with its requests through the hooked fetch. Usage is always asked
 * for: without `includeUsage` such a server tells none, and every answer would be unmeasured.
 */
export function openaiCompatible(settings: OpenAICompatibleProviderSettings): OpenAICompatibleProvider {
  return hookProvider((fetch) => createOpenAICompatible({ includeUsage: true, ...settings, fetch }), base(settings));
}

function base({ fetch }: OpenAICompatibleProviderSettings): { readonly fetch?: typeof globalThis.fetch } {
  return fetch === undefined ? {} : { fetch };
}
