/** What providers call serving at the list price, by any of the names in which a tier is told. */
const standardTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'global',
  'not_available',
  'on_demand',
  'standard',
  'standard_only',
]);
const tierWord = /^[a-z][a-z0-9_.-]{0,63}$/u;
const longestTier = 64;

/** The tier that a request asked for or was served by, where it is not the standard one; undefined else. */
function serviceTierOf(told: unknown): string | undefined {
  if (typeof told !== 'string') return undefined;
  const tier = told.toLowerCase();
  return standardTiers.has(tier) || !tierWord.test(tier) ? undefined : tier;
}

/**
 * The tier in a provider's own request, or in its usage object: `service_tier`, and what else changes the price of every token, which are
 * Anthropic's `speed` (`fast`) and `inference_geo` (`us`). Several are one tier, joined by dots: `priority.us`.
 */
export function serviceTierIn(fields: Readonly<Record<string, unknown>> | undefined): string | undefined {
  return joined([fields?.['service_tier'], fields?.['speed'], fields?.['inference_geo']]);
}

/** The tier among what a provider of the AI SDK tells, or is told, beside its standard fields: `{ openai: { serviceTier } }`. */
export function serviceTierAmong(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  for (const fields of Object.values(metadata)) {
    const { serviceTier, speed, inferenceGeo } = (fields ?? {}) as Record<string, unknown>;
    const tier = joined([serviceTier, speed, inferenceGeo]);
    if (tier !== undefined) return tier;
  }
  return undefined;
}

function joined(told: readonly unknown[]): string | undefined {
  const tiers = told.map(serviceTierOf).filter((tier) => tier !== undefined);
  return tiers.length === 0 ? undefined : tiers.join('.').slice(0, longestTier);
}
