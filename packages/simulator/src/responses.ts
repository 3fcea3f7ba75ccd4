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
import type { Message, OfferedTool, ReportedUsage, ToolCall } from './scenario.js';

/** OpenAI Responses. Reasoning goes out as a reasoning item with one summary. */
export const responses: Protocol = {
  name: 'openai-responses',
  pathEnd: '/responses',
  parseRequest,
  wholeBody: (reply) => ({
    ...envelope(reply),
    ...closing(reply),
    output: outputItems(reply).map((item) => item.done),
  }),
  pieces,
  pastBody: (reply, state) =>
    state === 'completed'
      ? responses.wholeBody(reply)
      : { ...envelope(reply), status: state, error: state === 'failed' ? pastError : null },
  errorBody: (status, message) => ({ error: { message, type: errorType(status), param: null, code: null } }),
  errorPiece: (message) =>
    event('delta', { type: 'error', sequence_number: 0, code: 'server_error', message, param: null }),
};

const pastError = { code: 'server_error', message: 'The model failed in the middle of its answer.' };

type Item = Readonly<Record<string, unknown>>;

function parseRequest(body: Item): ParsedRequest {
  const { input, instructions } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
  const system: Message[] = typeof instructions === 'string' ? [{ role: 'system', text: instructions }] : [];
  const messages = joinCalls(items.flatMap((item) => parseItem(record(item))));
  return {
    model: text(body['model']),
    stream: body['stream'] === true,
    includeUsage: true,
    messages: nameToolResults([...system, ...messages]),
    tools: list(body['tools'])
      .map(record)
      .filter((tool) => tool['type'] === 'function')
      .map(parseTool),
    maxOutputTokens: tokenLimit(body['max_output_tokens']),
    isKept: body['store'] !== false,
  };
}

function parseItem(item: Item): readonly Message[] {
  if (item['type'] === 'function_call') return [{ role: 'assistant', text: '', toolCalls: [parseCall(item)] }];
  if (item['type'] === 'function_call_output') {
    const output = contentText(item['output']);
    return [{ role: 'tool', toolCallId: text(item['call_id']), toolName: '', text: output }];
  }
  const content = contentText(item['content']);
  if (item['role'] === 'assistant') return [{ role: 'assistant', text: content, toolCalls: [] }];
  if (item['role'] === 'system' || item['role'] === 'developer') return [{ role: 'system', text: content }];
  return item['role'] === 'user' ? [{ role: 'user', text: content }] : [];
}

function parseCall(item: Item): ToolCall {
  const inputText = text(item['arguments']);
  return { id: text(item['call_id']), name: text(item['name']), input: parsedOrNull(inputText), inputText };
}

function parseTool(tool: Item): OfferedTool {
  return { name: text(tool['name']), description: text(tool['description']), inputSchema: tool['parameters'] ?? {} };
}

/** The protocol sends text and every call as items of their own; together they are one message. */
function joinCalls(messages: readonly Message[]): readonly Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'assistant' && last?.role === 'assistant') {
      const toolCalls = [...last.toolCalls, ...message.toolCalls];
      joined[joined.length - 1] = { ...last, text: last.text + message.text, toolCalls };
    } else joined.push(message);
  }
  return joined;
}

function envelope(reply: Reply): Item {
  return {
    id: reply.id,
    object: 'response',
    created_at: reply.createdSeconds,
    model: reply.model,
    output: [],
    error: null,
    incomplete_details: null,
  };
}

function closing(reply: Reply): Item {
  const reason = incompleteReason(reply);
  return {
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason === null ? null : { reason },
    ...usageField(reply.usage),
  };
}

function incompleteReason(reply: Reply): string | null {
  if (reply.finishReason === 'length') return 'max_output_tokens';
  return reply.finishReason === 'content-filter' ? 'content_filter' : null;
}

interface OutputItem {
  readonly done: Item;
  readonly added: Item;
  readonly deltas: readonly Item[];
  readonly before: readonly Item[];
  readonly after: readonly Item[];
}

function outputItems(reply: Reply): readonly OutputItem[] {
  const items: ((index: number) => OutputItem)[] = [];
  if (reply.reasoning !== '') items.push((index) => reasoningItem(reply, index));
  if (reply.text !== '') items.push((index) => messageItem(reply, index));
  for (const call of reply.toolCalls) items.push((index) => callItem(reply, call, index));
  return items.map((make, index) => make(index));
}

function reasoningItem(reply: Reply, index: number): OutputItem {
  const at = { item_id: `rs_${reply.id}`, output_index: index, summary_index: 0 };
  const part = { type: 'summary_text', text: reply.reasoning };
  const item = { type: 'reasoning', id: at.item_id, encrypted_content: null };
  return {
    added: { ...item, summary: [] },
    before: [{ type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } }],
    deltas: cutText(reply.reasoning, reply.pieceCharacters).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      ...at,
      delta,
    })),
    after: [{ type: 'response.reasoning_summary_part.done', ...at, part }],
    done: { ...item, summary: [part] },
  };
}

function messageItem(reply: Reply, index: number): OutputItem {
  const at = { item_id: `msg_${reply.id}`, output_index: index, content_index: 0 };
  const part = { type: 'output_text', text: reply.text, annotations: [] };
  const item = { type: 'message', id: at.item_id, role: 'assistant' };
  return {
    added: { ...item, status: 'in_progress', content: [] },
    before: [{ type: 'response.content_part.added', ...at, part: { ...part, text: '' } }],
    deltas: cutText(reply.text, reply.pieceCharacters).map((delta) => ({
      type: 'response.output_text.delta',
      ...at,
      delta,
    })),
    after: [
      { type: 'response.output_text.done', ...at, text: reply.text },
      { type: 'response.content_part.done', ...at, part },
    ],
    done: { ...item, status: 'completed', content: [part] },
  };
}

function callItem(reply: Reply, call: Reply['toolCalls'][number], index: number): OutputItem {
  const at = { item_id: `fc_${call.id}`, output_index: index };
  const item = { type: 'function_call', id: at.item_id, call_id: call.id, name: call.name };
  return {
    added: { ...item, status: 'in_progress', arguments: '' },
    before: [],
    deltas: cutText(call.inputText, reply.pieceCharacters).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...at,
      delta,
    })),
    after: [{ type: 'response.function_call_arguments.done', ...at, arguments: call.inputText }],
    done: { ...item, status: 'completed', arguments: call.inputText },
  };
}

function pieces(reply: Reply): readonly WirePiece[] {
  const items = outputItems(reply);
  const deltas = items.reduce((sum, item) => sum + item.deltas.length, 0);
  const written: WirePiece[] = [
    event('open', { type: 'response.created', response: { ...envelope(reply), status: 'in_progress' } }),
  ];
  let sent = 0;
  for (const [index, item] of items.entries()) {
    const at = { output_index: index };
    written.push(event('open', { type: 'response.output_item.added', ...at, item: item.added }));
    written.push(...item.before.map((data) => event('open', data)));
    for (const delta of item.deltas) {
      sent += 1;
      written.push(event('delta', { ...delta, ...progress(reply, sent / deltas) }));
    }
    written.push(...item.after.map((data) => event('open', data)));
    written.push(event('open', { type: 'response.output_item.done', ...at, item: item.done }));
  }
  return [...written, lastPiece(reply, items)].map(numbered);
}

function lastPiece(reply: Reply, items: readonly OutputItem[]): WirePiece {
  const response = { ...envelope(reply), ...closing(reply), output: items.map((item) => item.done) };
  const type = incompleteReason(reply) === null ? 'response.completed' : 'response.incomplete';
  return event('stop', { type, response });
}

/** Nothing in this protocol has usage before its end; a server that counts as it goes puts it beside the delta. */
function progress(reply: Reply, fraction: number): Item {
  return reply.cumulative && reply.usage !== null ? usageField(usageSoFar(reply.usage, fraction)) : {};
}

function numbered(piece: WirePiece, index: number): WirePiece {
  return { ...piece, data: JSON.stringify({ ...JSON.parse(piece.data), sequence_number: index }) };
}

function event(kind: WirePiece['kind'], data: Item): WirePiece {
  return { kind, event: text(data['type']), data: JSON.stringify(data) };
}

function usageField(usage: ReportedUsage | null): Item {
  if (usage === null) return {};
  return {
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
  };
}

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
