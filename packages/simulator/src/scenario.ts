import type { Fault, FaultName } from './faults.js';

/** The provider protocols the simulator speaks. */
export type ProtocolName = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

/** A tool call a model made earlier in the conversation. `input` is null when `inputText` is not JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly inputText: string;
}

/** One message, the same shape whichever protocol carried it. */
export type Message =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly toolName: string; readonly text: string };

/** A tool the request offers to the model. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

/** What a scenario is asked: one request to the model, without anything a real model would not see. */
export interface ScenarioRequest {
  /** The model name as sent, e.g. `simulated:slow`. */
  readonly model: string;
  /** The words after the last `:` of the model name, split at `+`: `simulated:slow+asks` gives `['slow', 'asks']`. */
  readonly variants: readonly string[];
  readonly protocol: ProtocolName;
  readonly stream: boolean;
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  /** The output limit the request set, in tokens. */
  readonly maxOutputTokens: number | null;
}

/** Why the model stopped, in the words of no provider. `null` sends no reason at all. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | null;

/** A call the model makes. The id is derived from the conversation when left out, so the same request gives the same id. */
export interface AnsweredToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string | undefined;
}

/** Holds the stream after `afterPieces` pieces until the gate of that name is opened. */
export interface Pause {
  readonly afterPieces: number;
  readonly gate: string;
}

/** Token counts as a provider reports them. Input includes what was read from a cache. */
export interface ReportedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

/** What the model answers. Everything left out is empty, immediate and without trouble. */
export interface Answer {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly toolCalls?: readonly AnsweredToolCall[] | undefined;
  /** @default 'tool-calls' if there are calls, else 'stop' */
  readonly finishReason?: FinishReason | undefined;
  /** Characters in one streamed piece. @default 48 */
  readonly pieceCharacters?: number | undefined;
  /** Milliseconds before the first byte. @default 0 */
  readonly firstPieceDelayMs?: number | undefined;
  /** Milliseconds before each further streamed piece. @default 0 */
  readonly pieceDelayMs?: number | undefined;
  readonly pauseUntil?: readonly Pause[] | undefined;
  /** Replaces single counts of the usage that is counted from the texts. */
  readonly usage?: Partial<ReportedUsage> | undefined;
  readonly fault?: FaultName | Fault | undefined;
}

/**
 * Plays the model: a pure function of the request. It keeps no counter and reads no clock, so a server that was
 * restarted, or another one, goes on where the last one stopped. A throw is answered with status 500.
 */
export type Scenario = (request: ScenarioRequest) => Answer;
