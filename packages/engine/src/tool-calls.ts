import { hasInvalidInput, type HistoryEntry, type PromptMessage } from '@stint/provider-hooks';
import type { ToolResult } from '@stint/tools';

/** A tool call as it stands in a history entry. */
export interface CallInHistory {
  readonly callIndex: number;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: unknown;
  /** The arguments could not be read; the call is never run. */
  readonly isCut: boolean;
}

/** The calls of an answer that are ours to run; those that the provider ran itself are not. */
export function callsOf(entry: HistoryEntry): readonly CallInHistory[] {
  const { content } = entry.message;
  if (entry.kind !== 'response' || typeof content === 'string') return [];
  const calls = content.filter((part) => part.type === 'tool-call' && part.providerExecuted !== true);
  return (calls as ToolCallPart[]).map((part, callIndex) => ({
    callIndex,
    toolCallId: part.toolCallId,
    tool: part.toolName,
    input: part.input,
    isCut: hasInvalidInput(part),
  }));
}

type Assistant = Extract<PromptMessage, { role: 'assistant' }>;
type ToolCallPart = Extract<Assistant['content'][number], { type: 'tool-call' }>;

/** The turn that an answer's entry belongs to: its key is `response:<turn>`. */
export function turnOf(entry: HistoryEntry): string {
  return entry.key.slice('response:'.length);
}

/** The key of a call's result: a turn's call has exactly one. */
export function resultKey(turn: string, callIndex: number): string {
  return `result:${turn}:${callIndex}`;
}

/** A call's result as the model will see it. */
export function resultEntry(
  turn: string,
  call: CallInHistory,
  result: Pick<ToolResult, 'ok' | 'output'>,
): HistoryEntry {
  return {
    key: resultKey(turn, call.callIndex),
    kind: 'tool-result',
    message: {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: call.toolCallId,
          toolName: call.tool,
          output: { type: result.ok ? 'text' : 'error-text', value: result.output },
        },
      ],
    },
  };
}

/** The result of a call that did not happen. */
export function notRun(why: string): ToolResult {
  const output = `Not run: ${why}`;
  return { ok: false, output, outputBytes: Buffer.byteLength(output), code: 'not_run', errorEffect: 'none' };
}

/** The result of a call whose process ended while it ran. */
export const outcomeUnknown: ToolResult = {
  ok: false,
  output: 'Interrupted; the outcome is unknown. Check what the call did before you repeat it.',
  outputBytes: 82,
  code: 'interrupted',
  errorEffect: 'unknown',
};
