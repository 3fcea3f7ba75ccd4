import type { LanguageModelV3CallOptions, LanguageModelV3Content, LanguageModelV3Message } from '@ai-sdk/provider';
import type { ProviderError } from './errors.js';
import type { FailFacts, Usage } from './fail-facts.js';
import type { HookName } from './hook-name.js';

export type { FailFacts, HookName, Usage };

/** One message of a prompt in AI SDK form (system, user, assistant or tool). JSON-safe as the engine builds it. */
export type PromptMessage = LanguageModelV3Message;

/** One part of an answer in AI SDK form: text, reasoning (with its signature in `providerMetadata`), tool-call, file, source ... */
export type ContentPart = LanguageModelV3Content;

/** A tool as the provider is told of it. */
export type ToolDefinition = NonNullable<LanguageModelV3CallOptions['tools']>[number];

/** How much a model may think before it answers, in the words of no provider; one that has fewer steps takes the next. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** The settings of a call, all of AI SDK's except prompt, tools, signal and headers. */
export type CallSettings = Omit<
  LanguageModelV3CallOptions,
  'prompt' | 'tools' | 'abortSignal' | 'headers' | 'includeRawChunks'
> & {
  /** @default the provider's own */
  readonly effort?: Effort;
};

/** Why the model stopped. `other` and `interrupted` and `error` are never complete answers. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'interrupted' | 'other';

/** What one entry of a run's history is. A `compaction` stands for everything before it except its last `keep` entries. */
export type HistoryEntryKind = 'input' | 'response' | 'tool-result' | 'note' | 'partial' | 'compaction';

/** One message of a run's history. `key` is unique within its owner, made of identities, so that storing twice stores once. */
export interface HistoryEntry {
  readonly key: string;
  readonly kind: HistoryEntryKind;
  readonly message: PromptMessage;
  /** The id of the pending input that this entry carries. */
  readonly inputId?: string;
  /** Of a `compaction`: how many entries right before it stay visible, after it. @default 0 */
  readonly keep?: number;
}

/** What is spent of a budget and what is left of it, as whoever keeps it tells. Null: no limit, or not known. */
export interface Budget {
  readonly spentTokens: number | null;
  readonly remainingTokens: number | null;
  readonly spentCostMicros: number | null;
  readonly remainingCostMicros: number | null;
  readonly remainingRequests: number | null;
}

/** Facts about a call that only the loop around it knows. */
export interface CallFacts {
  /** Number of the turn within its run, from 1. Retries of a turn keep its number. @default 0 */
  readonly turnNumber?: number;
  /** Ids of the pending inputs that this request carries. @default [] */
  readonly inputIds?: readonly string[];
  /** The id of the request that this one repeats. */
  readonly retryOf?: string;
  /** History entries that this request carries and no answered request before it did. @default [] */
  readonly entries?: readonly HistoryEntry[];
  /** What the request is for, if not a turn of a loop: a compaction, a title ... @default 'turn' */
  readonly purpose?: string;
  /** How the budget stood before this request. */
  readonly budget?: Budget;
}

/** A request as it will leave: frozen before `prepare`, the same object until its end. */
export interface FrozenRequest {
  /** `provider:name`. */
  readonly model: string;
  readonly provider: string;
  readonly modelId: string;
  readonly prompt: readonly PromptMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly settings: CallSettings;
  /** SHA-256 (hex) over model, settings, tools and prompt. */
  readonly hash: string;
  readonly stream: boolean;
  readonly turnNumber: number;
  readonly inputIds: readonly string[];
  readonly entries: readonly HistoryEntry[];
  readonly purpose: string;
  readonly retryOf?: string;
  readonly budget?: Budget;
}

/** What `prepare` hands back; `id` is turn id, ledger request id and `x-client-request-id` in one. */
export interface TurnHandle {
  readonly id: string;
}

/** A complete answer. */
export interface TurnResponse {
  readonly content: readonly ContentPart[];
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Null if the provider told none: unmeasured, not zero. */
  readonly usage: Usage | null;
  /** The model that answered, as the provider named it; else the one asked. */
  readonly model: string;
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/**
 * The four hooks around one request, all awaited, in this order: prepare, start, then exactly one of finish and fail.
 *
 * A guard (the default) fails closed: a throw, a hang beyond `hookTimeoutMs` or a value of another shape from `prepare` or
 * `start` means that nothing is sent. A guard's `finish` or `fail` that throws an error with `retryable: true` has stored
 * nothing, and is called again a few times within `hookTimeoutMs`. A `start` that is still at work when its time is up is
 * failed with `sent: false`; what it stores after that is its own to undo. What an observer throws is reported and
 * otherwise ignored.
 */
export interface ProviderHooks<H extends TurnHandle = TurnHandle> {
  /** `observer`: may answer null to `prepare`, and its errors stop nothing. @default 'guard' */
  readonly role?: 'guard' | 'observer';
  /** The request is fixed, nothing has left and nothing is stored. Throw to end the call. */
  prepare(request: FrozenRequest): Promise<H | null>;
  /** The last moment before bytes leave. Throw to deny; `fail` then follows with `sent: false`. */
  start(handle: H): Promise<void>;
  /**
   * A started request is at a further moment at which it may be stopped: a callback of the provider's own (`recheckCall`),
   * or the fetch of a model whose boundary is the invocation. Nothing is paid anew. Throw to stop the request.
   */
  recheck?(handle: H): Promise<void>;
  /**
   * A stream told by which id the provider keeps the answer, so that it can be asked for after a crash. Called once, before
   * anything of the answer is handed on; its errors stop nothing.
   */
  identified?(handle: H, responseId: string): Promise<void>;
  /** The stop event was seen and the stream has ended. */
  finish(handle: H, response: TurnResponse): Promise<void>;
  /** Anything else, before a retry or an abort is decided. */
  fail(handle: H, error: ProviderError, facts: FailFacts): Promise<void>;
}
