import { cutToBytes, DTO_LIMITS, utf8Length } from '@stint/contracts';
import type { Redactor } from './redact.js';

/** A text as it may leave the agent. */
export interface ShownText {
  readonly text: string;
  readonly truncated: boolean;
}

/** How far past its bound a text is read before it is redacted: a mask is shorter than what it replaces. */
const READ_AHEAD = 2;

/**
 * Makes texts fit to be shown: redacted first, then cut at a character, so that no half secret stays at the end. Counts what it masked and whether
 * anything was cut.
 */
export class TextGate {
  readonly #redactor: Redactor;
  #cutCount = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** A gate of the same rules that counts from 0. */
  fork(): TextGate {
    return new TextGate(this.#redactor.fork());
  }

  /** Places masked so far. */
  get maskedCount(): number {
    return this.#redactor.maskedCount;
  }

  /** Texts cut so far. */
  get cutCount(): number {
    return this.#cutCount;
  }

  /** Redacted and at most `maxBytes` UTF-8 bytes. */
  show(text: string, maxBytes: number): ShownText {
    const read = readBeginning(text, maxBytes * READ_AHEAD);
    const redacted = this.#redactor.redact(read);
    const shown = cutToBytes(redacted, maxBytes);
    const truncated = read.length < text.length || shown.length < redacted.length;
    if (truncated) this.#cutCount += 1;
    return { text: shown, truncated };
  }

  /** A one-line text, at most 2 KiB. */
  line(text: string): string {
    return this.show(text, DTO_LIMITS.maxLineBytes).text;
  }

  /** A long text, at most 64 KiB. */
  text(text: string): string {
    return this.show(text, DTO_LIMITS.maxTextBytes).text;
  }

  /** A bounded list of shown values. */
  list<T, R>(values: readonly T[], maximum: number, show: (value: T) => R): R[] {
    if (values.length > maximum) this.#cutCount += 1;
    return values.slice(0, maximum).map(show);
  }
}

/** The beginning that is worth redacting. The word that the end would split is left out, unless it begins inside the bound. */
function readBeginning(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && utf8Length(text) <= maxBytes) return text;
  const beginning = cutToBytes(text, maxBytes);
  const space = Math.max(beginning.lastIndexOf(' '), beginning.lastIndexOf('\n'));
  return space > maxBytes / READ_AHEAD ? beginning.slice(0, space) : beginning;
}
