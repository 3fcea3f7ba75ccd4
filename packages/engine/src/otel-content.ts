import type { Attributes } from '@opentelemetry/api';
import type { FrozenRequest, PromptMessage, TurnResponse } from '@stint/provider-hooks';

type Part = Readonly<Record<string, unknown>>;

/** What a request says, as the convention's JSON. Only for those who asked for content. */
export function requestContent({ prompt, tools }: FrozenRequest): Attributes {
  const system = prompt.filter((message) => message.role === 'system');
  const messages = prompt.filter((message) => message.role !== 'system');
  return {
    'gen_ai.input.messages': JSON.stringify(
      messages.map((message) => ({ role: message.role, parts: partsOf(message) })),
    ),
    ...(system.length > 0 ? { 'gen_ai.system_instructions': JSON.stringify(system.flatMap(partsOf)) } : {}),
    ...(tools.length > 0 ? { 'gen_ai.tool.definitions': JSON.stringify(tools) } : {}),
  };
}

/** What an answer says. */
export function responseContent({ content, finishReason }: TurnResponse): Attributes {
  const parts = content.map((part) => partOf(part as unknown as Part));
  return {
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts, finish_reason: finishReason }]),
  };
}

function partsOf({ content }: PromptMessage): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', content }];
  return content.map((part) => partOf(part as unknown as Part));
}

function partOf(part: Part): Part {
  switch (part['type']) {
    case 'text':
    case 'reasoning':
      return { type: part['type'], content: part['text'] };
    case 'tool-call':
      return { type: 'tool_call', id: part['toolCallId'], name: part['toolName'], arguments: part['input'] };
    case 'tool-result':
      return { type: 'tool_call_response', id: part['toolCallId'], response: part['output'] ?? part['result'] };
    default:
      return { type: part['type'] }; // files are named, not copied
  }
}
