import { createHash } from 'node:crypto';
import type { Fault } from './faults.js';
import type { ParsedRequest, Reply } from './protocol.js';
import type { Answer, AnsweredToolCall, ReportedUsage } from './scenario.js';
import { countInputTokens, countOutputTokens, countTokens } from './tokens.js';

const zeroUsage: ReportedUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Makes a scenario's answer ready for the wire: ids, usage counted from the texts, and the faults of content. */
export function makeReply(request: ParsedRequest, answer: Answer, fault: Fault | null): Reply {
  const toolCalls = (answer.toolCalls ?? []).map((call, index) => numberCall(request, call, index));
  const content = { text: answer.text ?? '', reasoning: answer.reasoning ?? '', toolCalls };
  const usage = { ...countUsage(request, content), ...withoutUndefined(answer.usage ?? {}) };
  const reply: Reply = {
    ...content,
    id: `sim_${digest(JSON.stringify([request.messages, content]))}`,
    model: request.model,
    createdSeconds: Math.floor(Date.now() / 1000),
    finishReason: answer.finishReason === undefined ? naturalReason(toolCalls.length) : answer.finishReason,
    usage,
    cumulative: false,
    includeUsage: request.includeUsage,
    pieceCharacters: Math.max(1, answer.pieceCharacters ?? 48),
  };
  return applyContentFault(reply, fault);
}

function applyContentFault(reply: Reply, fault: Fault | null): Reply {
  switch (fault?.name) {
    case 'no_usage':
      return { ...reply, usage: null };
    case 'zero_usage':
      return { ...reply, usage: zeroUsage };
    case 'cumulative_usage':
      return { ...reply, cumulative: true };
    case 'done_without_reason':
      return { ...reply, finishReason: null };
    case 'tool_arguments_cut':
      return cutLastCall(reply);
    default:
      return reply;
  }
}

/** Cuts the arguments of the last call in half; an answer without calls loses half of its text. */
function cutLastCall(reply: Reply): Reply {
  const last = reply.toolCalls.at(-1);
  if (last === undefined) return { ...reply, text: firstHalf(reply.text), finishReason: 'length' };
  const cut = { ...last, inputText: firstHalf(last.inputText) };
  return { ...reply, toolCalls: [...reply.toolCalls.slice(0, -1), cut], finishReason: 'length' };
}

function firstHalf(value: string): string {
  const characters = Array.from(value);
  return characters.slice(0, Math.floor(characters.length / 2)).join('');
}

function countUsage(request: ParsedRequest, content: Pick<Reply, 'text' | 'reasoning' | 'toolCalls'>): ReportedUsage {
  return {
    ...zeroUsage,
    inputTokens: countInputTokens(request.messages, request.tools),
    outputTokens: countOutputTokens(content),
    reasoningTokens: countTokens(content.reasoning),
  };
}

function naturalReason(calls: number): 'stop' | 'tool-calls' {
  return calls > 0 ? 'tool-calls' : 'stop';
}

function numberCall(request: ParsedRequest, call: AnsweredToolCall, index: number) {
  const inputText = typeof call.input === 'string' ? call.input : JSON.stringify(call.input ?? {});
  const id = call.id ?? `call_${digest(JSON.stringify([request.messages, index, call.name, inputText]))}`;
  return { id, name: call.name, inputText };
}

function digest(source: string): string {
  return createHash('sha256').update(source).digest('hex').slice(0, 20);
}

function withoutUndefined(usage: Partial<ReportedUsage>): Partial<ReportedUsage> {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== undefined));
}
