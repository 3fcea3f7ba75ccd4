import { createOpenAI, type OpenAIProvider, type OpenAIProviderSettings } from '@ai-sdk/openai';
import { hookProvider } from './hook-provider.js';

/** OpenAI, responses and chat, with its requests through the hooked fetch. A `fetch` in the settings is what the hooked one calls. */
export function openai(settings: OpenAIProviderSettings = {}): OpenAIProvider {
  const options = settings.fetch === undefined ? {} : { fetch: settings.fetch };
  return hookProvider((fetch) => createOpenAI({ ...settings, fetch }), options);
}

export { openaiPastAnswers } from './openai-past-answers.js';
