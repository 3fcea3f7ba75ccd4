import { type StatementReader, readFunctionRest, readPattern } from './parse-function.js';
import type { ClassMember, Element, Expression, ObjectMember, Pattern } from './syntax.js';
import type { TokenReader } from './token-reader.js';
import { Unsupported } from './tokenize.js';

/** Binary operators, the loosest first; those of one row bind alike. */
const precedence: ReadonlyMap<string, number> = new Map(
  [
    '??',
    '||',
    '&&',
    '|',
    '^',
    '&',
    '== != === !==',
    '< > <= >= in instanceof',
    '<< >> >>>',
    '+ -',
    '* / %',
    '**',
  ].flatMap((row, level) => row.split(' ').map((operator) => [operator, level + 1] as const)),
);
const logical = new Set(['??', '||', '&&']);
const assignments = new Set([
  '=',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
  '**=',
  '<<=',
  '>>=',
  '>>>=',
  '&=',
  '|=',
  '^=',
  '&&=',
  '||=',
  '??=',
]);
const unaries = new Set(['!', '-', '+', '~', 'typeof', 'void']);

/** Reads expressions. It needs to read statements too, for the bodies of functions. */
export class ExpressionReader {
  readonly #tokens: TokenReader;
  readonly #statements: StatementReader;

  constructor(tokens: TokenReader, statements: StatementReader) {
    this.#tokens = tokens;
    this.#statements = statements;
  }

  /** An expression with commas. */
  whole(allowIn = true): Expression {
    const first = this.one(allowIn);
    if (!this.#tokens.is(',')) return first;
    const expressions = [first];
    while (this.#tokens.take(',')) expressions.push(this.one(allowIn));
    return { type: 'sequence', expressions };
  }

  /** An expression without commas. */
  one(allowIn = true): Expression {
    const tokens = this.#tokens;
    if (this.#arrowAhead()) return this.#arrow();
    const left = this.#conditional(allowIn);
    const operator = tokens.peek();
    if (operator.type !== 'punctuator' || !assignments.has(operator.raw)) return left;
    tokens.next();
    const target = operator.raw === '=' ? toTarget(left) : left;
    return { type: 'assign', operator: operator.raw, target, value: this.one(allowIn) };
  }

  functionExpression(): Expression {
    const tokens = this.#tokens;
    tokens.take('async');
    tokens.expect('function');
    if (tokens.is('*')) throw new Unsupported('Generators are not read.');
    const name = tokens.is('(') ? '' : tokens.name();
    return {
      type: 'function',
      function: readFunctionRest({ tokens, expressions: this, statements: this.#statements }, name),
    };
  }

  classExpression(): Expression & { readonly type: 'class' } {
    const tokens = this.#tokens;
    tokens.expect('class');
    const name = tokens.is('{') ? '' : tokens.name();
    if (tokens.is('extends')) throw new Unsupported('Class inheritance is not read.');
    tokens.expect('{');
    const members: ClassMember[] = [];
    while (!tokens.take('}')) if (!tokens.take(';')) members.push(this.#classMember());
    return { type: 'class', name, members };
  }

  propertyKey(): Expression {
    const tokens = this.#tokens;
    if (tokens.take('[')) {
      const key = this.one();
      tokens.expect(']');
      return key;
    }
    const token = tokens.next();
    if (token.type === 'string') return { type: 'literal', value: token.value };
    if (token.type === 'number') return { type: 'literal', value: String(numberValue(token.raw)) };
    if (token.type === 'name') return { type: 'literal', value: token.raw };
    throw new Unsupported(`Unexpected ${token.raw} where a property name belongs.`);
  }

  #arrowAhead(): boolean {
    const tokens = this.#tokens;
    const first = tokens.is('async') && !tokens.peek(1).newlineBefore && !tokens.is('=>', 1) ? 1 : 0;
    if (tokens.peek(first).type === 'name' && tokens.is('=>', first + 1)) return true;
    return tokens.is('(', first) && tokens.is('=>', tokens.pastClosing(first));
  }

  #arrow(): Expression {
    const tokens = this.#tokens;
    if (tokens.is('async') && !tokens.is('=>', 1)) tokens.next();
    const parts = { tokens, expressions: this, statements: this.#statements };
    return { type: 'function', function: readFunctionRest(parts, '', true) };
  }

  #conditional(allowIn: boolean): Expression {
    const test = this.#binary(0, allowIn);
    if (!this.#tokens.take('?')) return test;
    const yes = this.one();
    this.#tokens.expect(':');
    return { type: 'conditional', test, yes, no: this.one(allowIn) };
  }

  #binary(least: number, allowIn: boolean): Expression {
    let left = this.#unary();
    for (;;) {
      const { type, raw: operator } = this.#tokens.peek();
      const level =
        type === 'punctuator' || operator === 'in' || operator === 'instanceof' ? precedence.get(operator) : undefined;
      if (level === undefined || level <= least || (operator === 'in' && !allowIn)) return left;
      this.#tokens.next();
      const right = this.#binary(operator === '**' ? level - 1 : level, allowIn);
      left = { type: logical.has(operator) ? 'logical' : 'binary', operator, left, right };
    }
  }

  #unary(): Expression {
    const tokens = this.#tokens;
    const { type, raw } = tokens.peek();
    if (type !== 'punctuator' && type !== 'name') return this.#postfix();
    if (raw === '++' || raw === '--') {
      tokens.next();
      return { type: 'update', operator: raw, prefix: true, target: this.#unary() };
    }
    if (tokens.take('await')) return this.#unary(); // everything is awaited at once here
    if (raw === 'delete' || raw === 'yield') throw new Unsupported(`${raw} is not read.`);
    if (!unaries.has(raw)) return this.#postfix();
    tokens.next();
    return { type: 'unary', operator: raw, operand: this.#unary() };
  }

  #postfix(): Expression {
    const target = this.#callsAndMembers();
    const { raw, newlineBefore } = this.#tokens.peek();
    if ((raw !== '++' && raw !== '--') || newlineBefore) return target;
    this.#tokens.next();
    return { type: 'update', operator: raw, prefix: false, target };
  }

  #callsAndMembers(): Expression {
    const tokens = this.#tokens;
    let expression = tokens.is('new') ? this.#new() : this.#primary();
    let chained = false;
    for (;;) {
      const optional = tokens.take('?.');
      chained ||= optional;
      if (tokens.is('(')) expression = { type: 'call', callee: expression, args: this.#list('(', ')'), optional };
      else if (tokens.take('[')) expression = this.#computed(expression, optional);
      else if (optional || tokens.take('.'))
        expression = { type: 'member', object: expression, key: this.#memberName(), optional };
      else if (tokens.peek().raw.startsWith('`')) throw new Unsupported('Tagged templates are not read.');
      else return chained ? { type: 'chain', expression } : expression;
    }
  }

  #computed(object: Expression, optional: boolean): Expression {
    const key = this.whole();
    this.#tokens.expect(']');
    return { type: 'member', object, key, optional };
  }

  #memberName(): Expression {
    if (this.#tokens.is('#')) throw new Unsupported('Private names are not read.');
    return { type: 'literal', value: this.#tokens.name() };
  }

  #new(): Expression {
    const tokens = this.#tokens;
    tokens.expect('new');
    let callee = this.#primary();
    while (tokens.take('.')) callee = { type: 'member', object: callee, key: this.#memberName(), optional: false };
    return { type: 'new', callee, args: tokens.is('(') ? this.#list('(', ')') : [] };
  }

  #primary(): Expression {
    const tokens = this.#tokens;
    const { type, raw, value } = tokens.peek();
    if (type === 'template') return this.#template();
    if (type === 'name') return this.#named(raw);
    if (raw === '[') return { type: 'array', elements: this.#list('[', ']') };
    if (raw === '{') return this.#object();
    tokens.next();
    if (type === 'number') return { type: 'literal', value: numberValue(raw) };
    if (type === 'string') return { type: 'literal', value };
    if (type === 'regex') return { type: 'regex', raw };
    if (raw !== '(') throw new Unsupported(`Unexpected ${raw || 'end'} where an expression belongs.`);
    const inner = this.whole();
    tokens.expect(')');
    return inner;
  }

  #named(raw: string): Expression {
    const tokens = this.#tokens;
    if (raw === 'function' || (raw === 'async' && tokens.is('function', 1))) return this.functionExpression();
    if (raw === 'class') return this.classExpression();
    if (raw === 'import' || raw === 'super') throw new Unsupported(`${raw} is not read here.`);
    tokens.next();
    if (raw === 'this') return { type: 'this' };
    return constants.has(raw) ? { type: 'literal', value: constants.get(raw) } : { type: 'name', name: raw };
  }

  #template(): Expression {
    const chunks: string[] = [];
    const values: Expression[] = [];
    for (;;) {
      const chunk = this.#tokens.next();
      if (chunk.type !== 'template') throw new Unsupported(`Unexpected ${chunk.raw} in a template.`);
      chunks.push(chunk.value);
      if (chunk.tail) return { type: 'template', chunks, values };
      values.push(this.whole());
    }
  }

  #list(open: string, close: string): readonly Element[] {
    const tokens = this.#tokens;
    const elements: Element[] = [];
    tokens.expect(open);
    while (!tokens.take(close)) {
      elements.push({ spread: tokens.take('...'), value: this.one() });
      if (!tokens.is(close)) tokens.expect(',');
    }
    return elements;
  }

  #object(): Expression {
    const tokens = this.#tokens;
    const members: ObjectMember[] = [];
    tokens.expect('{');
    while (!tokens.take('}')) {
      members.push(tokens.take('...') ? { kind: 'spread', value: this.one() } : this.#objectMember());
      if (!tokens.is('}')) tokens.expect(',');
    }
    return { type: 'object', members };
  }

  #objectMember(): ObjectMember {
    const tokens = this.#tokens;
    if ((tokens.is('get') || tokens.is('set')) && !this.#endsKey(1))
      throw new Unsupported('Accessors are not read here.');
    if (tokens.is('async') && !this.#endsKey(1)) tokens.next();
    const shorthand = tokens.peek().raw;
    const key = this.propertyKey();
    if (tokens.take(':')) return { kind: 'value', key, value: this.one() };
    if (tokens.is('(')) return { kind: 'value', key, value: this.#method('') };
    if (tokens.take('=')) {
      const value = {
        type: 'assign',
        operator: '=',
        target: { type: 'name', name: shorthand },
        value: this.one(),
      } as const;
      return { kind: 'value', key, value };
    }
    return { kind: 'value', key, value: { type: 'name', name: shorthand } };
  }

  #classMember(): ClassMember {
    const tokens = this.#tokens;
    const isStatic = tokens.is('static') && !this.#endsKey(1) && tokens.next() !== undefined;
    if (tokens.is('set') && !this.#endsKey(1)) throw new Unsupported('Setters are not read.');
    const getter = tokens.is('get') && !this.#endsKey(1) && tokens.next() !== undefined;
    if (tokens.is('async') && !this.#endsKey(1)) tokens.next();
    const key = this.propertyKey();
    if (tokens.is('(')) return { key, isStatic, kind: getter ? 'getter' : 'method', value: this.#method('') };
    const value = tokens.take('=') ? this.one() : null;
    tokens.semicolon();
    return { key, isStatic, kind: 'field', value };
  }

  #endsKey(ahead: number): boolean {
    return ['(', ':', ',', '}', '=', ';'].some((raw) => this.#tokens.is(raw, ahead));
  }

  #method(name: string): Expression {
    const parts = { tokens: this.#tokens, expressions: this, statements: this.#statements };
    return { type: 'function', function: readFunctionRest(parts, name) };
  }

  /** A binding pattern, as in a declaration. */
  pattern(): Pattern {
    return readPattern(this.#tokens, this);
  }
}

const constants: ReadonlyMap<string, boolean | null | undefined> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
] as const);

/** The value of a numeric literal. */
export function numberValue(raw: string): number {
  return Number(raw.replaceAll('_', ''));
}

/** Reads what was parsed as an array or object as the target of an assignment. */
function toTarget(expression: Expression): Expression | Pattern {
  if (expression.type === 'array') {
    const elements = expression.elements.map(({ spread, value }) => {
      if (spread) throw new Unsupported('A rest target is not read here.');
      return { target: toPattern(value), byDefault: null };
    });
    return { type: 'array-pattern', elements, rest: null };
  }
  if (expression.type === 'object') throw new Unsupported('Assigning to an object pattern is not read.');
  return expression;
}

function toPattern(expression: Expression): Pattern {
  if (expression.type === 'name') return expression;
  if (expression.type === 'member') return expression as unknown as Pattern; // the interpreter assigns to either
  throw new Unsupported('This assignment target is not read.');
}
