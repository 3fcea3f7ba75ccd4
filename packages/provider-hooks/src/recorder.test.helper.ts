import type { ProviderError } from './errors.js';
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
