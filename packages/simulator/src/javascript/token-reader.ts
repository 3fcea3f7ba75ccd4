import { type Token, tokenize, Unsupported } from './tokenize.js';

/** Walks along the tokens of a source; can look ahead and go back. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(source: string) {
    this.#tokens = tokenize(source);
  }

  peek(ahead = 0): Token {
    const token = this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)];
    if (token === undefined) throw new Unsupported('The source has no tokens.');
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  /** True if the next token is this punctuator or name. Strings never match. */
  is(raw: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return (token.type === 'punctuator' || token.type === 'name') && token.raw === raw;
  }

  /** Takes the token if it is this one. */
  take(raw: string): boolean {
    if (!this.is(raw)) return false;
    this.#at += 1;
    return true;
  }

  expect(raw: string): Token {
    if (this.is(raw)) return this.next();
    const found = this.peek();
    throw new Unsupported(`Expected ${raw} at ${found.start}, found ${found.raw || 'the end'}.`);
  }

  name(): string {
    const token = this.next();
    if (token.type === 'name') return token.raw;
    throw new Unsupported(`Expected a name at ${token.start}, found ${token.raw || 'the end'}.`);
  }

  /** Ends a statement: a semicolon, or what stands for one. */
  semicolon(): void {
    if (this.take(';')) return;
    const token = this.peek();
    if (this.is('}') || token.type === 'end' || token.newlineBefore) return;
    throw new Unsupported(`Expected the end of a statement at ${token.start}, found ${token.raw}.`);
  }

  /** The index just past the bracket that closes the one `ahead` tokens from here. */
  pastClosing(ahead: number): number {
    let depth = 0;
    for (let index = ahead; ; index += 1) {
      const token = this.peek(index);
      if (token.type === 'end') return index;
      if (['(', '[', '{'].some((raw) => this.is(raw, index))) depth += 1;
      if ([')', ']', '}'].some((raw) => this.is(raw, index))) depth -= 1;
      if (token.type === 'template' && !token.raw.startsWith('}') && !token.tail) depth += 1;
      if (token.type === 'template' && token.raw.startsWith('}') && token.tail) depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
}
