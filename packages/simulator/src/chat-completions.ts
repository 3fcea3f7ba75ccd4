import {
  contentText,
  cutText,
  list,
  nameToolResults,
  type ParsedRequest,
  type Protocol,
  parsedOrNull,
  type Reply,
  record,
  text,
  tokenLimit,
  usageSoFar,
  type WirePiece,
} from './protocol.js';
import type { Message, OfferedTool, ReportedUsage } from './scenario.js';

/** OpenAI chat completions, which most compatible servers speak. Reasoning goes in `reasoning_content`. */
export const chatCompletions: Protocol = {
  name: 'openai-chat',
  pathEnd: '/chat/completions',
  parseRequest,
  wholeBody,
  pieces,
  errorBody: (status, message) => ({ error: { message, type: errorType(status), param: null, code: null } }),
  errorPiece: (message) => ({
    kind: 'delta',
    data: JSON.stringify({ error: { message, type: 'server_error', code: 500 } }),
  }),
};

function parseRequest(body: Readonly<Record<string, unknown>>): ParsedRequest {
  return {
    model: text(body['model']),
    stream: body['stream'] === true,
    includeUsage: record(body['stream_options'])['include_usage'] === true,
    messages: nameToolResults(list(body['messages']).map((message) => parseMessage(record(message)))),
    tools: list(body['tools']).map((tool) => parseTool(record(record(tool)['function']))),
    maxOutputTokens: tokenLimit(body['max_completion_tokens'], body['max_tokens']),
  };
}

function parseMessage(message: Readonly<Record<string, unknown>>): Message {
  const content = contentText(message['content']);
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', text: content };
    case 'assistant':
      return { role: 'assistant', text: content, toolCalls: list(message['tool_calls']).map(parseCall) };
    case 'tool':
      return { role: 'tool', toolCallId: text(message['tool_call_id']), toolName: '', text: content };
    default:
      return { role: 'user', text: content };
  }
}

function parseCall(value: unknown) {
  const call = record(value);
  const called = record(call['function']);
  const inputText = text(called['arguments']);
  return { id: text(call['id']), name: text(called['name']), input: parsedOrNull(inputText), inputText };
}

function parseTool(tool: Readonly<Record<string, unknown>>): OfferedTool {
  return { name: text(tool['name']), description: text(tool['description']), inputSchema: tool['parameters'] ?? {} };
}

function wholeBody(reply: Reply): Readonly<Record<string, unknown>> {
  const message = {
    role: 'assistant',
    content: reply.text === '' && reply.toolCalls.length > 0 ? null : reply.text,
    ...(reply.reasoning === '' ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.toolCalls.length === 0 ? {} : { tool_calls: reply.toolCalls.map(wireCall) }),
  };
  return {
    id: reply.id,
    object: 'chat.completion',
    created: reply.createdSeconds,
    model: reply.model,
    choices: [{ index: 0, message, finish_reason: wireReason(reply) }],
    ...(reply.usage === null ? {} : { usage: wireUsage(reply.usage) }),
  };
}

function pieces(reply: Reply): readonly WirePiece[] {
  const deltas = [...contentDeltas(reply)];
  const open = chunk(reply, { role: 'assistant', content: '' }, null);
  const content = deltas.map((delta, index) => {
    const sofar =
      reply.cumulative && reply.usage !== null ? usageSoFar(reply.usage, (index + 1) / deltas.length) : null;
    return { kind: 'delta', data: JSON.stringify({ ...chunk(reply, delta, null), ...usageField(sofar) }) } as const;
  });
  const lastUsage = reply.cumulative ? reply.usage : null;
  return [
    { kind: 'open', data: JSON.stringify(open) },
    ...content,
    { kind: 'stop', data: JSON.stringify({ ...chunk(reply, {}, wireReason(reply)), ...usageField(lastUsage) }) },
    ...usagePiece(reply),
    { kind: 'done', data: '[DONE]' },
  ];
}

function* contentDeltas(reply: Reply): Generator<Readonly<Record<string, unknown>>> {
  for (const piece of cutText(reply.reasoning, reply.pieceCharacters)) yield { reasoning_content: piece };
  for (const piece of cutText(reply.text, reply.pieceCharacters)) yield { content: piece };
  for (const [index, call] of reply.toolCalls.entries()) {
    const opened = { name: call.name, arguments: '' };
    yield { tool_calls: [{ index, id: call.id, type: 'function', function: opened }] };
    for (const piece of cutText(call.inputText, reply.pieceCharacters)) {
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
    }
  }
}

function chunk(reply: Reply, delta: unknown, finishReason: string | null) {
  return {
    id: reply.id,
    object: 'chat.completion.chunk',
    created: reply.createdSeconds,
    model: reply.model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

function usagePiece(reply: Reply): readonly WirePiece[] {
  if (reply.usage === null || !reply.includeUsage) return [];
  const { choices: _, ...rest } = chunk(reply, {}, null);
  return [{ kind: 'stop', data: JSON.stringify({ ...rest, choices: [], usage: wireUsage(reply.usage) }) }];
}

function usageField(usage: ReportedUsage | null) {
  return usage === null ? {} : { usage: wireUsage(usage) };
}

function wireUsage(usage: ReportedUsage) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function wireCall(call: Reply['toolCalls'][number]) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.inputText } };
}

function wireReason(reply: Reply): string | null {
  const words = { stop: 'stop', length: 'length', 'tool-calls': 'tool_calls', 'content-filter': 'content_filter' };
  return reply.finishReason === null ? null : words[reply.finishReason];
}

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (status === 401) return 'authentication_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
