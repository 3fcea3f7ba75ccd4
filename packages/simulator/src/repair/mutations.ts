import { numberValue } from '../javascript/parse-expression.js';
import { type Token, tokenize, Unsupported } from '../javascript/tokenize.js';

/** One small change of one file. */
export interface Mutation {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** How far-fetched the change is: 0 for the usual slip, more for others. */
  readonly weight: number;
}

/** A constant in a source, with what is needed to write another one in its place. */
export interface Constant {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly value: string | number;
  /** The constant as source text for another value. */
  readonly write: (value: string | number) => string;
}

const siblings: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>', '>='],
  '<=': ['<', '>=', '>'],
  '>': ['>=', '<', '<='],
  '>=': ['>', '<=', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
  '+': ['-', '*', '/', '%', '**'],
  '-': ['+', '*', '/', '%', '**'],
  '*': ['/', '+', '-', '**', '%'],
  '/': ['*', '-', '+', '%', '**'],
  '%': ['/', '*', '+', '-'],
  '**': ['*', '+', '/', '-'],
  '&&': ['||', '??'],
  '||': ['&&', '??'],
  '??': ['||', '&&'],
  '+=': ['-=', '*=', '/=', '='],
  '-=': ['+=', '/=', '*=', '='],
  '*=': ['+=', '/=', '-=', '**='],
  '/=': ['*=', '-=', '+=', '%='],
  '%=': ['/=', '*='],
  '++': ['--'],
  '--': ['++'],
  '&': ['|', '^'],
  '|': ['&', '^'],
  '^': ['&', '|'],
  '<<': ['>>'],
  '>>': ['<<'],
  '!': [''],
  true: ['false'],
  false: ['true'],
  min: ['max'],
  max: ['min'],
  floor: ['ceil', 'round'],
  ceil: ['floor', 'round'],
  round: ['floor', 'ceil'],
  toUpperCase: ['toLowerCase'],
  toLowerCase: ['toUpperCase'],
};

/** Every change of one operator (or word that is often mixed up) in a file. */
export function operatorMutations(path: string, source: string): readonly Mutation[] {
  return tokensOf(source).flatMap(({ type, raw, start, end }) => {
    if ((type !== 'punctuator' && type !== 'name') || !Object.hasOwn(siblings, raw)) return [];
    return (siblings[raw] ?? []).map((replacement, index) => ({ path, start, end, replacement, weight: index * 0.6 }));
  });
}

/** The numbers, strings and template chunks of a file, without module names. */
export function constantsOf(path: string, source: string): readonly Constant[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, index) => {
    if (token.type === 'number') return [numberConstant(path, token)];
    if (token.type === 'string' && !isModuleName(tokens, index)) return [stringConstant(path, token)];
    return token.type === 'template' ? [templateConstant(path, token)] : [];
  });
}

/** A mutation that gives a constant another value. */
export function replaceConstant(constant: Constant, value: string | number, weight: number): Mutation {
  const { path, start, end, write } = constant;
  return { path, start, end, replacement: write(value), weight };
}

/** The source after the change. */
export function mutate(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function tokensOf(source: string): readonly Token[] {
  try {
    return tokenize(source);
  } catch (error) {
    if (error instanceof Unsupported) return []; // nothing in this file can be changed by token
    throw error;
  }
}

function numberConstant(path: string, { start, end, raw }: Token): Constant {
  const write = (value: string | number) => (Number(value) < 0 ? `(${value})` : String(value));
  return { path, start, end, value: numberValue(raw), write };
}

function stringConstant(path: string, { start, end, raw, value }: Token): Constant {
  const quote = raw.startsWith('"') ? '"' : "'";
  const write = (text: string | number) => quote + escapeText(String(text), quote) + quote;
  return { path, start, end, value, write };
}

function templateConstant(path: string, { start, end, value, tail }: Token): Constant {
  const write = (text: string | number) => escapeText(String(text), '`').replaceAll('${', '\\${');
  return { path, start: start + 1, end: end - (tail ? 1 : 2), value, write };
}

function escapeText(text: string, quote: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`);
  return quote === '`' ? escaped : escaped.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
}

function isModuleName(tokens: readonly Token[], index: number): boolean {
  const [before, earlier] = [tokens[index - 1]?.raw, tokens[index - 2]?.raw];
  return (
    before === 'from' || before === 'import' || (before === '(' && (earlier === 'require' || earlier === 'import'))
  );
}
