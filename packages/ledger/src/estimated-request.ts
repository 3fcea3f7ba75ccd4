import type { FrozenRequest } from '@stint/provider-hooks';
import { LedgerError } from './errors.js';
import { isCount } from './integers.js';

/** What an estimate reads of a request; a `FrozenRequest` of provider-hooks is one. */
export type EstimatedRequest = Pick<FrozenRequest, 'model' | 'prompt'> &
  Partial<Pick<FrozenRequest, 'tools' | 'settings'>> & {
    /** The tier that is asked for. @default what `settings.providerOptions` asks for, else the standard one */
    readonly serviceTier?: string;
    /** Context kept at the provider that this request continues. @default that of the options */
    readonly storedContextTokens?: number;
    /** Other models that may answer, `provider:name`: the dearest of all is held. @default none */
    readonly alternatives?: readonly string[];
  };

/** The one asked for, the alternatives, and those that Anthropic's `fallbacks` name. */
export function modelsOf({ model, alternatives = [], settings }: EstimatedRequest): readonly string[] {
  const fallbacks = Object.values(settings?.providerOptions ?? {}).flatMap(({ fallbacks: named }) => named ?? []);
  const names = fallbacks.map((each) =>
    typeof each === 'object' ? (each as { model?: unknown } | null)?.model : each,
  );
  return [model, ...alternatives, ...names.map((name) => `${model.split(':', 1)[0]}:${String(name)}`)];
}

/** True if the provider may read the prompt twice: to write a shorter one, and to answer that. Both are billed. */
export function compactsFirst({ settings }: EstimatedRequest): boolean {
  return Object.values(settings?.providerOptions ?? {}).some(({ contextManagement }) =>
    (JSON.stringify(contextManagement) ?? '').includes('"compact'),
  );
}

/** @throws LedgerError `invalid_estimate` unless the amount is an integer from 0 to 2^53-1 */
export function checkedAmount(amount: number, { model }: EstimatedRequest): number {
  if (isCount(amount)) return amount;
  throw new LedgerError(
    'invalid_estimate',
    `The estimate of a request to ${model} came out as ${String(amount)}; nothing may be sent on it.`,
  );
}
