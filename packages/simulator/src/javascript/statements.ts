import { iterate } from './iterate.js';
import { Scope } from './scope.js';
import type { Expression, FunctionBody, Pattern, Statement } from './syntax.js';
import { Unsupported } from './tokenize.js';
import { Box, Thrown, toText, type Value } from './values.js';

/** What running statements needs of the interpreter. */
export interface Evaluator {
  step(): void;
  evaluate(expression: Expression, scope: Scope): Value;
  makeFunction(body: FunctionBody, scope: Scope): Value;
  bind(pattern: Pattern, value: Value, scope: Scope, constant?: boolean): void;
}

/** How a statement ended other than by its end. */
export type Ending =
  | { readonly type: 'return'; readonly value: Value }
  | { readonly type: 'break' | 'continue' }
  | null;

/** Runs statements in order; function declarations count from the start. */
export function runStatements(interpreter: Evaluator, body: readonly Statement[], scope: Scope): Ending {
  for (const statement of body) hoist(interpreter, statement, scope);
  for (const statement of body) {
    const ending = runStatement(interpreter, statement, scope);
    if (ending !== null) return ending;
  }
  return null;
}

function hoist(interpreter: Evaluator, statement: Statement, scope: Scope): void {
  const declared = statement.type === 'export' ? statement.declaration : statement;
  if (declared.type === 'function') {
    scope.declare(declared.function.name, interpreter.makeFunction(declared.function, scope));
  }
}

/** Runs one statement. Imports and exports are the module loader's. */
export function runStatement(interpreter: Evaluator, statement: Statement, scope: Scope): Ending {
  interpreter.step();
  switch (statement.type) {
    case 'expression':
      interpreter.evaluate(statement.expression, scope);
      return null;
    case 'declare':
      return declare(interpreter, statement, scope);
    case 'function':
      return null;
    case 'class':
      scope.declare(statement.name, interpreter.evaluate(statement.value, scope));
      return null;
    case 'block':
      return runStatements(interpreter, statement.body, new Scope(scope, false));
    case 'if':
      return runIf(interpreter, statement, scope);
    case 'for':
      return runFor(interpreter, statement, scope);
    case 'for-each':
      return runForEach(interpreter, statement, scope);
    case 'while':
      return runWhile(interpreter, statement, scope);
    case 'return':
      return { type: 'return', value: valueOf(interpreter, statement, scope) };
    case 'throw':
      throw new Thrown(valueOf(interpreter, statement, scope));
    case 'break':
    case 'continue':
      return { type: statement.type };
    case 'try':
      return runTry(interpreter, statement, scope);
    case 'switch':
      return runSwitch(interpreter, statement, scope);
    default:
      throw new Unsupported(`${statement.type} belongs at the top of a file.`);
  }
}

type Of<T extends Statement['type']> = Extract<Statement, { readonly type: T }>;

function valueOf(interpreter: Evaluator, { value }: Of<'return' | 'throw'>, scope: Scope): Value {
  return value === null ? undefined : interpreter.evaluate(value, scope);
}

function declare(interpreter: Evaluator, { kind, declarators }: Of<'declare'>, scope: Scope): Ending {
  for (const { target, value } of declarators) {
    const evaluated = value === null ? undefined : interpreter.evaluate(value, scope);
    interpreter.bind(target, evaluated, kind === 'var' ? scope.functionScope() : scope, kind === 'const');
  }
  return null;
}

function runIf(interpreter: Evaluator, { test, yes, no }: Of<'if'>, scope: Scope): Ending {
  if (interpreter.evaluate(test, scope)) return runStatement(interpreter, yes, scope);
  return no === null ? null : runStatement(interpreter, no, scope);
}

function runFor(interpreter: Evaluator, { init, test, update, body }: Of<'for'>, scope: Scope): Ending {
  const own = new Scope(scope, false);
  if (init !== null) runStatement(interpreter, init, own);
  while (test === null || interpreter.evaluate(test, own)) {
    const ending = runStatement(interpreter, body, own);
    if (ending?.type === 'break') return null;
    if (ending?.type === 'return') return ending;
    if (update !== null) interpreter.evaluate(update, own);
  }
  return null;
}

function runForEach(interpreter: Evaluator, { of, target, source, body }: Of<'for-each'>, scope: Scope): Ending {
  const value = interpreter.evaluate(source, scope);
  for (const item of of ? iterate(value) : keysOf(value)) {
    const own = new Scope(scope, false);
    interpreter.bind(target, item, own);
    const ending = runStatement(interpreter, body, own);
    if (ending?.type === 'break') return null;
    if (ending?.type === 'return') return ending;
  }
  return null;
}

function keysOf(value: Value): readonly Value[] {
  if (value instanceof Box) return [...value.fields.keys()];
  return Array.isArray(value) ? value.map((_, index) => toText(index)) : [];
}

function runWhile(interpreter: Evaluator, { test, body, bodyFirst }: Of<'while'>, scope: Scope): Ending {
  let first = bodyFirst;
  while (first || interpreter.evaluate(test, scope)) {
    first = false;
    const ending = runStatement(interpreter, body, scope);
    if (ending?.type === 'break') return null;
    if (ending?.type === 'return') return ending;
  }
  return null;
}

function runTry(interpreter: Evaluator, { body, parameter, handler, finalizer }: Of<'try'>, scope: Scope): Ending {
  let ending: Ending = null;
  try {
    ending = runStatement(interpreter, body, scope);
  } catch (error) {
    if (!(error instanceof Thrown) || handler === null) throw error;
    const own = new Scope(scope, false);
    if (parameter !== null) interpreter.bind(parameter, error.value, own);
    ending = runStatement(interpreter, handler, own);
  } finally {
    if (finalizer !== null) ending = runStatement(interpreter, finalizer, scope) ?? ending;
  }
  return ending;
}

function runSwitch(interpreter: Evaluator, { value, cases }: Of<'switch'>, scope: Scope): Ending {
  const subject = interpreter.evaluate(value, scope);
  const own = new Scope(scope, false);
  const matching = cases.findIndex(({ test }) => test !== null && interpreter.evaluate(test, own) === subject);
  const from = matching === -1 ? cases.findIndex(({ test }) => test === null) : matching;
  for (const { body } of from === -1 ? [] : cases.slice(from)) {
    const ending = runStatements(interpreter, body, own);
    if (ending?.type === 'break') return null;
    if (ending !== null) return ending;
  }
  return null;
}
