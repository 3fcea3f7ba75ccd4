import {
  createGoogleGenerativeAI,
  type GoogleGenerativeAIProvider,
  type GoogleGenerativeAIProviderSettings,
} from '@ai-sdk/google';
import { hookProvider } from './hook-provider.js';

/** Google's Gemini, with its requests through the hooked fetch. A `fetch` in the settings is what the hooked one calls. */
export function google(settings: GoogleGenerativeAIProviderSettings = {}): GoogleGenerativeAIProvider {
  const options = settings.fetch === undefined ? {} : { fetch: settings.fetch };
  return hookProvider((fetch) => createGoogleGenerativeAI({ ...settings, fetch }), options);
}
