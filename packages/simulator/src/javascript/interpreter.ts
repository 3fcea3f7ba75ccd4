/**
 * Walks a syntax tree. It runs no code of the host's: every value is one of `values.ts`, every operation one of
 * `operators.ts` and the built-in tables, and every step is counted, so a program that never ends is stopped.
 */
import { iterate } from './iterate.js';
import { getMember, setMember } from './members.js';
import { applyBinary, applyUnary } from './operators.js';
import { readRegex } from './regex.js';
import { Scope } from './scope.js';
import { type Evaluator, runStatements } from './statements.js';
import type { Element, Expression, FunctionBody, Pattern, PatternElement } from './syntax.js';
import { Unsupported } from './tokenize.js';
import { Box, Callable, callable, fail, Thrown, TooManySteps, toNumber, toText, type Value } from './values.js';

const deepestCall = 200;

export class Interpreter implements Evaluator {
  #stepsLeft: number;
  #depth = 0;

  constructor(maxSteps: number) {
    this.#stepsLeft = maxSteps;
  }

  get stepsLeft(): number {
    return Math.max(0, this.#stepsLeft);
  }

  /** Counts a step. @throws TooManySteps */
  step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new TooManySteps('The program takes too many steps.');
  }

  evaluate(expression: Expression, scope: Scope): Value {
    this.step();
    switch (expression.type) {
      case 'literal':
        return expression.value;
      case 'name':
        return scope.get(expression.name);
      case 'this':
        return scope.self;
      case 'regex':
        return readRegex(expression.raw);
      case 'template':
        return this.#template(expression.chunks, expression.values, scope);
      case 'array':
        return this.elements(expression.elements, scope);
      case 'object':
        return this.#object(expression, scope);
      case 'function':
        return this.makeFunction(expression.function, scope);
      case 'class':
        return this.#class(expression, scope);
      case 'unary':
        return this.#unary(expression, scope);
      case 'update':
        return this.#update(expression, scope);
      case 'binary':
        return applyBinary(
          expression.operator,
          this.evaluate(expression.left, scope),
          this.evaluate(expression.right, scope),
        );
      case 'logical':
        return this.#logical(expression.operator, this.evaluate(expression.left, scope), () =>
          this.evaluate(expression.right, scope),
        );
      case 'assign':
        return this.#assign(expression, scope);
      case 'conditional':
        return this.evaluate(this.evaluate(expression.test, scope) ? expression.yes : expression.no, scope);
      case 'call':
        return this.#call(expression, scope);
      case 'new':
        return this.#construct(expression, scope);
      case 'member':
        return this.#member(expression, scope);
      case 'chain':
        return this.#chain(expression.expression, scope);
      case 'sequence':
        return expression.expressions.reduce<Value>((_, item) => this.evaluate(item, scope), undefined);
    }
  }

  makeFunction(body: FunctionBody, scope: Scope): Callable {
    const invoke = (self: Value, args: readonly Value[]) => this.#enter(body, scope, { self, args, made });
    const construct = (args: readonly Value[]) => {
      const instance = new Box(made.prototype);
      const returned = this.#enter(body, scope, { self: instance, args, made });
      return returned instanceof Box ? returned : instance;
    };
    const made: Callable = new Callable(body.name, invoke, body.arrow ? null : construct);
    return made;
  }

  #enter(body: FunctionBody, outer: Scope, call: { self: Value; args: readonly Value[]; made: Callable }): Value {
    if (this.#depth >= deepestCall) throw new TooManySteps('The program calls too deeply.');
    this.#depth += 1;
    try {
      const scope = new Scope(outer, true, body.arrow ? outer.self : call.self);
      if (body.name !== '' && !outer.has(body.name)) scope.declare(body.name, call.made);
      for (const [index, parameter] of body.parameters.entries()) this.bindElement(parameter, call.args[index], scope);
      if (body.rest !== null) this.bind(body.rest, call.args.slice(body.parameters.length), scope);
      const end = runStatements(this, body.body, scope);
      return end?.type === 'return' ? end.value : undefined;
    } finally {
      this.#depth -= 1;
    }
  }

  elements(elements: readonly Element[], scope: Scope): Value[] {
    return elements.flatMap(({ spread, value }) => {
      const evaluated = this.evaluate(value, scope);
      return spread ? iterate(evaluated) : [evaluated];
    });
  }

  /** Declares the names of a pattern with the parts of a value. */
  bind(pattern: Pattern, value: Value, scope: Scope, constant = false): void {
    if (pattern.type === 'name') return scope.declare(pattern.name, value, constant);
    if (pattern.type === 'array-pattern') {
      const items = iterate(value);
      for (const [index, element] of pattern.elements.entries()) {
        if (element !== null) this.bindElement(element, items[index], scope, constant);
      }
      if (pattern.rest !== null) this.bind(pattern.rest, items.slice(pattern.elements.length), scope, constant);
      return;
    }
    if (value === null || value === undefined) throw fail('TypeError', 'Cannot destructure nothing');
    const taken = new Set<string>();
    for (const entry of pattern.entries) {
      const key = toText(this.evaluate(entry.key, scope));
      taken.add(key);
      this.bindElement(entry, getMember(value, key), scope, constant);
    }
    if (pattern.rest !== null) this.bind(pattern.rest, withoutFields(value, taken), scope, constant);
  }

  bindElement(element: PatternElement, value: Value, scope: Scope, constant = false): void {
    const given = value === undefined && element.byDefault !== null ? this.evaluate(element.byDefault, scope) : value;
    this.bind(element.target, given, scope, constant);
  }

  /** Assigns to a name, a member or an array pattern. */
  assignTo(target: Expression | Pattern, value: Value, scope: Scope): void {
    if (target.type === 'name') scope.set(target.name, value);
    else if (target.type === 'member')
      setMember(this.evaluate(target.object, scope), this.evaluate(target.key, scope), value);
    else if (target.type === 'array-pattern') {
      const items = iterate(value);
      for (const [index, element] of target.elements.entries())
        if (element !== null) this.assignTo(element.target, items[index], scope);
    } else throw new Unsupported('This assignment target is not read.');
  }

  #template(chunks: readonly string[], values: readonly Expression[], scope: Scope): Value {
    return chunks.reduce((text, chunk, index) => {
      const value = values[index - 1];
      return text + (value === undefined ? '' : toText(this.evaluate(value, scope))) + chunk;
    }, '');
  }

  #object(expression: Expression & { type: 'object' }, scope: Scope): Value {
    const box = new Box();
    for (const member of expression.members) {
      const value = this.evaluate(member.value, scope);
      if (member.kind === 'value') box.fields.set(toText(this.evaluate(member.key, scope)), value);
      else if (value instanceof Box) for (const [name, field] of value.fields) box.fields.set(name, field);
      else if (value !== null && value !== undefined)
        throw new Unsupported('Spreading this into an object is not read.');
    }
    return box;
  }

  #class(expression: Expression & { type: 'class' }, scope: Scope): Value {
    const own = new Scope(scope, false);
    const keyed = expression.members.map((member) => ({ ...member, name: toText(this.evaluate(member.key, own)) }));
    const fields = keyed.filter((member) => member.kind === 'field' && !member.isStatic);
    const constructor = keyed.find((member) => member.name === 'constructor')?.value;
    const construct = (args: readonly Value[]): Value => {
      const instance = new Box(made.prototype);
      const inner = new Scope(own, true, instance);
      for (const { name, value } of fields)
        instance.fields.set(name, value === null ? undefined : this.evaluate(value, inner));
      if (constructor) callable(this.evaluate(constructor, own), 'constructor').invoke(instance, args);
      return instance;
    };
    const refuse = (): Value => {
      throw fail('TypeError', `Class constructor ${expression.name} cannot be invoked without new`);
    };
    const made = new Callable(expression.name, refuse, construct);
    if (expression.name !== '') own.declare(expression.name, made);
    const staticScope = new Scope(own, true, made);
    for (const { name, kind, isStatic, value } of keyed) {
      if (name === 'constructor' || (kind === 'field' && !isStatic)) continue;
      const evaluated = value === null ? undefined : this.evaluate(value, staticScope);
      if (kind === 'getter') made.prototype.getters.set(name, callable(evaluated, name));
      else (isStatic ? made.fields : made.prototype.fields).set(name, evaluated);
    }
    return made;
  }

  #unary({ operator, operand }: Expression & { type: 'unary' }, scope: Scope): Value {
    if (operator === 'typeof' && operand.type === 'name' && !scope.has(operand.name)) return 'undefined';
    return applyUnary(operator, this.evaluate(operand, scope));
  }

  #update({ operator, prefix, target }: Expression & { type: 'update' }, scope: Scope): Value {
    const before = toNumber(this.evaluate(target, scope));
    const after = operator === '++' ? before + 1 : before - 1;
    this.assignTo(target, after, scope);
    return prefix ? after : before;
  }

  #logical(operator: string, left: Value, right: () => Value): Value {
    if (operator === '&&') return left ? right() : left;
    if (operator === '||') return left ? left : right();
    return left === null || left === undefined ? right() : left;
  }

  #assign({ operator, target, value }: Expression & { type: 'assign' }, scope: Scope): Value {
    if (operator === '=') {
      const assigned = this.evaluate(value, scope);
      this.assignTo(target, assigned, scope);
      return assigned;
    }
    const bare = operator.slice(0, -1);
    const before = this.evaluate(target as Expression, scope);
    const right = () => this.evaluate(value, scope);
    const after = ['&&', '||', '??'].includes(bare)
      ? this.#logical(bare, before, right)
      : applyBinary(bare, before, right());
    this.assignTo(target, after, scope);
    return after;
  }

  #call({ callee, args, optional }: Expression & { type: 'call' }, scope: Scope): Value {
    const self = callee.type === 'member' ? this.evaluate(callee.object, scope) : undefined;
    const called = callee.type === 'member' ? this.#memberOf(self, callee, scope) : this.evaluate(callee, scope);
    if (optional && (called === null || called === undefined)) throw shortCircuit;
    return callable(called, calleeName(callee)).invoke(self, this.elements(args, scope));
  }

  #construct({ callee, args }: Expression & { type: 'new' }, scope: Scope): Value {
    const made = callable(this.evaluate(callee, scope), calleeName(callee));
    if (made.construct === null) throw fail('TypeError', `${made.name} is not a constructor`);
    return made.construct(this.elements(args, scope));
  }

  #member(expression: Expression & { type: 'member' }, scope: Scope): Value {
    return this.#memberOf(this.evaluate(expression.object, scope), expression, scope);
  }

  #memberOf(object: Value, { key, optional }: Expression & { type: 'member' }, scope: Scope): Value {
    if (optional && (object === null || object === undefined)) throw shortCircuit;
    return getMember(object, this.evaluate(key, scope));
  }

  #chain(expression: Expression, scope: Scope): Value {
    try {
      return this.evaluate(expression, scope);
    } catch (error) {
      if (error === shortCircuit) return undefined;
      throw error;
    }
  }
}

/** Ends an optional chain early. One value for all: it carries nothing. */
const shortCircuit = new Thrown('optional chain');

function withoutFields(value: Value, taken: ReadonlySet<string>): Value {
  const rest = new Box();
  if (value instanceof Box)
    for (const [name, field] of value.fields) if (!taken.has(name)) rest.fields.set(name, field);
  return rest;
}

function calleeName(callee: Expression): string {
  if (callee.type === 'name') return callee.name;
  return callee.type === 'member' && callee.key.type === 'literal' ? String(callee.key.value) : 'the value';
}
