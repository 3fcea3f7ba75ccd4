/** What kind of token it is. A template is cut at its `${` and `}`: each chunk is a token of its own. */
export type TokenType = 'name' | 'number' | 'string' | 'template' | 'regex' | 'punctuator' | 'end';

export interface Token {
  readonly type: TokenType;
  /** The characters in the source. */
  readonly raw: string;
  /** The value of a string or template chunk; `raw` of everything else. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly newlineBefore: boolean;
  /** A template chunk that closes its template. */
  readonly tail: boolean;
}

/** The source uses something this reader does not know; it says nothing about whether the source is right. */
export class Unsupported extends Error {
  readonly code = 'unsupported_source';
  override readonly name = 'Unsupported';
}

/** Longer ones first, so that none is read as two shorter ones. */
const punctuators = [
  '>>>= ... === !== **= <<= >>= >>> &&= ||= ??=',
  '=> == != <= >= && || ?? ?. ++ -- += -= *= /= %= &= |= ^= << >> **',
  '{ } ( ) [ ] ; , < > + - * / % & | ^ ! ~ ? : = . @ #',
].flatMap((line) => line.split(' '));

/** Cuts JavaScript into tokens, without comments; the last one has type `end`. @throws Unsupported */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const braces: ('brace' | 'template')[] = [];
  let at = source.startsWith('#!') ? lineEnd(source, 0) : 0;
  for (;;) {
    const start = skipBlank(source, at);
    const newlineBefore = source.slice(at, start).includes('\n');
    const token = { ...readToken(source, start, { previous: tokens.at(-1), braces }), newlineBefore };
    tokens.push(token);
    if (token.type === 'end') return tokens;
    at = token.end;
  }
}

type Scanned = Omit<Token, 'newlineBefore'>;

interface Around {
  readonly previous: Token | undefined;
  readonly braces: ('brace' | 'template')[];
}

function readToken(source: string, start: number, around: Around): Scanned {
  const character = source[start];
  if (character === undefined) return scanned('end', source, start, start);
  if (/[\p{ID_Start}$_]/u.test(character)) return matched('name', source, start, /[\p{ID_Continue}$]+/uy);
  if (/[0-9]/.test(character) || (character === '.' && /[0-9]/.test(source[start + 1] ?? '')))
    return number(source, start);
  if (character === '"' || character === "'") return string(source, start);
  if (character === '`') return template(source, start, around);
  if (character === '}' && around.braces.at(-1) === 'template') return template(source, start, around);
  if (character === '/' && !endsValue(around.previous)) return regex(source, start);
  return punctuator(source, start, around);
}

function punctuator(source: string, start: number, { braces }: Around): Scanned {
  const raw = punctuators.find((candidate) => source.startsWith(candidate, start));
  if (raw === undefined) throw new Unsupported(`Unexpected character ${JSON.stringify(source[start])} at ${start}.`);
  const optionalCall = raw === '?.' && /[0-9]/.test(source[start + 2] ?? '');
  if (raw === '{') braces.push('brace');
  if (raw === '}') braces.pop();
  return scanned('punctuator', source, start, start + (optionalCall ? 1 : raw.length));
}

function number(source: string, start: number): Scanned {
  const form = /0[xob][0-9a-f_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:e[+-]?[0-9]+)?/iy;
  const token = matched('number', source, start, form);
  if (source[token.end] === 'n') throw new Unsupported('BigInt literals are not read.');
  return token;
}

function string(source: string, start: number): Scanned {
  const quote = source[start];
  let value = '';
  for (let at = start + 1; at < source.length; ) {
    if (source[at] === quote) return { ...scanned('string', source, start, at + 1), value };
    if (source[at] === '\n') break;
    const piece = source[at] === '\\' ? escape(source, at) : { value: source[at] ?? '', end: at + 1 };
    value += piece.value;
    at = piece.end;
  }
  throw new Unsupported(`The string at ${start} has no end.`);
}

function template(source: string, start: number, { braces }: Around): Scanned {
  if (source[start] === '}') braces.pop();
  let value = '';
  for (let at = start + 1; at < source.length; ) {
    if (source[at] === '`') return { ...scanned('template', source, start, at + 1), value, tail: true };
    if (source.startsWith('${', at)) {
      braces.push('template');
      return { ...scanned('template', source, start, at + 2), value };
    }
    const piece = source[at] === '\\' ? escape(source, at) : { value: source[at] ?? '', end: at + 1 };
    value += piece.value;
    at = piece.end;
  }
  throw new Unsupported(`The template at ${start} has no end.`);
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
};

function escape(source: string, at: number): { readonly value: string; readonly end: number } {
  const code = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/iy;
  code.lastIndex = at;
  const match = code.exec(source);
  const digits = match?.[1] ?? match?.[2] ?? match?.[3];
  if (match !== null && digits !== undefined) {
    return { value: String.fromCodePoint(Number.parseInt(digits, 16)), end: at + match[0].length };
  }
  const next = source[at + 1] ?? '';
  if (next === '\r' && source[at + 2] === '\n') return { value: '', end: at + 3 };
  return { value: next === '\n' ? '' : (simpleEscapes[next] ?? next), end: at + 2 };
}

function regex(source: string, start: number): Scanned {
  return matched('regex', source, start, /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y);
}

function matched(type: TokenType, source: string, start: number, form: RegExp): Scanned {
  form.lastIndex = start;
  const match = form.exec(source);
  if (match === null) throw new Unsupported(`Cannot read a ${type} at ${start}.`);
  return scanned(type, source, start, start + match[0].length);
}

function scanned(type: TokenType, source: string, start: number, end: number): Scanned {
  const raw = source.slice(start, end);
  return { type, raw, value: raw, start, end, tail: false };
}

const beforeExpression = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'delete',
  'void',
  'throw',
  'new',
  'else',
  'do',
  'await',
]);

/** True if a `/` after this token divides. */
function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.type === 'punctuator') return token.raw === ')' || token.raw === ']' || token.raw === '}';
  if (token.type === 'template') return token.tail;
  return token.type !== 'name' || !beforeExpression.has(token.raw);
}

function skipBlank(source: string, start: number): number {
  let at = start;
  for (;;) {
    const blank = /\s*/y;
    blank.lastIndex = at;
    at += blank.exec(source)?.[0].length ?? 0;
    if (source.startsWith('//', at)) at = lineEnd(source, at);
    else if (source.startsWith('/*', at)) at = commentEnd(source, at);
    else return at;
  }
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

function commentEnd(source: string, at: number): number {
  const end = source.indexOf('*/', at + 2);
  return end === -1 ? source.length : end + 2;
}
