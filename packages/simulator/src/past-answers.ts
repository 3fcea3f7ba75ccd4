import type { PastState, Protocol, Reply } from './protocol.js';

/** Answers that are kept; an older one is forgotten. */
const mostAnswers = 1_000;

interface PastAnswer {
  readonly protocol: Protocol;
  readonly reply: Reply;
  readonly state: PastState;
}

/**
 * What a provider keeps of its answers, so that a client which lost one can ask for it by id. An answer is completed
 * whatever becomes of the connection that it is written to: the model does not stop because nobody listens.
 */
export class PastAnswers {
  readonly #answers = new Map<string, PastAnswer>();

  keep(protocol: Protocol, reply: Reply, state: PastState): void {
    this.#answers.delete(reply.id);
    this.#answers.set(reply.id, { protocol, reply, state });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > mostAnswers && oldest !== undefined) this.#answers.delete(oldest);
  }

  /** The body to answer with; null if nothing is kept under that id. */
  bodyOf(id: string): Readonly<Record<string, unknown>> | null {
    const past = this.#answers.get(id);
    return past?.protocol.pastBody?.(past.reply, past.state) ?? null;
  }
}
