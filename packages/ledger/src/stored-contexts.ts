const mostKept = 10_000;

/** How many tokens the answers of one client took, by their ids: a request that continues one brings that much context along. */
export class StoredContexts {
  readonly #tokens = new Map<string, number>();

  /** The oldest is forgotten when there are ten thousand. */
  keep(id: string, tokens: number): void {
    this.#tokens.delete(id);
    this.#tokens.set(id, tokens);
    if (this.#tokens.size <= mostKept) return;
    for (const oldest of this.#tokens.keys()) {
      this.#tokens.delete(oldest);
      return;
    }
  }

  /** Undefined for an answer that this client did not see. */
  tokensOf(id: string | undefined): number | undefined {
    return id === undefined ? undefined : this.#tokens.get(id);
  }
}
