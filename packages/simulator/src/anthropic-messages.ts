import {
  contentText,
  cutText,
  list,
  nameToolResults,
  type ParsedRequest,
  type Protocol,
  type Reply,
  record,
  text,
  tokenLimit,
  usageSoFar,
  type WirePiece,
} from './protocol.js';
import type { Message, OfferedTool, ReportedUsage, ToolCall } from './scenario.js';

/** Anthropic Messages. Reasoning goes out as a thinking block with a made-up signature. */
export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  pathEnd: '/messages',
  parseRequest,
  wholeBody,
  pieces,
  errorBody: (status, message) => ({ type: 'error', error: { type: errorType(status), message } }),
  errorPiece: (message) => event('delta', { type: 'error', error: { type: 'api_error', message } }),
};

type Item = Readonly<Record<string, unknown>>;

function parseRequest(body: Item): ParsedRequest {
  const system = contentText(body['system']);
  const opening: Message[] = system === '' ? [] : [{ role: 'system', text: system }];
  return {
    model: text(body['model']),
    stream: body['stream'] === true,
    includeUsage: true,
    messages: nameToolResults([
      ...opening,
      ...list(body['messages']).flatMap((message) => parseMessage(record(message))),
    ]),
    tools: list(body['tools']).map((tool) => parseTool(record(tool))),
    maxOutputTokens: tokenLimit(body['max_tokens']),
  };
}

function parseMessage(message: Item): readonly Message[] {
  const blocks = typeof message['content'] === 'string' ? [] : list(message['content']).map(record);
  const content = contentText(message['content']);
  if (message['role'] === 'assistant')
    return [{ role: 'assistant', text: content, toolCalls: blocks.flatMap(parseCall) }];
  const results = blocks.filter((block) => block['type'] === 'tool_result').map(parseResult);
  const said: Message[] = content === '' && results.length > 0 ? [] : [{ role: 'user', text: content }];
  return [...results, ...said];
}

function parseCall(block: Item): readonly ToolCall[] {
  if (block['type'] !== 'tool_use') return [];
  const inputText = JSON.stringify(block['input'] ?? {});
  return [{ id: text(block['id']), name: text(block['name']), input: block['input'] ?? {}, inputText }];
}

function parseResult(block: Item): Message {
  const content = contentText(block['content']);
  return { role: 'tool', toolCallId: text(block['tool_use_id']), toolName: '', text: content };
}

function parseTool(tool: Item): OfferedTool {
  return { name: text(tool['name']), description: text(tool['description']), inputSchema: tool['input_schema'] ?? {} };
}

function wholeBody(reply: Reply): Item {
  return {
    ...envelope(reply),
    content: blocks(reply).map((block) => block.whole),
    stop_reason: wireReason(reply),
    ...(reply.usage === null ? {} : { usage: wireUsage(reply.usage) }),
  };
}

interface Block {
  readonly whole: Item;
  readonly opened: Item;
  readonly deltas: readonly Item[];
}

function blocks(reply: Reply): readonly Block[] {
  const made: Block[] = [];
  if (reply.reasoning !== '') made.push(thinkingBlock(reply));
  if (reply.text !== '') made.push(textBlock(reply));
  for (const call of reply.toolCalls) made.push(callBlock(reply, call));
  return made;
}

function thinkingBlock(reply: Reply): Block {
  const signature = `signed-${reply.id}`;
  const deltas = cutText(reply.reasoning, reply.pieceCharacters).map((thinking) => ({
    type: 'thinking_delta',
    thinking,
  }));
  return {
    whole: { type: 'thinking', thinking: reply.reasoning, signature },
    opened: { type: 'thinking', thinking: '', signature: '' },
    deltas: [...deltas, { type: 'signature_delta', signature }],
  };
}

function textBlock(reply: Reply): Block {
  return {
    whole: { type: 'text', text: reply.text },
    opened: { type: 'text', text: '' },
    deltas: cutText(reply.text, reply.pieceCharacters).map((piece) => ({ type: 'text_delta', text: piece })),
  };
}

function callBlock(reply: Reply, call: Reply['toolCalls'][number]): Block {
  const opened = { type: 'tool_use', id: call.id, name: call.name, input: {} };
  const deltas = cutText(call.inputText, reply.pieceCharacters).map((piece) => ({
    type: 'input_json_delta',
    partial_json: piece,
  }));
  return { whole: { ...opened, input: parsedInput(call.inputText) }, opened, deltas };
}

/** A whole body cannot carry cut JSON; the provider then gives what it could read, which is nothing. */
function parsedInput(inputText: string): unknown {
  try {
    return JSON.parse(inputText);
  } catch {
    return {}; // cut on purpose by a fault; the stop reason tells
  }
}

function pieces(reply: Reply): readonly WirePiece[] {
  const made = blocks(reply);
  const total = made.reduce((sum, block) => sum + block.deltas.length, 0);
  const written: WirePiece[] = [event('open', { type: 'message_start', message: opening(reply) })];
  let sent = 0;
  for (const [index, block] of made.entries()) {
    written.push(event('open', { type: 'content_block_start', index, content_block: block.opened }));
    for (const delta of block.deltas) {
      sent += 1;
      written.push(event('delta', { type: 'content_block_delta', index, delta }), ...progress(reply, sent / total));
    }
    written.push(event('open', { type: 'content_block_stop', index }));
  }
  return [...written, messageDelta(reply, wireReason(reply), reply.usage), event('done', { type: 'message_stop' })];
}

function opening(reply: Reply): Item {
  const usage =
    reply.usage === null ? {} : { usage: wireUsage({ ...reply.usage, outputTokens: startTokens(reply.usage) }) };
  return { ...envelope(reply), content: [], stop_reason: null, ...usage };
}

/** The protocol opens with one output token, unless there is none to report at all. */
function startTokens(usage: ReportedUsage): number {
  return Math.min(1, usage.outputTokens);
}

function progress(reply: Reply, fraction: number): readonly WirePiece[] {
  if (!reply.cumulative || reply.usage === null || fraction >= 1) return [];
  return [{ ...messageDelta(reply, null, usageSoFar(reply.usage, fraction)), kind: 'open' }];
}

function messageDelta(reply: Reply, stopReason: string | null, usage: ReportedUsage | null): WirePiece {
  const counts =
    usage === null ? {} : { usage: reply.cumulative ? wireUsage(usage) : { output_tokens: usage.outputTokens } };
  return event('stop', { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, ...counts });
}

function envelope(reply: Reply): Item {
  return { id: reply.id, type: 'message', role: 'assistant', model: reply.model, stop_sequence: null };
}

/** Input tokens leave out what the cache gave, as this provider counts. */
function wireUsage(usage: ReportedUsage): Item {
  return {
    input_tokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
  };
}

function wireReason(reply: Reply): string | null {
  const words = { stop: 'end_turn', length: 'max_tokens', 'tool-calls': 'tool_use', 'content-filter': 'refusal' };
  return reply.finishReason === null ? null : words[reply.finishReason];
}

function event(kind: WirePiece['kind'], data: Item): WirePiece {
  return { kind, event: text(data['type']), data: JSON.stringify(data) };
}

function errorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? 'api_error';
}
