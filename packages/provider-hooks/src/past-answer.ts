import type { TurnResponse, Usage } from './types.js';

/**
 * What became of a request whose answer was lost, as far as its provider tells.
 * - `answered`: here is the answer; it was paid for and need not be asked for again
 * - `running`: the model is still at work; ask later
 * - `failed`: there is no answer and there will be none
 * - `not_kept`: the provider does not know the id (any more); nobody knows what happened
 */
export type PastAnswer =
  | { readonly state: 'answered'; readonly response: TurnResponse }
  | { readonly state: 'running' }
  | { readonly state: 'failed'; readonly usage: Usage | null }
  | { readonly state: 'not_kept' };

/** A request whose answer may be asked for: `responseId` is what the `identified` hook was told. */
export interface PastRequest {
  readonly responseId: string;
  /** The model's id, without its provider. */
  readonly modelId: string;
}

/** Asks a provider for the answer of a past request. Asking is free. Rejects with a `ProviderError` if it cannot be asked now. */
export type PastAnswers = (request: PastRequest, signal?: AbortSignal) => Promise<PastAnswer>;
