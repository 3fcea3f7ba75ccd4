/** Who listens to which channel in this process. Listeners are called in a microtask of their own each. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<() => void>>();

  get channels(): Iterable<string> {
    return this.#byChannel.keys();
  }

  get size(): number {
    return this.#byChannel.size;
  }

  add(channel: string, listener: () => void): () => void {
    const entry = (): void => listener(); // one entry an `add`, so that the same function can be added twice
    const set = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, set.add(entry));
    return () => {
      set.delete(entry);
      if (set.size === 0 && this.#byChannel.get(channel) === set) this.#byChannel.delete(channel);
    };
  }

  call(channel: string): void {
    const set = this.#byChannel.get(channel);
    if (set === undefined) return;
    for (const entry of set) {
      queueMicrotask(() => {
        if (set.has(entry)) entry();
      });
    }
  }

  callAll(): void {
    for (const channel of this.#byChannel.keys()) this.call(channel);
  }

  clear(): void {
    this.#byChannel.clear();
  }
}
