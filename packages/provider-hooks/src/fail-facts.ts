/**
 * Tokens of one answer, each counted once whatever the provider's dialect.
 * `totalTokens` = input + cacheRead + cacheWrite + output.
 */
export interface Usage {
  /** Prompt tokens that came from no cache and went to none. */
  readonly inputTokens: number;
  /** Answer tokens, reasoning among them. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Prompt tokens written to a cache, of every lifetime. */
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that was written for one hour, where the provider tells. */
  readonly cacheWrite1hTokens?: number;
  /** The part of `outputTokens` that was reasoning. */
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  /** Calls of tools that the provider ran itself, by its name for them. */
  readonly providerToolCalls?: Readonly<Record<string, number>>;
  /** The tier that served the request (`priority`, `batch`, `flex`), in lower case; absent for the standard one, or where none is told. */
  readonly serviceTier?: string;
}

/** What is known of a request that brought no complete answer. Facts of the transport, not guesses. */
export interface FailFacts {
  /** True if bytes may have reached the provider. */
  readonly sent: boolean;
  /** HTTP status, null if no response head came. */
  readonly status: number | null;
  readonly refusedByProvider: boolean;
  /** Proof that no paid work was done; null means nobody knows. */
  readonly proof: 'not_sent' | 'refused' | null;
  /** The usage told so far. */
  readonly usage: Usage | null;
  readonly retryAfterMs: number | null;
  /** The answer's text so far. */
  readonly partialText: string;
}
