import type {
  CallFacts,
  CallSettings,
  ContentPart,
  HookName,
  PromptMessage,
  ToolDefinition,
  TurnResponse,
} from './types.js';

/** Any AI SDK language model of specification v2, v3 or v4, as far as this package looks at it. */
export interface LanguageModelLike {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  // Parameters differ between the specifications; `never` lets every one of them be assigned.
  doGenerate(options: never): PromiseLike<object>;
  doStream(options: never): PromiseLike<object>;
}

/** One request through a hooked model, in the normal form that is the same for all specifications. */
export interface ModelCall {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly ToolDefinition[];
  readonly settings?: CallSettings;
  readonly facts?: CallFacts;
  readonly signal?: AbortSignal;
  /** False asks for the whole answer at once. @default true */
  readonly stream?: boolean;
}

/** What a request brings, in order; the last event is `finish`, given after the `finish` hook returned. */
export type ModelEvent =
  | { readonly type: 'text-delta'; readonly delta: string }
  | { readonly type: 'reasoning-delta'; readonly delta: string }
  | { readonly type: 'content'; readonly part: ContentPart }
  | { readonly type: 'finish'; readonly turnId: string | null; readonly response: TurnResponse };

/** Options of `hookModel`. */
export interface HookOptions {
  /** How long a hook may take before it counts as failed, in ms. @default 30_000 */
  readonly hookTimeoutMs?: number;
  /** Longest silence of a stream while a part is awaited, in ms; keep-alives do not count as sound. @default 60_000 */
  readonly idleLimitMs?: number;
  /** Longest wait for an answer that is asked for as a whole, which makes no sound before it is done, in ms. @default 300_000 */
  readonly wholeLimitMs?: number;
  /** Longest time of one request, in ms. @default 1_800_000 */
  readonly totalLimitMs?: number;
  /** Told what an observer's hook threw. @default ignored: an observer must not stop a request */
  readonly onObserverError?: (error: unknown, hook: HookName) => void;
}

/** An AI SDK model of the same specification as the one it wraps, every request of which goes through the hooks. */
export interface HookedModel extends LanguageModelLike {
  /** `provider:modelId`. */
  readonly name: string;
  /** Where `start` runs: at the provider's `fetch`, or when the model is invoked. */
  readonly boundary: 'fetch' | 'invocation';
  /** The request in normal form. Throws `ProviderError`. Ending the iteration early aborts the request. */
  stream(call: ModelCall): AsyncIterableIterator<ModelEvent>;
}
