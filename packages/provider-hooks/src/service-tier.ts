const standardTiers: ReadonlySet<string> = new Set(['auto', 'default', 'on_demand', 'standard', 'standard_only']);
const tierWord = /^[a-z][a-z0-9_.-]{0,63}$/u;

/** The tier that a request asked for or was served by, where it is not the standard one; undefined else. */
export function serviceTierOf(told: unknown): string | undefined {
  if (typeof told !== 'string') return undefined;
  const tier = told.toLowerCase();
  return standardTiers.has(tier) || !tierWord.test(tier) ? undefined : tier;
}

/** The tier among what a provider of the AI SDK tells, or is told, beside its standard fields: `{ openai: { serviceTier } }`. */
export function serviceTierAmong(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  for (const fields of Object.values(metadata)) {
    const tier = serviceTierOf((fields as { serviceTier?: unknown } | null)?.serviceTier);
    if (tier !== undefined) return tier;
  }
  return undefined;
}
