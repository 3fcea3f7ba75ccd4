import type { FinishReason, Message, OfferedTool, ProtocolName, ReportedUsage } from './scenario.js';

/** A request, read out of one protocol. */
export interface ParsedRequest {
  readonly model: string;
  readonly stream: boolean;
  /** False when a chat completions client did not ask for usage in the stream. */
  readonly includeUsage: boolean;
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly maxOutputTokens: number | null;
  /** True if the client may ask for the answer again, by its id. @default false */
  readonly isKept?: boolean;
}

/** How a kept answer stands. */
export type PastState = 'in_progress' | 'completed' | 'failed';

/** An answer made ready for the wire, the same for all protocols. */
export interface Reply {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970, as the protocols want it. */
  readonly createdSeconds: number;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly inputText: string }[];
  readonly finishReason: FinishReason;
  /** null: no usage on the wire. */
  readonly usage: ReportedUsage | null;
  /** Usage so far in every event. */
  readonly cumulative: boolean;
  readonly includeUsage: boolean;
  readonly pieceCharacters: number;
}

/** One server-sent event. `delta` carries content; everything from `stop` on closes the answer. */
export interface WirePiece {
  readonly kind: 'open' | 'delta' | 'stop' | 'done';
  /** The event's name, where the protocol names events. */
  readonly event?: string;
  readonly data: string;
}

/** One provider protocol: how to read its requests and write its answers. Pure. */
export interface Protocol {
  readonly name: ProtocolName;
  /** The end of the request path that selects it. */
  readonly pathEnd: string;
  parseRequest(body: Readonly<Record<string, unknown>>): ParsedRequest;
  wholeBody(reply: Reply): Readonly<Record<string, unknown>>;
  pieces(reply: Reply): readonly WirePiece[];
  /** What is told of a kept answer when it is asked for again; absent in protocols that cannot be asked. */
  pastBody?(reply: Reply, state: PastState): Readonly<Record<string, unknown>>;
  errorBody(status: number, message: string): Readonly<Record<string, unknown>>;
  /** The event that reports an error in the middle of a stream. */
  errorPiece(message: string): WirePiece;
}

/** The text of an event on the wire. */
export function eventText(piece: WirePiece): string {
  return `${piece.event === undefined ? '' : `event: ${piece.event}\n`}data: ${piece.data}\n\n`;
}

/** Cuts a text into pieces of `size` characters, never inside a surrogate pair. An empty text has no piece. */
export function cutText(text: string, size: number): readonly string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let index = 0; index < characters.length; index += size)
    pieces.push(characters.slice(index, index + size).join(''));
  return pieces;
}

/** The usage after `fraction` of the answer, for servers that report it as they go. */
export function usageSoFar(usage: ReportedUsage, fraction: number): ReportedUsage {
  return {
    ...usage,
    outputTokens: Math.floor(usage.outputTokens * fraction),
    reasoningTokens: Math.floor(usage.reasoningTokens * fraction),
  };
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text of a message's content: a string, or parts of which those with text count. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(record(part)['text']))
    .join('');
}

export function tokenLimit(...values: readonly unknown[]): number | null {
  const found = values.find((value) => typeof value === 'number');
  return found === undefined ? null : (found as number);
}

/** Parsed JSON, or null for what is not JSON. */
export function parsedOrNull(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null; // a model may have written anything; the raw text is kept beside it
  }
}

/** Fills in the tool's name in results that only carry the call's id. */
export function nameToolResults(messages: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === 'assistant') for (const call of message.toolCalls) names.set(call.id, call.name);
    if (message.role !== 'tool' || message.toolName !== '') return message;
    return { ...message, toolName: names.get(message.toolCallId) ?? '' };
  });
}
