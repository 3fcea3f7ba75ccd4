import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
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

/** A call as `wrapLanguageModel` hands it to a middleware, whatever the specification of its results. */
export interface WrappedCall<Result, StreamResult> {
  readonly doGenerate: () => PromiseLike<Result>;
  readonly doStream: () => PromiseLike<StreamResult>;
  readonly params: object;
  readonly model: { readonly specificationVersion: string; readonly provider: string; readonly modelId: string };
}

/** Fits the middleware types of AI SDK 6 and 7 alike. */
export interface LedgerMiddleware {
  readonly specificationVersion: 'v3';
  readonly wrapGenerate: <Result, StreamResult>(call: WrappedCall<Result, StreamResult>) => Promise<Result>;
  readonly wrapStream: <Result, StreamResult>(call: WrappedCall<Result, StreamResult>) => Promise<StreamResult>;
}

/** The same as a middleware for `wrapLanguageModel`. Set `maxRetries: 0`, or each retry is a request of its own. */
export function ledgerMiddleware(ledger: Ledger, options: GuardOptions & HookOptions): LedgerMiddleware {
  const hooks = ledgerHooks(ledger, options);
  return {
    specificationVersion: 'v3',
    async wrapGenerate<Result, StreamResult>(call: WrappedCall<Result, StreamResult>) {
      return (await guarded(call).doGenerate(call.params as LanguageModelV3CallOptions)) as Result;
    },
    async wrapStream<Result, StreamResult>(call: WrappedCall<Result, StreamResult>) {
      return (await guarded(call).doStream(call.params as LanguageModelV3CallOptions)) as StreamResult;
    },
  };

  /** The wrapped model, for one call: what it is asked is known to the middleware's callbacks already. */
  function guarded({ model, doGenerate, doStream }: WrappedCall<unknown, unknown>): LanguageModelV3 {
    const { specificationVersion, provider, modelId } = model;
    const calls = { specificationVersion, provider, modelId, doGenerate, doStream } as unknown as LanguageModelV3;
    return hookModel(calls, hooks, options);
  }
}
