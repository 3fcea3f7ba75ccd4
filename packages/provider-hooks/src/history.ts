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
      return [toCallPart(part)];
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

/** Arguments that are no JSON object cannot be sent back to every provider; the mark says that `{}` stands for them. */
function toCallPart(part: Extract<ContentPart, { type: 'tool-call' }>): AssistantPart {
  const input = objectOf(parseToolInput(part.input));
  const options = { ...part.providerMetadata, ...(input === undefined ? invalidInputMark : {}) };
  return {
    type: 'tool-call',
    toolCallId: part.toolCallId,
    toolName: nameToSend(part.toolName),
    input: input ?? {},
    ...(part.providerExecuted ? { providerExecuted: true } : {}),
    ...(Object.keys(options).length > 0 ? { providerOptions: options } : {}),
  };
}

/** Null is how some models say that there are no arguments. */
function objectOf(input: unknown): object | undefined {
  if (input === null) return {};
  return typeof input === 'object' && !Array.isArray(input) ? input : undefined;
}

/**
 * Models call tools that nobody has, by names that providers refuse when they are sent back (`multi_tool_use.parallel`):
 * one such name would make the conversation unusable. What is sent instead is the name of no tool either.
 */
function nameToSend(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : `${name.replaceAll(/[^\w-]/g, '_').slice(0, 50)}_no_such_tool`;
}

const invalidInputMark = { stint: { invalidInput: true } };

/** True if the arguments of a call in a history entry are no JSON object: it was cut, or is nonsense, and is never run. */
export function hasInvalidInput(part: {
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
}): boolean {
  return (part.providerOptions?.['stint'] as { invalidInput?: unknown } | undefined)?.invalidInput === true;
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
