import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';

export type Model = Extract<LanguageModel, { readonly specificationVersion: 'v3' }>;

export const clientNames = ['openai-compatible', 'openai chat', 'openai responses', 'anthropic'] as const;

const apiKey = 'made-up-key';

/** The same simulator seen through each of the providers' own clients. */
export function clientModel(client: (typeof clientNames)[number], baseURL: string, modelId = 'any'): Model {
  switch (client) {
    case 'openai-compatible':
      return createOpenAICompatible({ name: 'sim', baseURL, apiKey, includeUsage: true })(modelId);
    case 'openai chat':
      return createOpenAI({ baseURL, apiKey }).chat(modelId);
    case 'openai responses':
      return createOpenAI({ baseURL, apiKey }).responses(modelId);
    case 'anthropic':
      return createAnthropic({ baseURL, apiKey })(modelId);
  }
}

type CallOptions = Parameters<Model['doStream']>[0];
type Prompt = CallOptions['prompt'];

/** Two turns: a system text, a question, a tool call that was answered, and a second question. */
export const conversation: Prompt = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'What is the wheather in Łódź?' }] },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Łódź' } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output: { type: 'text', value: '7 degrees' } },
    ],
  },
  { role: 'user', content: [{ type: 'text', text: 'And tomorrow?' }] },
];

export const options: CallOptions = {
  prompt: conversation,
  maxOutputTokens: 300,
  headers: { 'x-client-request-id': 'turn-1' },
  tools: [
    {
      type: 'function',
      name: 'weather',
      description: 'Tells the weather.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
};

/** What came out of a call, streamed or not, in one shape. */
export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly toolName: string; readonly input: string }[];
  readonly finishReason: string | null;
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** Errors that came as parts of the stream. */
  readonly errors: number;
}

export async function hear(model: Model, stream: boolean, more: Partial<CallOptions> = {}): Promise<Heard> {
  const given = { ...options, ...more };
  return stream ? hearStream(await model.doStream(given)) : hearWhole(await model.doGenerate(given));
}

function hearWhole({ content, finishReason, usage }: Awaited<ReturnType<Model['doGenerate']>>): Heard {
  const texts = (type: 'text' | 'reasoning') => content.map((part) => (part.type === type ? part.text : '')).join('');
  return {
    text: texts('text'),
    reasoning: texts('reasoning'),
    calls: content.flatMap((part) =>
      part.type === 'tool-call' ? [{ toolName: part.toolName, input: part.input }] : [],
    ),
    finishReason: finishReason.unified,
    input: usage.inputTokens.total,
    output: usage.outputTokens.total,
    errors: 0,
  };
}

async function hearStream({ stream }: Awaited<ReturnType<Model['doStream']>>): Promise<Heard> {
  const heard = { text: '', reasoning: '', calls: [] as { toolName: string; input: string }[], errors: 0 };
  let end: Pick<Heard, 'finishReason' | 'input' | 'output'> = {
    finishReason: null,
    input: undefined,
    output: undefined,
  };
  for await (const part of stream) {
    if (part.type === 'text-delta') heard.text += part.delta;
    if (part.type === 'reasoning-delta') heard.reasoning += part.delta;
    if (part.type === 'tool-call') heard.calls.push({ toolName: part.toolName, input: part.input });
    if (part.type === 'error') heard.errors += 1;
    if (part.type !== 'finish') continue;
    const { finishReason, usage } = part;
    end = { finishReason: finishReason.unified, input: usage.inputTokens.total, output: usage.outputTokens.total };
  }
  return { ...heard, ...end };
}
