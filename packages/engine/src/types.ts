import type {
  Budget,
  CallSettings,
  FinishReason,
  HistoryEntry,
  HookedModel,
  PromptMessage,
  ProviderError,
  TurnResponse,
  Usage,
} from '@stint/provider-hooks';
import type { CallContext, ToolRegistry, ToolResult } from '@stint/tools';
import type { EngineError } from './errors.js';
import type { RunControl } from './run-control.js';

/** The tools of a run. A registry of `@stint/tools` is one. */
export type EngineTools = Pick<ToolRegistry, 'definitions' | 'prepare'>;

/** What a tool call is given beside its signal and id: workspace, gate, onProcess ... */
export type ToolCallContext = Omit<CallContext, 'signal' | 'toolCallId'>;

/** One tool call of an answer. */
export interface EngineToolCall {
  /** Id of the turn whose answer holds the call; `local-<uuid>` under observers alone. */
  readonly turnId: string;
  /** Place of the call among its answer's calls, from 0. (turn, call index) is its key. */
  readonly callIndex: number;
  readonly toolCallId: string;
  readonly tool: string;
  /** The parsed arguments. */
  readonly input: unknown;
  readonly readOnly: boolean;
  /** Neither read-only nor run-scoped: it gets an operation. */
  readonly hasExternalEffect: boolean;
}

/** What a side-effecting call did. */
export type OperationEffect = 'applied' | 'no_effect' | 'unknown';

export interface OperationOutcome {
  readonly result: ToolResult;
  readonly effect: OperationEffect;
  /** The result as history entry, to be stored in the transaction that ends the operation. */
  readonly entry: HistoryEntry;
}

/** Something a person (or a background task) said to the running loop. */
export interface PendingInput {
  /** Unique; the same id is never shown to the model twice. */
  readonly id: string;
  readonly message: string | PromptMessage;
}

/** How an operation of the interrupted answer stands, for `resume`. */
export interface ResumedOperation {
  readonly callIndex: number;
  readonly status: OperationEffect | 'running';
}

export interface ResumeState {
  /** The journaled history, oldest first, ending with the last answer and the results stored so far. */
  readonly entries: readonly HistoryEntry[];
  /** Number of the last turn. */
  readonly turnNumber: number;
  /** The last answered turn, whose answer is in `entries`. Its calls without result are settled by `operations`, or run now. */
  readonly response?: { readonly turnId: string; readonly finishReason: FinishReason } | undefined;
  /** Operations of that turn. A call without one never started, or reads only. @default [] */
  readonly operations?: readonly ResumedOperation[];
}

export interface CompactRequest {
  readonly entries: readonly HistoryEntry[];
  readonly inputTokens: number;
  readonly contextTokens: number;
  /** As the option `budget` last told it; null without one. */
  readonly budget: Budget | null;
}

/** A shorter history: a summary of what came before, followed by the last `keep` entries. */
export interface Compaction {
  /** Not blank: null instead of a compaction gives up. */
  readonly summary: string;
  /** More is kept where needed: what no answer has taken up yet, and no result without its call. What is no number is 0. */
  readonly keep: number;
}

export interface EngineOptions {
  readonly model: HookedModel;
  /** Tried in order when a model's tries are used up by retryable errors; each is a new request with a new hold. @default [] */
  readonly fallbackModels?: readonly HookedModel[];
  readonly system?: string;
  /** First user message of a new run. */
  readonly prompt?: string;
  /** History to start from, instead of or before `prompt`. @default [] */
  readonly entries?: readonly HistoryEntry[];
  readonly tools?: EngineTools;
  /** Handed to every tool beside signal and call id. @default {} */
  readonly toolContext?: ToolCallContext | ((call: EngineToolCall) => ToolCallContext);
  /** Lets tools and the caller end the run after the batch that is at work. */
  readonly control?: RunControl;
  readonly settings?: CallSettings;
  /** False asks for whole answers instead of streams. @default true */
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
  readonly resume?: ResumeState;
  /** Called before each request. Inputs given here are bound at `start`, acknowledged at `finish`. */
  readonly drainInput?: () => Promise<readonly PendingInput[]>;
  /** Called after `drainInput`: finished background work, in the same form, bound and acknowledged likewise. */
  readonly drainBackground?: () => Promise<readonly PendingInput[]>;
  /** Compare-and-set when the model stops: false if something arrived, then the loop drains and goes on. @default true */
  readonly closePendingInput?: () => Promise<boolean>;
  /**
   * Before a side-effecting call; awaited; a throw means that the call is not run. One that is still at work when its time
   * is up has been given up: the call is not run and the run ends. What it stores after that is ended by `operationEnd`.
   */
  readonly operationStart?: (call: EngineToolCall) => Promise<void>;
  /** After a side-effecting call; awaited. Stores effect and result in one transaction. */
  readonly operationEnd?: (call: EngineToolCall, outcome: OperationOutcome) => Promise<void>;
  /** Stores entries that no further request will carry: results and partial text at the end of a run. Storing a key twice stores once. */
  readonly appendEntries?: (entries: readonly HistoryEntry[]) => Promise<void>;
  /** Tokens the model's context holds; a request that cannot fit is refused before sending. @default no check */
  readonly contextTokens?: number;
  /** Estimates the tokens of a message. @default 1 token per 3 characters of its JSON */
  readonly countTokens?: (message: PromptMessage) => number;
  /** Shortens the history when it does not fit; null gives up. */
  readonly compact?: (request: CompactRequest, signal: AbortSignal) => Promise<Compaction | null>;
  /** How the budget stands, asked before each request: part of the frozen request that hooks see, and told to `compact` and `budgetText`. */
  readonly budget?: () => Budget | Promise<Budget>;
  /** Text about the remaining budget, added to each request's end; null adds nothing. `budget` is null without that option. */
  readonly budgetText?: (budget: Budget | null) => string | null | Promise<string | null>;
  /** What an answer cost, in millionths of a dollar; null if it has no price. @default no cost is told */
  readonly costOf?: (response: TurnResponse) => number | null;
  /** Asks for a final answer that is JSON of this shape; one correction is asked for. */
  readonly output?: OutputSpec;
  readonly retry?: RetryOptions;
  readonly limits?: LimitOptions;
  readonly ports?: EnginePorts;
}

export interface OutputSpec {
  /** Parses the final answer's JSON value, awaited; throws with a message for the model if it does not fit. See `outputOf`. */
  readonly parse: (value: unknown) => unknown;
  /** JSON Schema told to the provider. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly name?: string;
}

export interface RetryOptions {
  /** Requests per turn and model, the first among them. @default 4 */
  readonly maxTries?: number;
  /** First wait, doubled each time, with jitter, in ms. @default 1_000 */
  readonly baseDelayMs?: number;
  /** Longest own wait, in ms. @default 30_000 */
  readonly maxDelayMs?: number;
  /** A longer wait than this ends the run as deferred, in ms. @default 60_000 */
  readonly deferAfterMs?: number;
}

export interface LimitOptions {
  /** Turns of this run; the next one ends it as paused. @default 500 */
  readonly maxTurns?: number;
  /** Calls alike in a row (or alternating) until the run pauses. @default 10 */
  readonly maxRepeats?: number;
  /** Requests that continue one answer cut by the output limit. @default 3 */
  readonly maxContinuations?: number;
  /** Read-only and concurrency-safe calls at once. @default 4 */
  readonly parallelTools?: number;
  /** Longest time one of the functions given as options may take, in ms; the run then ends by its name. @default 30_000 */
  readonly hookTimeoutMs?: number;
  /** The same for `compact`, which may ask a model, in ms. @default 300_000 */
  readonly compactTimeoutMs?: number;
}

/** What a test or a simulation passes in instead of the real thing. */
export interface EnginePorts {
  /** Ms since the epoch. @default Date.now */
  readonly now?: () => number;
  /** In [0, 1). @default Math.random */
  readonly random?: () => number;
  /** Resolves after `ms`, rejects with the signal's reason on abort. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** How a run ended. */
export type RunEndReason = 'completed' | 'ended_by_tool' | 'aborted' | 'deferred' | 'denied' | 'paused' | 'failed';

export interface RunEnd {
  readonly type: 'run-end';
  readonly reason: RunEndReason;
  /** Text of the last answer; of an interrupted one, what there is. */
  readonly text: string;
  /** The parsed final answer, if `output` was asked for. */
  readonly output?: unknown;
  /** Set unless `completed` or `ended_by_tool`. */
  readonly error: EngineError | ProviderError | null;
  /** Of `deferred`: when to go on, ms since the epoch. */
  readonly notBefore: number | null;
  readonly turnNumber: number;
  /** Sum over the answers of this run; `unmeasuredTurns` counts those without usage. */
  readonly usage: Usage;
  readonly unmeasuredTurns: number;
  /** Sum of what `costOf` told of the answers; null if it told nothing. */
  readonly costMicros: number | null;
  readonly requests: number;
  /** The whole history, oldest first, valid for the next request. */
  readonly entries: readonly HistoryEntry[];
}

/** What happens in a run, in order; `run-end` is the last, exactly once. */
export type EngineEvent =
  | {
      readonly type: 'turn-start';
      readonly turnNumber: number;
      readonly model: string;
      readonly inputIds: readonly string[];
      readonly attempt: number;
    }
  | { readonly type: 'text-delta'; readonly delta: string }
  | { readonly type: 'reasoning-delta'; readonly delta: string }
  | { readonly type: 'tool-call-start'; readonly call: EngineToolCall }
  | {
      readonly type: 'tool-call-end';
      readonly call: EngineToolCall;
      readonly ran: boolean;
      readonly result: ToolResult;
    }
  | {
      readonly type: 'usage';
      readonly turnId: string | null;
      readonly usage: Usage | null;
      readonly model: string;
      /** What `costOf` told; null if it told nothing. */
      readonly costMicros: number | null;
    }
  | {
      readonly type: 'retry';
      readonly turnNumber: number;
      readonly attempt: number;
      readonly delayMs: number;
      readonly model: string;
      readonly error: ProviderError;
    }
  | {
      readonly type: 'turn-end';
      readonly turnNumber: number;
      readonly turnId: string | null;
      readonly finishReason: FinishReason;
      readonly text: string;
    }
  | RunEnd;
