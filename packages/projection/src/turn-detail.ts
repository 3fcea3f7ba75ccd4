import {
  cutToBytes,
  DTO_LIMITS,
  MAX_TURN_DETAIL_BYTES,
  type ToolCall,
  type TurnDetail,
  utf8Length,
} from '@stint/contracts';
import { cutToJsonSize, jsonSize } from './json-size.js';
import { toPlainJson } from './plain-json.js';
import type { ToolCallRecord, TurnSources } from './records.js';
import { createRedactor, type RedactionOptions } from './redact.js';
import { type ShownText, TextGate } from './texts.js';
import { toTurnSummary } from './turn.js';

/** Room for the names, counts and brackets of the turn. */
const ENVELOPE_BYTES = 512;

/**
 * One provider turn with its text and tool calls, at most 256 KiB of JSON. Input and result of each call are redacted and bounded, with their size before the cut. A call that still runs is never the one that is left
 * out: finished ones go first, the oldest before the newest.
 */
export function toTurnDetail(sources: TurnSources, redaction: RedactionOptions): TurnDetail {
  const gate = new TextGate(createRedactor(redaction));
  const { turn, toolCalls, charge } = sources;
  const summary = toTurnSummary(turn, gate, charge);
  const room = MAX_TURN_DETAIL_BYTES - jsonSize(summary) - ENVELOPE_BYTES;
  const fullText = turn.response?.text ?? turn.partialText ?? '';
  const text = cutToJsonSize(gate.text(fullText), Math.floor(room / 4));
  const calls = shapeCalls(toolCalls, gate, room - jsonSize(text));
  const omittedToolCallCount = toolCalls.length - calls.length;
  return {
    ...summary,
    text,
    textBytes: utf8Length(fullText),
    toolCalls: calls,
    omittedToolCallCount,
    maskedSecretCount: gate.maskedCount,
    truncated: gate.cutCount > 0 || omittedToolCallCount > 0 || calls.some((call) => call.truncated),
  };
}

/** A call without its texts, and how many bytes that takes. */
interface Skeleton {
  readonly call: ToolCallRecord;
  readonly shaped: ToolCall;
  readonly bytes: number;
}

/** Half of the room is for the calls' names; what remains is shared evenly by their texts. */
function shapeCalls(all: readonly ToolCallRecord[], gate: TextGate, roomBytes: number): ToolCall[] {
  const kept = keepCalls(all, gate, Math.floor(roomBytes / 2));
  const named = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const shareBytes = Math.floor((roomBytes - named) / Math.max(1, kept.length) / 2);
  return kept
    .toSorted((left, right) => left.call.callIndex - right.call.callIndex)
    .map((skeleton) => fillCall(skeleton, gate, shareBytes));
}

function keepCalls(all: readonly ToolCallRecord[], gate: TextGate, roomBytes: number): Skeleton[] {
  const running = all.filter(({ status }) => status === 'running').toReversed();
  const settled = all.filter(({ status }) => status !== 'running').toReversed();
  const kept: Skeleton[] = [];
  let used = 0;
  for (const call of [...running, ...settled].slice(0, DTO_LIMITS.maxToolCallsPerTurn)) {
    const skeleton = toSkeleton(call, gate);
    used += skeleton.bytes;
    if (used > roomBytes) break;
    kept.push(skeleton);
  }
  return kept;
}

function toSkeleton(call: ToolCallRecord, gate: TextGate): Skeleton {
  const shaped: ToolCall = {
    toolCallId: cutToBytes(call.toolCallId, DTO_LIMITS.maxIdBytes),
    callIndex: call.callIndex,
    tool: gate.show(call.tool, DTO_LIMITS.maxIdBytes).text,
    status: call.status,
    input: '',
    result: null,
    inputBytes: Number.MAX_SAFE_INTEGER,
    resultBytes: Number.MAX_SAFE_INTEGER,
    truncated: false,
  };
  return { call, shaped, bytes: jsonSize(shaped) + 1 };
}

function fillCall({ call, shaped }: Skeleton, gate: TextGate, shareBytes: number): ToolCall {
  const plainInput = toPlainJson(call.input);
  const input = bound(inputText(plainInput, gate), gate, shareBytes);
  const result = call.result === null ? null : bound(call.result, gate, shareBytes);
  return {
    ...shaped,
    input: input.text,
    result: result?.text ?? null,
    inputBytes: utf8Length(typeof plainInput === 'string' ? plainInput : JSON.stringify(plainInput)),
    resultBytes: call.result === null ? 0 : utf8Length(call.result),
    truncated: input.truncated || (result?.truncated ?? false),
  };
}

function bound(full: string, gate: TextGate, maxBytes: number): ShownText {
  const shown = gate.show(full, DTO_LIMITS.maxTextBytes);
  const text = cutToJsonSize(shown.text, maxBytes);
  return { text, truncated: shown.truncated || text.length < shown.text.length };
}

/** Texts inside the input are redacted before JSON escapes them, so that an escaped line break hides nothing. */
function inputText(plainInput: unknown, gate: TextGate): string {
  if (typeof plainInput === 'string') return plainInput;
  return JSON.stringify(plainInput, (_key, value: unknown) => (typeof value === 'string' ? gate.text(value) : value));
}
