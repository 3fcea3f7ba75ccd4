import type { CallSettings, Effort } from './types.js';

type Options = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What a model is invoked with: everything of the settings in its specification's own words. */
export type NativeSettings = Readonly<Record<string, unknown>>;

/**
 * Says `effort` in the words of a provider. Specification v4 has a setting of its own for it; before, each provider has an
 * option: what the caller's `providerOptions` say of it stands.
 */
export function nativeSettings(
  { effort, ...settings }: CallSettings,
  model: { readonly specificationVersion: string; readonly provider: string },
): NativeSettings {
  if (effort === undefined) return settings;
  if (model.specificationVersion === 'v4') return { reasoning: effort, ...settings };
  const name = model.provider.split('.')[0] ?? model.provider;
  const given = (settings.providerOptions ?? {}) as Options;
  const own = { ...optionsOf(name, effort), ...given[name] };
  return { ...settings, providerOptions: { ...given, [name]: own } };
}

function optionsOf(name: string, effort: Effort): Readonly<Record<string, unknown>> {
  switch (name) {
    case 'anthropic':
      return effort === 'none' ? { thinking: { type: 'disabled' } } : { effort: effort === 'minimal' ? 'low' : effort };
    case 'google':
      return { thinkingConfig: effort === 'none' ? { thinkingBudget: 0 } : { thinkingLevel: googleLevelOf(effort) } };
    default:
      return { reasoningEffort: effort };
  }
}

function googleLevelOf(effort: Effort): string {
  return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
}
