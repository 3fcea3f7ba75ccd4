import { deepFreeze, type HistoryEntry, type PromptMessage, wellFormed } from '@stint/provider-hooks';

/**
 * The history of a run: its entries, and the messages that they are to a provider. Messages are frozen and stay the
 * same objects, so that a request costs what is new in it.
 *
 * 1. What is added is pending until an answered request carried it; what the journal gave is not.
 * 2. Words that say nothing are an entry and no message, and half a character is none: providers refuse a conversation for
 *    ever that has them.
 * 3. Results that follow each other are one message: some providers want all results of an answer together.
 */
export class History {
  readonly #countTokens: (message: PromptMessage) => number;
  #entries: HistoryEntry[] = [];
  #messages: PromptMessage[] = [];
  #tokens = 0;
  #pending: HistoryEntry[] = [];
  readonly #keys = new Set<string>();
  /** What each compaction of this run kept. */
  readonly #kept = new Map<HistoryEntry, readonly HistoryEntry[]>();

  constructor(countTokens: (message: PromptMessage) => number) {
    this.#countTokens = countTokens;
  }

  /** All visible entries, oldest first. */
  get entries(): readonly HistoryEntry[] {
    return this.#entries;
  }

  get messages(): readonly PromptMessage[] {
    return this.#messages;
  }

  /** Estimated tokens of all messages. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Entries that no answered request carried yet, in the order to store them. */
  get pending(): readonly HistoryEntry[] {
    return this.#pending;
  }

  /** True if an entry of that key was added. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(entry: HistoryEntry): void {
    const frozen = deepFreeze(wellFormed(entry));
    this.#pending.push(frozen);
    this.#keys.add(frozen.key);
    if (frozen.kind === 'compaction') return this.#compact(frozen);
    this.#entries.push(frozen);
    this.#addMessage(frozen.message);
  }

  /** The pending entries without some of them; what a compaction keeps is counted without those, too. */
  pendingWithout(isLeftOut: (entry: HistoryEntry) => boolean): readonly HistoryEntry[] {
    const without = new Set(this.#pending.filter(isLeftOut));
    return this.#pending
      .filter((entry) => !without.has(entry))
      .map((entry) => {
        const leftOut = this.#kept.get(entry)?.filter((kept) => without.has(kept)).length ?? 0;
        return leftOut === 0 ? entry : { ...entry, keep: (entry.keep ?? 0) - leftOut };
      });
  }

  /** All entries so far are stored: an answered request carried them, or the journal gave them. */
  markStored(): void {
    this.#pending = [];
  }

  #compact(entry: HistoryEntry): void {
    const keep = Math.min(entry.keep ?? 0, this.#entries.length);
    const kept = keep === 0 ? [] : this.#entries.slice(-keep);
    this.#kept.set(entry, kept);
    this.#entries = [entry, ...kept];
    this.#messages = [];
    this.#tokens = 0;
    for (const each of this.#entries) this.#addMessage(each.message);
  }

  #addMessage(added: PromptMessage): void {
    let message = withoutBlanks(added);
    if (message === null) return;
    const last = this.#messages.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') {
      this.#tokens -= this.#countTokens(last);
      this.#messages.pop();
      message = deepFreeze({ ...last, content: [...last.content, ...message.content] });
    }
    this.#messages.push(message);
    this.#tokens += this.#countTokens(message);
  }
}

/**
 * The same message if all of it says something, one without its blank texts and without thoughts that nothing follows, or
 * null if there is nothing else in it. An answer that was cut in its thoughts is one that providers do not take back.
 */
function withoutBlanks(message: PromptMessage): PromptMessage | null {
  if (message.role !== 'user' && message.role !== 'assistant') return message;
  const said = message.content.filter((part) => !isBlank(part));
  const end = said.findLastIndex((part) => part.type !== 'reasoning') + 1;
  const content = said.slice(0, end) as typeof message.content;
  if (content.length === 0) return null;
  return content.length === message.content.length ? message : deepFreeze({ ...message, content } as PromptMessage);
}

function isBlank(part: { readonly type: string; readonly text?: string; readonly providerOptions?: unknown }): boolean {
  return part.type === 'text' && part.providerOptions === undefined && (part.text ?? '').trim() === '';
}

/** One token for three characters of the message's JSON: on the high side for prose in most languages. */
export function roughTokens(message: PromptMessage): number {
  return Math.ceil(JSON.stringify(message).length / 3);
}
