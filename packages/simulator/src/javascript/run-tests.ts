import { posix } from 'node:path';
import { fromPlain, globalScope } from './globals.js';
import { Interpreter } from './interpreter.js';
import { parse } from './parse.js';
import { Scope } from './scope.js';
import { runStatement, runStatements } from './statements.js';
import type { ModuleName, Statement } from './syntax.js';
import { TestLibrary, type TestRecord, testPassed } from './test-library.js';
import { Unsupported } from './tokenize.js';
import { Box, boxOf, Callable, TooManySteps, Thrown, toText, type Value } from './values.js';

/** What became of the test files. `unsupported` says why nothing is known; the tests are then empty. */
export interface TestReport {
  readonly tests: readonly TestRecord[];
  readonly passed: boolean;
  readonly unsupported: string | null;
  /** How long the program ran, in steps of the interpreter. */
  readonly steps: number;
}

export interface RunOptions {
  /** Steps after which a program that may never end is stopped. @default 400000 */
  readonly maxSteps?: number;
  /** Keeps parsed sources from one call to the next. @default a new one */
  readonly cache?: Map<string, readonly Statement[]>;
}

/**
 * Runs `node:test` files over sources given as text. Only the subset that `parse` reads is run, inside an interpreter
 * that gives it no file, no network, no timer and no host object.
 */
export function runTests(
  files: ReadonlyMap<string, string>,
  testPaths: readonly string[],
  { maxSteps = 400_000, cache = new Map() }: RunOptions = {},
): TestReport {
  const library = new TestLibrary();
  const interpreter = new Interpreter(maxSteps);
  const failed = (unsupported: string | null): TestReport => ({
    tests: unsupported === null ? library.tests : [],
    passed: false,
    unsupported,
    steps: maxSteps - interpreter.stepsLeft,
  });
  try {
    const modules = new Modules(files, library, interpreter, cache);
    for (const path of testPaths) modules.load(path);
  } catch (error) {
    if (error instanceof TooManySteps || error instanceof Thrown) return failed(null);
    if (error instanceof Unsupported || error instanceof RangeError) return failed(error.message);
    throw error;
  }
  return { ...failed(null), passed: library.tests.length > 0 && library.tests.every(testPassed) };
}

class Modules {
  readonly #loaded = new Map<string, Box>();

  constructor(
    readonly files: ReadonlyMap<string, string>,
    readonly library: TestLibrary,
    readonly interpreter: Interpreter,
    readonly cache: Map<string, readonly Statement[]>,
  ) {}

  /** The module's exports: for an ES module its namespace, for a CommonJS one a namespace with `default`. */
  load(path: string): Box {
    const known = this.#loaded.get(path);
    if (known !== undefined) return known;
    const source = this.files.get(path);
    if (source === undefined) throw new Unsupported(`The file ${path} was not shown.`);
    if (path.endsWith('.json')) return boxOf({ default: fromPlain(JSON.parse(source)) });
    const body = this.#parse(source);
    const namespace = new Box();
    this.#loaded.set(path, namespace);
    if (body.some(isModuleStatement)) this.#runModule(path, body, namespace);
    else this.#runCommonJs(path, body, namespace);
    return namespace;
  }

  #parse(source: string): readonly Statement[] {
    const body = this.cache.get(source) ?? parse(source);
    this.cache.set(source, body);
    return body;
  }

  #import(from: string, name: string): Value {
    const built = this.library.module(name);
    return built ?? this.load(this.#resolve(from, name));
  }

  #resolve(from: string, name: string): string {
    if (!name.startsWith('.')) throw new Unsupported(`The module ${name} is not known.`);
    const base = posix.normalize(posix.join(posix.dirname(from), name));
    const found = ['', '.js', '.mjs', '.cjs', '.json', '/index.js', '/index.mjs', '/index.cjs'].find((end) =>
      this.files.has(base + end),
    );
    if (found === undefined) throw new Unsupported(`The file ${base} was not shown.`);
    return base + found;
  }

  #runModule(path: string, body: readonly Statement[], namespace: Box): void {
    const scope = new Scope(globalScope(), true);
    for (const statement of body) {
      if (statement.type !== 'import') continue;
      const imported = this.#import(path, statement.source);
      for (const { from, to } of statement.names) scope.declare(to, exported(imported, from));
    }
    const run = body.filter((statement) => statement.type !== 'import');
    runStatements(
      this.interpreter,
      run.filter((statement) => statement.type === 'function' || statement.type === 'export').map(onlyFunctions),
      scope,
    );
    for (const statement of run) this.#runTopStatement(path, statement, scope, namespace);
    for (const { from, to } of body.flatMap(exportedNames)) namespace.fields.set(to, scope.get(from));
  }

  #runTopStatement(path: string, statement: Statement, scope: Scope, namespace: Box): void {
    if (statement.type === 'export-default') {
      const value = this.interpreter.evaluate(statement.value, scope);
      if (value instanceof Callable && value.name !== '') scope.declare(value.name, value);
      namespace.fields.set('default', value);
    } else if (statement.type === 'export-from') {
      const source = this.#import(path, statement.source);
      for (const name of statement.names) reExport(namespace, source, name);
    } else if (statement.type === 'export') {
      runStatement(this.interpreter, statement.declaration, scope);
    } else if (statement.type !== 'export-names') {
      runStatement(this.interpreter, statement, scope);
    }
  }

  #runCommonJs(path: string, body: readonly Statement[], namespace: Box): void {
    const scope = new Scope(globalScope(), true);
    const exports = new Box();
    const module = boxOf({ exports });
    const require = new Callable('require', (_, [name]) => {
      const imported = this.#import(path, toText(name));
      return imported instanceof Box
        ? (imported.get('module.exports') ??
            (imported.has('default') && imported.fields.size === 1 ? imported.get('default') : imported))
        : imported;
    });
    for (const [name, value] of Object.entries({ exports, module, require })) scope.declare(name, value);
    runStatements(this.interpreter, body, scope);
    const final = module.get('exports');
    if (final instanceof Box) for (const [name, value] of final.fields) namespace.fields.set(name, value);
    if (final instanceof Callable) for (const [name, value] of final.fields) namespace.fields.set(name, value);
    namespace.fields.set('default', final).set('module.exports', final);
  }
}

function isModuleStatement({ type }: Statement): boolean {
  return type === 'import' || type.startsWith('export');
}

/** Function declarations count from the file's start, also exported ones. */
function onlyFunctions(statement: Statement): Statement {
  const declared = statement.type === 'export' ? statement.declaration : statement;
  return declared.type === 'function' ? declared : { type: 'block', body: [] };
}

function exportedNames(statement: Statement): readonly ModuleName[] {
  if (statement.type === 'export-names') return statement.names;
  if (statement.type !== 'export') return [];
  const { declaration } = statement;
  if (declaration.type === 'function') return [{ from: declaration.function.name, to: declaration.function.name }];
  if (declaration.type === 'class') return [{ from: declaration.name, to: declaration.name }];
  if (declaration.type !== 'declare') return [];
  return declaration.declarators.flatMap(({ target }) =>
    target.type === 'name' ? [{ from: target.name, to: target.name }] : [],
  );
}

function exported(imported: Value, name: string): Value {
  if (name === '*') return imported;
  if (imported instanceof Box) return imported.get(name);
  if (!(imported instanceof Callable)) return undefined;
  if (name !== 'default' && !imported.fields.has(name)) throw new Unsupported(`The export ${name} is not known.`);
  return name === 'default' ? imported : imported.fields.get(name);
}

function reExport(namespace: Box, source: Value, { from, to }: ModuleName): void {
  if (to !== '*') namespace.fields.set(to, exported(source, from));
  else if (source instanceof Box)
    for (const [name, value] of source.fields) if (name !== 'default') namespace.fields.set(name, value);
}
