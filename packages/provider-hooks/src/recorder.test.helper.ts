import type { ProviderError } from './errors.js';
import type { LanguageModelLike } from './model.js';
import type { FailFacts, FrozenRequest, PromptMessage, ProviderHooks, TurnHandle, TurnResponse } from './types.js';

/** Hooks that write down what they were called with, in order. */
export class Recorder implements ProviderHooks {
  readonly steps: string[] = [];
  readonly requests: FrozenRequest[] = [];
  readonly responses: TurnResponse[] = [];
  readonly failures: { readonly error: ProviderError; readonly facts: FailFacts }[] = [];
  readonly #prefix = Math.random().toString(36).slice(2, 8);

  async prepare(request: FrozenRequest): Promise<TurnHandle> {
    this.requests.push(request);
    const id = `${this.#prefix}-${this.requests.length}`;
    this.steps.push('prepare');
    return { id };
  }

  async start(handle: TurnHandle): Promise<void> {
    this.steps.push(`start ${this.#place(handle)}`);
  }

  async finish(handle: TurnHandle, response: TurnResponse): Promise<void> {
    this.responses.push(response);
    this.steps.push(`finish ${this.#place(handle)}`);
  }

  async fail(handle: TurnHandle, error: ProviderError, facts: FailFacts): Promise<void> {
    this.failures.push({ error, facts });
    this.steps.push(`fail ${this.#place(handle)} ${error.code}`);
  }

  id(place: number): string {
    return `${this.#prefix}-${place}`;
  }

  #place({ id }: TurnHandle): string {
    return id.slice(this.#prefix.length + 1);
  }
}

/** A prompt of one user message. */
export function promptOf(text: string): PromptMessage[] {
  return [{ role: 'user', content: [{ type: 'text', text }] }];
}

/** All of an iteration. */
export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** What a promise is rejected with. */
export async function rejection(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}

export type FakeModel = LanguageModelLike & { doGenerate: (options: never) => Promise<object> };

/** A model in memory, of any specification. */
export function fakeModel(version: 'v2' | 'v3' | 'v4', parts: () => readonly object[]): FakeModel {
  return {
    specificationVersion: version,
    provider: 'fake',
    modelId: 'model',
    doGenerate: async () => ({ content: [{ type: 'text', text: 'free' }], finishReason: 'stop', usage: {} }),
    doStream: async () => ({ stream: ReadableStream.from(parts()) }),
  };
}

/** A whole stream that says these words. */
export function partsOf(deltas: readonly string[], version = 'v3'): readonly object[] {
  const flat = version === 'v2';
  return [
    { type: 'text-start', id: '1' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
    {
      type: 'finish',
      finishReason: flat ? 'stop' : { unified: 'stop', raw: 'stop' },
      usage: flat
        ? { inputTokens: 3, outputTokens: 2, totalTokens: 5 }
        : { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
    },
  ];
}
