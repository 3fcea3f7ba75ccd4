import { list, record, text } from './protocol.js';
import type { Message, ProtocolName } from './scenario.js';

/**
 * What a provider refuses a conversation for, in its own words or nearly so; null if nothing. A client that once built such
 * a history would be refused for ever.
 *
 * - A text holds no half of a surrogate pair.
 * - Every call has its result, every result its call; in all protocols but OpenAI Responses right after it.
 * - The name of a call is one that a tool can have, whether there is such a tool or not.
 * - Anthropic wants something in each message but a last one of the assistant, no text of blanks alone, arguments that are
 *   an object, and no message of the assistant that ends in thoughts; OpenAI Responses something after each reasoning.
 */
export function historyProblem(
  protocol: ProtocolName,
  messages: readonly Message[],
  body: Readonly<Record<string, unknown>>,
): string | null {
  if (hasHalfCharacter(body)) return 'The request body is not valid JSON: lone surrogate in a string.';
  const pairs = protocol === 'openai-responses' ? unpairedAnywhere(messages) : unpairedInOrder(messages);
  const known = pairs ?? impossibleName(messages);
  if (known !== null || protocol === 'openai-chat') return known;
  if (protocol === 'openai-responses') return loneReasoning(list(body['input']).map(record));
  const said = list(body['messages']).map(record);
  return emptyMessage(said) ?? wrongBlock(said);
}

function hasHalfCharacter(value: unknown): boolean {
  if (typeof value === 'string') return /\p{Surrogate}/u.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasHalfCharacter);
}

function unpairedInOrder(messages: readonly Message[]): string | null {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId)) return noCall(message.toolCallId);
      continue;
    }
    const [missing] = open;
    if (missing !== undefined) return noResult(missing);
    open = new Set(message.role === 'assistant' ? message.toolCalls.map((call) => call.id) : []);
  }
  const [missing] = open;
  return missing === undefined ? null : noResult(missing);
}

function unpairedAnywhere(messages: readonly Message[]): string | null {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  const called = new Set(calls.map((call) => call.id));
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
  for (const id of called) if (!answered.has(id)) return noResult(id);
  for (const id of answered) if (!called.has(id)) return noCall(id);
  return null;
}

function impossibleName(messages: readonly Message[]): string | null {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  const wrong = calls.find((call) => !/^[a-zA-Z0-9_-]{1,64}$/.test(call.name));
  return wrong === undefined
    ? null
    : `The name of call ${wrong.id} does not match the pattern '^[a-zA-Z0-9_-]{1,64}$'.`;
}

function noResult(id: string): string {
  return `A tool call must be followed by its result: no result was found for call ${id}.`;
}

function noCall(id: string): string {
  return `A tool result must follow its tool call: there is no call ${id} before it.`;
}

function emptyMessage(messages: readonly Readonly<Record<string, unknown>>[]): string | null {
  for (const [index, message] of messages.entries()) {
    const { role, content } = message;
    const isLastWord = index === messages.length - 1 && role === 'assistant';
    if (!isLastWord && (content === '' || list(content).length === 0) && !isText(content))
      return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
    if (list(content).some((block) => record(block)['type'] === 'text' && text(record(block)['text']).trim() === ''))
      return `messages.${index}: text content blocks must contain non-whitespace text`;
  }
  return null;
}

function wrongBlock(messages: readonly Readonly<Record<string, unknown>>[]): string | null {
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = list(content).map(record);
    const wrong = blocks.findIndex(({ type, input }) => type === 'tool_use' && !isObject(input));
    if (wrong !== -1) return `messages.${index}.content.${wrong}.tool_use.input: Input should be a valid dictionary`;
    if (role === 'assistant' && /thinking/.test(text(blocks.at(-1)?.['type'])))
      return `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`;
  }
  return null;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function loneReasoning(items: readonly Readonly<Record<string, unknown>>[]): string | null {
  for (const [index, item] of items.entries()) {
    const next = items[index + 1];
    if (isReasoning(item) && (next === undefined || next['role'] === 'user' || next['type'] === 'function_call_output'))
      return `Item '${text(item['id'])}' of type 'reasoning' was provided without its required following item.`;
  }
  return null;
}

/** A kept item may be sent as a reference to it. */
function isReasoning({ type, id }: Readonly<Record<string, unknown>>): boolean {
  return type === 'reasoning' || (type === 'item_reference' && text(id).startsWith('rs_'));
}

function isText(content: unknown): boolean {
  return typeof content === 'string' && content.trim() !== '';
}
