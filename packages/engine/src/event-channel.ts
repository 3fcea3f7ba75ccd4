const nothing = Promise.resolve();

/**
 * Carries events from the loop to its one consumer.
 *
 * 1. `emit` hands an event over and waits until the consumer comes back for the next: what it did on seeing the event
 *    has happened before the loop goes on.
 * 2. `push` is for the many small ones: the loop runs ahead, but at most `highWater` events.
 * 3. `next` may be called again before the last one settled: each call gets an event, in order.
 * 4. `return` by the consumer runs `onReturn` and waits for the producer to end; nothing is handed over any more.
 */
export class EventChannel<T> implements AsyncIterableIterator<T> {
  readonly #queue: T[] = [];
  readonly #highWater: number;
  readonly #start: () => Promise<void>;
  readonly #onReturn: () => void;
  #producer: Promise<void> | null = null;
  #waiting: ((result: IteratorResult<T, undefined>) => void) | null = null;
  /** Settles when the consumer that waits has its event. */
  #waited: Promise<unknown> = Promise.resolve();
  #taken: (() => void) | null = null;
  #closed = false;

  /** `start` is the producer; it runs once the consumer asks for the first event, and ends the channel when it ends. */
  constructor(start: () => Promise<void>, onReturn: () => void, highWater = 256) {
    this.#start = start;
    this.#onReturn = onReturn;
    this.#highWater = highWater;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Undefined if the consumer keeps up, else what to await before the next event. */
  push(event: T): Promise<void> | undefined {
    if (this.#closed) return undefined;
    if (this.#waiting) {
      const deliver = this.#waiting;
      this.#waiting = null;
      deliver({ done: false, value: event });
      return undefined;
    }
    this.#queue.push(event);
    return this.#queue.length >= this.#highWater ? this.#whenTaken() : undefined;
  }

  emit(event: T): Promise<void> {
    if (this.#closed) return nothing;
    void this.push(event);
    return this.#whenTaken();
  }

  // Without `async`, and so without promises of its own: many events pass here.
  next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#producer && !this.#closed) {
      this.#producer = this.#start().finally(() => this.#close());
      this.#producer.catch(() => undefined); // the producer reports its errors as events
    }
    if (this.#waiting) return this.#waited.then(() => this.next()); // asked twice at once: one after the other
    const value = this.#queue.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    const result = new Promise<IteratorResult<T, undefined>>((resolve) => {
      this.#waiting = resolve;
    });
    this.#waited = result;
    this.#release();
    return result;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#close();
    this.#onReturn();
    await this.#producer;
    return { done: true, value: undefined };
  }

  #whenTaken(): Promise<void> {
    return new Promise((resolve) => {
      this.#taken = resolve;
    });
  }

  #release(): void {
    this.#taken?.();
    this.#taken = null;
  }

  #close(): void {
    this.#closed = true;
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = null;
    this.#release();
  }
}
