import type { Expression, FunctionBody, Pattern, PatternElement, PatternEntry, Statement } from './syntax.js';
import type { TokenReader } from './token-reader.js';
import { Unsupported } from './tokenize.js';

/** Reads a block's statements up to and including its `}`. */
export interface StatementReader {
  blockBody(): readonly Statement[];
}

/** What reading a function needs of the expression reader. */
interface Expressions {
  one(): Expression;
  propertyKey(): Expression;
}

interface Parts {
  readonly tokens: TokenReader;
  readonly expressions: Expressions;
  readonly statements: StatementReader;
}

/** A function from its parameters on; for an arrow, the `=>` too. */
export function readFunctionRest(parts: Parts, name: string, arrow = false): FunctionBody {
  const { tokens } = parts;
  const single = arrow && !tokens.is('(');
  const { parameters, rest } = single ? oneParameter(tokens) : readParameters(parts);
  if (arrow) tokens.expect('=>');
  return { name, parameters, rest, body: readBody(parts, arrow), arrow };
}

function readBody({ tokens, expressions, statements }: Parts, arrow: boolean): readonly Statement[] {
  if (arrow && !tokens.is('{')) return [{ type: 'return', value: expressions.one() }];
  tokens.expect('{');
  return statements.blockBody();
}

function oneParameter(tokens: TokenReader): { parameters: readonly PatternElement[]; rest: null } {
  return { parameters: [{ target: { type: 'name', name: tokens.name() }, byDefault: null }], rest: null };
}

function readParameters({ tokens, expressions }: Parts) {
  const parameters: PatternElement[] = [];
  let rest: Pattern | null = null;
  tokens.expect('(');
  while (!tokens.take(')')) {
    if (tokens.take('...')) rest = readPattern(tokens, expressions);
    else parameters.push(readElement(tokens, expressions));
    if (!tokens.is(')')) tokens.expect(',');
  }
  return { parameters, rest };
}

/** A binding pattern: a name, `{...}` or `[...]`. */
export function readPattern(tokens: TokenReader, expressions: Expressions): Pattern {
  if (tokens.take('{')) return objectPattern(tokens, expressions);
  if (tokens.take('[')) return arrayPattern(tokens, expressions);
  return { type: 'name', name: tokens.name() };
}

function readElement(tokens: TokenReader, expressions: Expressions): PatternElement {
  const target = readPattern(tokens, expressions);
  return { target, byDefault: tokens.take('=') ? expressions.one() : null };
}

function arrayPattern(tokens: TokenReader, expressions: Expressions): Pattern {
  const elements: (PatternElement | null)[] = [];
  let rest: Pattern | null = null;
  while (!tokens.take(']')) {
    if (tokens.take(',')) {
      elements.push(null);
      continue;
    }
    if (tokens.take('...')) rest = readPattern(tokens, expressions);
    else elements.push(readElement(tokens, expressions));
    if (!tokens.is(']')) tokens.expect(',');
  }
  return { type: 'array-pattern', elements, rest };
}

function objectPattern(tokens: TokenReader, expressions: Expressions): Pattern {
  const entries: PatternEntry[] = [];
  let rest: Pattern | null = null;
  while (!tokens.take('}')) {
    if (tokens.take('...')) rest = readPattern(tokens, expressions);
    else entries.push(readEntry(tokens, expressions));
    if (!tokens.is('}')) tokens.expect(',');
  }
  return { type: 'object-pattern', entries, rest };
}

function readEntry(tokens: TokenReader, expressions: Expressions): PatternEntry {
  const { type, raw } = tokens.peek();
  const key = expressions.propertyKey();
  if (tokens.take(':')) return { key, ...readElement(tokens, expressions) };
  if (type !== 'name') throw new Unsupported(`Unexpected ${raw} in a pattern.`);
  return { key, target: { type: 'name', name: raw }, byDefault: tokens.take('=') ? expressions.one() : null };
}
