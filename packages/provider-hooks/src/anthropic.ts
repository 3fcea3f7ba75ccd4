import { createAnthropic, type AnthropicProvider, type AnthropicProviderSettings } from '@ai-sdk/anthropic';
import { hookProvider } from './hook-provider.js';

/** Anthropic's messages, with its requests through the hooked fetch. A `fetch` in the settings is what the hooked one calls. */
export function anthropic(settings: AnthropicProviderSettings = {}): AnthropicProvider {
  const options = settings.fetch === undefined ? {} : { fetch: settings.fetch };
  return hookProvider((fetch) => createAnthropic({ ...settings, fetch }), options);
}
