import type { ContentPart, HistoryEntry, PromptMessage, TurnResponse } from './types.js';

type AssistantContent = Extract<PromptMessage, { role: 'assistant' }>['content'];
type AssistantPart = AssistantContent[number];

/** The history entry of a complete answer; its key is made of the turn's id. */
export function responseEntry(turnId: string, response: Pick<TurnResponse, 'content'>): HistoryEntry {
  return {
    key: `response:${turnId}`,
    kind: 'response',
    message: { role: 'assistant', content: response.content.flatMap(toPromptPart) },
  };
}

/** Answer parts as prompt parts: metadata (a reasoning signature, an item id) goes back as provider options. */
function toPromptPart(part: ContentPart): AssistantPart[] {
  const options = part.providerMetadata ? { providerOptions: part.providerMetadata } : {};
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, ...options }];
    case 'file':
      return [{ type: 'file', data: part.data, mediaType: part.mediaType, ...options }];
    case 'tool-call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          input: parseToolInput(part.input) ?? {},
          ...(part.providerExecuted ? { providerExecuted: true } : {}),
          ...options,
        },
      ];
    case 'tool-result':
      return [
        {
          type: 'tool-result',
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          output: { type: part.isError ? 'error-json' : 'json', value: part.result },
          ...options,
        },
      ];
    default:
      return [];
  }
}

/** The arguments of a tool call as a JSON value; undefined if the text is not JSON. Empty text means `{}`. */
export function parseToolInput(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // not JSON is an answer here, the caller tells the model
  }
}
