import type { LanguageModelV3, LanguageModelV3Middleware } from '@ai-sdk/provider';
import {
  type HookedModel,
  type HookOptions,
  hookModel,
  type LanguageModelLike,
  type ProviderHooks,
  type TurnHandle,
} from '@stint/provider-hooks';
import { Guard, type GuardedRequest, type GuardOptions } from './guard.js';
import type { Ledger } from './ledger.js';

export { type GuardOptions, refusalReasonOf } from './guard.js';

/** The turn of a request that the ledger guards; its id is the ledger request's. */
export interface GuardedTurn extends TurnHandle {
  readonly request: GuardedRequest;
  readonly retryOf?: string;
}

/** Hooks for `hookModel` that admit each request before it leaves, and settle it after. For one hook set with other duties use the bodies. */
export function ledgerHooks(ledger: Ledger, options: GuardOptions): ProviderHooks<GuardedTurn> {
  const guard = new Guard(ledger, options);
  return {
    role: 'guard',
    async prepare(frozen) {
      const request = guard.prepare(frozen);
      return { id: request.id, request, ...(frozen.retryOf === undefined ? {} : { retryOf: frozen.retryOf }) };
    },
    start: ({ request, retryOf }) => guard.hold(request, retryOf),
    finish: ({ request }, { usage, model }) => guard.settle(request, usage, model),
    fail: ({ request }, _error, { proof, usage }) => guard.fail(request, proof, usage),
  };
}

/**
 * The model, capped: every request of it is admitted by the ledger before it leaves. Works with models of specification v2, v3 and v4.
 * A refused request throws; `refusalReasonOf(error)` tells why.
 */
export function cappedModel<M extends LanguageModelLike>(
  model: M,
  ledger: Ledger,
  options: GuardOptions & HookOptions,
): M & HookedModel {
  return hookModel(model, ledgerHooks(ledger, options), options);
}

/** The same as a middleware for `wrapLanguageModel`. Set `maxRetries: 0`, or each retry is a request of its own. */
export function ledgerMiddleware(ledger: Ledger, options: GuardOptions & HookOptions): LanguageModelV3Middleware {
  const hooks = ledgerHooks(ledger, options);
  return {
    specificationVersion: 'v3',
    wrapGenerate: ({ doGenerate, doStream, params, model }) =>
      guardedCall(model, { doGenerate, doStream }).doGenerate(params),
    wrapStream: ({ doGenerate, doStream, params, model }) =>
      guardedCall(model, { doGenerate, doStream }).doStream(params),
  };

  /** The wrapped model, for one call: what it is asked is known to the middleware's callbacks already. */
  function guardedCall(
    { specificationVersion, provider, modelId }: LanguageModelV3,
    calls: Pick<LanguageModelV3, 'doGenerate' | 'doStream'>,
  ): LanguageModelV3 {
    const model = { specificationVersion, provider, modelId, ...calls } as LanguageModelV3;
    return hookModel(model, hooks, options);
  }
}
