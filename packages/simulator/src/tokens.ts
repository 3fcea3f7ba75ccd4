import type { Message, OfferedTool } from './scenario.js';

/**
 * The simulator's tokenizer: one token for every four UTF-8 bytes, rounded up, none for an empty text. It is far
 * simpler than a real one and, unlike a real one, anybody can count along.
 */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 4);
}

/** Tokens of a request: every message's text and tool calls, three for each message, and the tools as JSON. */
export function countInputTokens(messages: readonly Message[], tools: readonly OfferedTool[]): number {
  const ofMessages = messages.reduce((sum, message) => sum + 3 + countMessage(message), 0);
  return ofMessages + (tools.length > 0 ? countTokens(JSON.stringify(tools)) : 0);
}

/** Tokens of an answer: reasoning, text, and the name and arguments of every call; at least one. */
export function countOutputTokens(answer: {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly inputText: string }[];
}): number {
  const ofCalls = answer.toolCalls.reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.inputText), 0);
  return Math.max(1, countTokens(answer.reasoning) + countTokens(answer.text) + ofCalls);
}

function countMessage(message: Message): number {
  if (message.role !== 'assistant') return countTokens(message.text);
  const ofCalls = message.toolCalls.reduce(
    (sum, call) => sum + countTokens(call.name) + countTokens(call.inputText),
    0,
  );
  return countTokens(message.text) + ofCalls;
}
