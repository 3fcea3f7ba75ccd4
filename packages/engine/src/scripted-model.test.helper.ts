import {
  hookModel,
  type HookedModel,
  type HookOptions,
  type LanguageModelLike,
  type PromptMessage,
  type ProviderHooks,
} from '@stint/provider-hooks';
import { createRegistry, defineTool, type ToolDefinition, type ToolRegistry } from '@stint/tools';
import { runEngine } from './run-engine.js';
import type { EngineEvent, EngineOptions, RunEnd } from './types.js';

/** What a scripted model answers with, or fails with. */
export interface Script {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input?: unknown; readonly rawInput?: string }[];
  readonly finishReason?: string;
  readonly outputTokens?: number | null;
  /** Thrown before the stream, or after `text` with `afterText`. */
  readonly error?: unknown;
  readonly afterText?: boolean;
}

export interface SeenRequest {
  readonly prompt: readonly PromptMessage[];
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface ScriptedModel {
  readonly model: HookedModel;
  readonly requests: SeenRequest[];
  /** What the hooks were called with, in order. */
  readonly steps: string[];
}

/** A model in memory with its boundary at the invocation; `answer` is asked for each request, from 0. */
export function scriptedModel(
  answer: (index: number, request: SeenRequest) => Script | Promise<Script>,
  options: HookOptions & { readonly name?: string; readonly hooks?: ProviderHooks<never> } = {},
): ScriptedModel {
  const requests: SeenRequest[] = [];
  const steps: string[] = [];
  const bare: LanguageModelLike = {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: options.name ?? 'model',
    doGenerate: () => Promise.reject(new Error('not scripted')),
    doStream: async ({ prompt, ...settings }: { prompt: readonly PromptMessage[] }) => {
      const request = { prompt: structuredClone(prompt) as readonly PromptMessage[], settings };
      requests.push(request);
      const script = await answer(requests.length - 1, request);
      if (script.error !== undefined && !script.afterText) throw script.error as Error;
      return { stream: ReadableStream.from(partsOf(script, requests.length)) };
    },
  };
  const prefix = options.name ?? 't';
  const recording: ProviderHooks = {
    prepare: async ({ inputIds }) => {
      steps.push(`prepare ${inputIds.join(',')}`.trim());
      return { id: `${prefix}${steps.filter((step) => step.startsWith('prepare')).length}` };
    },
    start: async ({ id }) => void steps.push(`start ${id}`),
    finish: async ({ id }) => void steps.push(`finish ${id}`),
    fail: async ({ id }, error) => void steps.push(`fail ${id} ${error.code}`),
  };
  const model = hookModel(bare, (options.hooks ?? recording) as ProviderHooks, options);
  return { model, requests, steps };
}

function* partsOf(script: Script, request: number): Iterable<object> {
  if (script.text !== undefined) {
    yield { type: 'text-start', id: 'x' };
    yield { type: 'text-delta', id: 'x', delta: script.text };
    yield { type: 'text-end', id: 'x' };
  }
  if (script.error !== undefined) throw script.error as Error;
  for (const [index, call] of (script.calls ?? []).entries()) {
    const input = call.rawInput ?? JSON.stringify(call.input ?? {});
    yield { type: 'tool-call', toolCallId: `call-${request}-${index}`, toolName: call.tool, input };
  }
  const unified = script.finishReason ?? (script.calls ? 'tool-calls' : 'stop');
  const output = script.outputTokens === null ? undefined : (script.outputTokens ?? 2);
  const usage = { inputTokens: { total: output === undefined ? undefined : 3 }, outputTokens: { total: output } };
  yield { type: 'finish', finishReason: { unified, raw: unified }, usage };
}

/** An error as the AI SDK throws it for an HTTP status. */
export function httpError(statusCode: number, responseHeaders: Readonly<Record<string, string>> = {}): Error {
  return Object.assign(new Error(`status ${statusCode}`), { name: 'AI_APICallError', statusCode, responseHeaders });
}

export type ToolSpec = Partial<ToolDefinition<Readonly<Record<string, unknown>>>> & {
  readonly execute: (input: Readonly<Record<string, unknown>>, context: { readonly signal: AbortSignal }) => unknown;
};

export function registryOf(tools: Readonly<Record<string, ToolSpec>>): ToolRegistry {
  return createRegistry(
    Object.entries(tools).map(([name, tool]) =>
      defineTool({ name, description: name, inputSchema: { type: 'object' }, ...tool } as never),
    ),
  );
}

export interface Finished {
  readonly end: RunEnd;
  readonly events: readonly EngineEvent[];
  readonly types: readonly string[];
}

/** Runs to the end with quick retries; checks that the last event, and no other, is terminal. */
export async function finish(options: EngineOptions): Promise<Finished> {
  const events: EngineEvent[] = [];
  for await (const event of runEngine({
    ...(options.resume ? {} : { prompt: 'go' }),
    retry: { baseDelayMs: 1, maxDelayMs: 5 },
    ...options,
  }))
    events.push(event);
  const ends = events.filter((event) => event.type === 'run-end');
  if (ends.length !== 1 || events.at(-1) !== ends[0])
    throw new Error(`terminal events: ${ends.length} of ${events.length}`);
  checkValid((ends[0] as RunEnd).entries.map((entry) => entry.message));
  return { end: ends[0] as RunEnd, events, types: events.map((event) => event.type) };
}

/** Throws unless every call is followed by exactly its results, before anything else. */
export function checkValid(messages: readonly PromptMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue;
        if (open[0] !== part.toolCallId)
          throw new Error(`result of ${part.toolCallId} where ${open[0] ?? 'none'} is due`);
        open = open.slice(1);
      }
      continue;
    }
    if (open.length > 0) throw new Error(`a ${message.role} message where the result of ${open[0]} is due`);
    if (message.role === 'assistant') {
      open = message.content.flatMap((part) =>
        part.type === 'tool-call' && !part.providerExecuted ? [part.toolCallId] : [],
      );
    }
  }
  if (open.length > 0) throw new Error(`no result of ${open.join()}`);
}

/** The texts of a prompt: `user: hi`, `assistant: ...`, `tool: ...`. */
export function lines(prompt: readonly PromptMessage[]): readonly string[] {
  return prompt.flatMap((message) =>
    typeof message.content === 'string'
      ? [`${message.role}: ${message.content}`]
      : message.content.map((part) => {
          if (part.type === 'text') return `${message.role}: ${part.text}`;
          if (part.type === 'tool-call') return `call: ${part.toolName}`;
          if (part.type === 'tool-result' && 'value' in part.output) return `result: ${part.output.value as string}`;
          return `${message.role}: ${part.type}`;
        }),
  );
}
