import type { Message, ScenarioRequest, ToolCall } from './scenario.js';

/** A tool call together with its result; `result` is null while there is none. */
export interface CallWithResult extends ToolCall {
  readonly result: string | null;
}

/** All system texts, joined by line ends. */
export function systemText(request: Pick<ScenarioRequest, 'messages'>): string {
  return textsOf(request, 'system').join('\n');
}

/** The first thing the user said, or an empty text. */
export function firstUserText(request: Pick<ScenarioRequest, 'messages'>): string {
  return textsOf(request, 'user')[0] ?? '';
}

/** The last thing the user said, or an empty text. */
export function lastUserText(request: Pick<ScenarioRequest, 'messages'>): string {
  return textsOf(request, 'user').at(-1) ?? '';
}

/** Every call made so far with its result, in order; of one tool, if named. */
export function callsWithResults(
  request: Pick<ScenarioRequest, 'messages'>,
  toolName?: string,
): readonly CallWithResult[] {
  const results = new Map<string, string>();
  for (const message of request.messages) if (message.role === 'tool') results.set(message.toolCallId, message.text);
  const calls = request.messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  return calls
    .filter((call) => toolName === undefined || call.name === toolName)
    .map((call) => ({ ...call, result: results.get(call.id) ?? null }));
}

/** The result of the last call of that tool; null if there is none. */
export function lastResult(request: Pick<ScenarioRequest, 'messages'>, toolName: string): string | null {
  return callsWithResults(request, toolName).at(-1)?.result ?? null;
}

/** True if the request offers a tool of that name. */
export function offers(request: Pick<ScenarioRequest, 'tools'>, toolName: string): boolean {
  return request.tools.some((tool) => tool.name === toolName);
}

/** How often the model has answered in this conversation: 0 at its first turn. */
export function turnsTaken(request: Pick<ScenarioRequest, 'messages'>): number {
  return request.messages.filter((message) => message.role === 'assistant').length;
}

function textsOf(request: Pick<ScenarioRequest, 'messages'>, role: Message['role']): readonly string[] {
  return request.messages.flatMap((message) => (message.role === role ? [message.text] : []));
}
