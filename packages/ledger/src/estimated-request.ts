import { type FrozenRequest, serviceTierAmong, serviceTierIn } from '@stint/provider-hooks';
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

/** What Anthropic's `fallbacks` say of an attempt that may follow. */
interface Fallback {
  readonly model: string;
  readonly max_tokens?: unknown;
  readonly speed?: unknown;
}

function fallbacksOf({ settings }: EstimatedRequest): readonly Fallback[] {
  const named = Object.values(settings?.providerOptions ?? {}).flatMap(({ fallbacks }) => fallbacks ?? []);
  return named.map((each) => (typeof each === 'object' ? (each as unknown as Fallback) : { model: String(each) }));
}

/** The one asked for, the alternatives, and those that `fallbacks` name. */
export function modelsOf(request: EstimatedRequest): readonly string[] {
  const provider = request.model.split(':', 1)[0];
  const fallbacks = fallbacksOf(request).map(({ model }) => `${provider}:${model}`);
  return [request.model, ...(request.alternatives ?? []), ...fallbacks];
}

/** The settings, with the longest answer that is allowed, also to an attempt that may follow. */
export function longestSettings(request: EstimatedRequest): EstimatedRequest['settings'] {
  const { settings } = request;
  if (settings?.maxOutputTokens === undefined) return settings;
  const maxima = fallbacksOf(request).map(({ max_tokens: most }) => (isCount(most) ? most : 0));
  return { ...settings, maxOutputTokens: Math.max(settings.maxOutputTokens, ...maxima) };
}

/** The tiers that are asked for, also for an attempt that may follow; undefined stands for the standard one. */
export function tiersOf(request: EstimatedRequest): readonly (string | undefined)[] {
  const asked = request.serviceTier ?? serviceTierAmong(request.settings?.providerOptions);
  return [asked, ...fallbacksOf(request).map(({ speed }) => serviceTierIn({ speed }))];
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
