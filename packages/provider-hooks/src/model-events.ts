import { isContentType, type StreamPart } from './answer.js';
import type { AnswerReader } from './answer-reader.js';
import type { HookedCall } from './hooked-call.js';
import type { ModelEvent } from './model.js';
import type { ContentPart, TurnHandle, TurnResponse } from './types.js';

/** How to begin: with a reader for a stream, or with the whole response. */
export interface EventSource<H extends TurnHandle> {
  open(): Promise<
    { readonly call: HookedCall<H> } & ({ readonly reader: AnswerReader<H> } | { readonly response: TurnResponse })
  >;
}

/**
 * A call's events in normal form. Written by hand, not as a generator: a stream passes here part by part, and each
 * layer of generators costs as much as the hooks do.
 */
export function modelEvents<H extends TurnHandle>(source: EventSource<H>): AsyncIterableIterator<ModelEvent> {
  return new ModelEvents(source);
}

class ModelEvents<H extends TurnHandle> implements AsyncIterableIterator<ModelEvent> {
  readonly #source: EventSource<H>;
  #reader: AnswerReader<H> | null = null;
  #ready: ModelEvent[] = [];
  #state: 'new' | 'open' | 'done' = 'new';

  constructor(source: EventSource<H>) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ModelEvent, undefined>> {
    try {
      if (this.#state === 'new') await this.#begin();
      if (this.#reader !== null && this.#state === 'open') {
        const reader = this.#reader;
        const event = await reader.read(eventOf);
        if (reader.response === null) return { done: false, value: event as ModelEvent };
        this.#state = 'done';
        return { done: false, value: finishEvent(reader.turnId, reader.response) };
      }
      const value = this.#ready.shift();
      return value === undefined ? { done: true, value } : { done: false, value };
    } catch (error) {
      this.#state = 'done';
      throw error;
    }
  }

  async return(): Promise<IteratorResult<ModelEvent, undefined>> {
    if (this.#state === 'open') await this.#reader?.cancel(new Error('the consumer ended the iteration'));
    this.#state = 'done';
    this.#ready = [];
    return { done: true, value: undefined };
  }

  async #begin(): Promise<void> {
    const opened = await this.#source.open();
    if ('reader' in opened) {
      this.#reader = opened.reader;
      this.#state = 'open';
      return;
    }
    this.#state = 'done';
    const { content } = opened.response;
    this.#ready = [...content.map(toEvent), finishEvent(opened.call.turnId, opened.response)];
  }
}

function eventOf(part: StreamPart): ModelEvent | null {
  if (part.type === 'text-delta') return { type: 'text-delta', delta: part['delta'] as string };
  if (part.type === 'reasoning-delta' && part['delta'] !== '')
    return { type: 'reasoning-delta', delta: part['delta'] as string };
  return isContentType(part.type) ? contentEvent(part) : null;
}

function toEvent(part: ContentPart): ModelEvent {
  if (part.type === 'text') return { type: 'text-delta', delta: part.text };
  if (part.type === 'reasoning') return { type: 'reasoning-delta', delta: part.text };
  return { type: 'content', part };
}

function contentEvent(part: StreamPart): ModelEvent {
  return { type: 'content', part: part as unknown as ContentPart };
}

function finishEvent(turnId: string | null, response: TurnResponse): ModelEvent {
  return { type: 'finish', turnId, response };
}
