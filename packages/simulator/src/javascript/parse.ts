import { ExpressionReader } from './parse-expression.js';
import type { Declarator, Expression, ModuleName, Pattern, Statement } from './syntax.js';
import { TokenReader } from './token-reader.js';
import { Unsupported } from './tokenize.js';

/**
 * Reads a JavaScript file as statements.
 * @throws Unsupported for what is outside the subset: generators, inheritance, private names, regular expressions, labels
 */
export function parse(source: string): readonly Statement[] {
  return new Parser(source).program();
}

class Parser {
  readonly #tokens: TokenReader;
  readonly #expressions: ExpressionReader;

  constructor(source: string) {
    this.#tokens = new TokenReader(source);
    this.#expressions = new ExpressionReader(this.#tokens, this);
  }

  program(): readonly Statement[] {
    const body: Statement[] = [];
    while (this.#tokens.peek().type !== 'end') body.push(this.#statement());
    return body;
  }

  blockBody(): readonly Statement[] {
    const body: Statement[] = [];
    while (!this.#tokens.take('}')) {
      if (this.#tokens.peek().type === 'end') throw new Unsupported('A block has no end.');
      body.push(this.#statement());
    }
    return body;
  }

  #statement(): Statement {
    const tokens = this.#tokens;
    const { type, raw } = tokens.peek();
    if (raw === '{' && type === 'punctuator') return this.#block();
    if (tokens.take(';')) return { type: 'block', body: [] };
    if (type !== 'name') return this.#expressionStatement();
    if (raw === 'async' && tokens.is('function', 1)) return this.#function();
    if (raw === 'let' && tokens.peek(1).type !== 'name' && !tokens.is('{', 1) && !tokens.is('[', 1))
      return this.#expressionStatement();
    if (raw === 'import' && (tokens.is('(', 1) || tokens.is('.', 1)))
      throw new Unsupported('Dynamic import is not read.');
    const read = this.#readers[raw];
    if (read !== undefined) return read();
    if (tokens.is(':', 1)) throw new Unsupported('Labels are not read.');
    return this.#expressionStatement();
  }

  readonly #readers: Readonly<Record<string, () => Statement>> = {
    const: () => this.#declaration(),
    let: () => this.#declaration(),
    var: () => this.#declaration(),
    function: () => this.#function(),
    class: () => this.#class(),
    if: () => this.#if(),
    for: () => this.#for(),
    while: () => this.#while(),
    do: () => this.#doWhile(),
    return: () => this.#returnOrThrow('return'),
    throw: () => this.#returnOrThrow('throw'),
    break: () => this.#jump('break'),
    continue: () => this.#jump('continue'),
    try: () => this.#try(),
    switch: () => this.#switch(),
    import: () => this.#import(),
    export: () => this.#export(),
  };

  #expressionStatement(): Statement {
    const expression = this.#expressions.whole();
    this.#tokens.semicolon();
    return { type: 'expression', expression };
  }

  #block(): Statement {
    this.#tokens.expect('{');
    return { type: 'block', body: this.blockBody() };
  }

  #declaration(): Statement {
    const declared = this.#declarators(true);
    this.#tokens.semicolon();
    return declared;
  }

  #declarators(allowIn: boolean): Statement & { readonly type: 'declare' } {
    const kind = this.#tokens.next().raw as 'var' | 'let' | 'const';
    const declarators: Declarator[] = [];
    do {
      const target = this.#expressions.pattern();
      declarators.push({ target, value: this.#tokens.take('=') ? this.#expressions.one(allowIn) : null });
    } while (this.#tokens.take(','));
    return { type: 'declare', kind, declarators };
  }

  #function(): Statement {
    const expression = this.#expressions.functionExpression();
    if (expression.type !== 'function') throw new Unsupported('A function was expected.');
    return { type: 'function', function: expression.function };
  }

  #class(): Statement {
    const value = this.#expressions.classExpression();
    return { type: 'class', name: value.name, value };
  }

  #if(): Statement {
    this.#tokens.next();
    const test = this.#parenthesized();
    const yes = this.#statement();
    return { type: 'if', test, yes, no: this.#tokens.take('else') ? this.#statement() : null };
  }

  #parenthesized(): Expression {
    this.#tokens.expect('(');
    const expression = this.#expressions.whole();
    this.#tokens.expect(')');
    return expression;
  }

  #for(): Statement {
    const tokens = this.#tokens;
    tokens.next();
    tokens.take('await');
    tokens.expect('(');
    const init = this.#forInit();
    if (tokens.is('of') || tokens.is('in')) return this.#forEach(init);
    tokens.expect(';');
    const test = tokens.is(';') ? null : this.#expressions.whole();
    tokens.expect(';');
    const update = tokens.is(')') ? null : this.#expressions.whole();
    tokens.expect(')');
    return { type: 'for', init, test, update, body: this.#statement() };
  }

  #forInit(): Statement | null {
    const tokens = this.#tokens;
    if (tokens.is(';')) return null;
    if (['let', 'const', 'var'].some((kind) => tokens.is(kind))) return this.#declarators(false);
    return { type: 'expression', expression: this.#expressions.whole(false) };
  }

  #forEach(init: Statement | null): Statement {
    const of = this.#tokens.next().raw === 'of';
    const target: Pattern | undefined = init?.type === 'declare' ? init.declarators[0]?.target : undefined;
    if (target === undefined) throw new Unsupported('A for loop over an existing variable is not read.');
    const source = this.#expressions.whole();
    this.#tokens.expect(')');
    return { type: 'for-each', of, target, source, body: this.#statement() };
  }

  #while(): Statement {
    this.#tokens.next();
    const test = this.#parenthesized();
    return { type: 'while', test, body: this.#statement(), bodyFirst: false };
  }

  #doWhile(): Statement {
    this.#tokens.next();
    const body = this.#statement();
    this.#tokens.expect('while');
    const test = this.#parenthesized();
    this.#tokens.take(';');
    return { type: 'while', test, body, bodyFirst: true };
  }

  #returnOrThrow(type: 'return' | 'throw'): Statement {
    const tokens = this.#tokens;
    tokens.next();
    const after = tokens.peek();
    const empty = tokens.is(';') || tokens.is('}') || after.type === 'end' || after.newlineBefore;
    const value = empty ? null : this.#expressions.whole();
    tokens.semicolon();
    return { type, value };
  }

  #jump(type: 'break' | 'continue'): Statement {
    this.#tokens.next();
    this.#tokens.semicolon();
    return { type };
  }

  #try(): Statement {
    const tokens = this.#tokens;
    tokens.next();
    const body = this.#block();
    let parameter: Pattern | null = null;
    let handler: Statement | null = null;
    if (tokens.take('catch')) {
      if (tokens.take('(')) {
        parameter = this.#expressions.pattern();
        tokens.expect(')');
      }
      handler = this.#block();
    }
    return { type: 'try', body, parameter, handler, finalizer: tokens.take('finally') ? this.#block() : null };
  }

  #switch(): Statement {
    const tokens = this.#tokens;
    tokens.next();
    const value = this.#parenthesized();
    const cases: { test: Expression | null; body: Statement[] }[] = [];
    tokens.expect('{');
    while (!tokens.take('}')) {
      const test = tokens.take('default') ? null : this.#caseTest();
      tokens.expect(':');
      const body: Statement[] = [];
      while (!tokens.is('case') && !tokens.is('default') && !tokens.is('}')) body.push(this.#statement());
      cases.push({ test, body });
    }
    return { type: 'switch', value, cases };
  }

  #caseTest(): Expression {
    this.#tokens.expect('case');
    return this.#expressions.whole();
  }

  #import(): Statement {
    const tokens = this.#tokens;
    tokens.next();
    const names: ModuleName[] = [];
    if (tokens.peek().type !== 'string') {
      if (tokens.peek().type === 'name') names.push({ from: 'default', to: tokens.name() });
      tokens.take(',');
      if (tokens.take('*')) {
        tokens.expect('as');
        names.push({ from: '*', to: tokens.name() });
      } else if (tokens.is('{')) names.push(...this.#moduleNames());
      tokens.expect('from');
    }
    return { type: 'import', source: this.#moduleSource(), names };
  }

  #moduleSource(): string {
    const token = this.#tokens.next();
    if (token.type !== 'string') throw new Unsupported('A module name was expected.');
    if (this.#tokens.take('with')) this.#expressions.one();
    this.#tokens.semicolon();
    return token.value;
  }

  #moduleNames(): readonly ModuleName[] {
    const tokens = this.#tokens;
    const names: ModuleName[] = [];
    tokens.expect('{');
    while (!tokens.take('}')) {
      const from = tokens.name();
      names.push({ from, to: tokens.take('as') ? tokens.name() : from });
      if (!tokens.is('}')) tokens.expect(',');
    }
    return names;
  }

  #export(): Statement {
    const tokens = this.#tokens;
    tokens.next();
    if (tokens.take('default')) return this.#exportDefault();
    if (tokens.take('*')) {
      const to = tokens.take('as') ? tokens.name() : '*';
      tokens.expect('from');
      return { type: 'export-from', source: this.#moduleSource(), names: [{ from: '*', to }] };
    }
    if (!tokens.is('{')) return { type: 'export', declaration: this.#statement() };
    const names = this.#moduleNames();
    if (tokens.take('from')) return { type: 'export-from', source: this.#moduleSource(), names };
    tokens.semicolon();
    return { type: 'export-names', names };
  }

  #exportDefault(): Statement {
    const tokens = this.#tokens;
    const declared = tokens.is('function') || tokens.is('class') || (tokens.is('async') && tokens.is('function', 1));
    const value = this.#expressions.one();
    if (!declared) tokens.semicolon();
    return { type: 'export-default', value };
  }
}
