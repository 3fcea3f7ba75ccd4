import { matchText } from './regex.js';
import { Box, boxOf, Callable, callable, deepEquals, Thrown, toText, type Value } from './values.js';

/** One assertion as it went. */
export interface AssertionRecord {
  /** The assertion's name, e.g. `strictEqual`. */
  readonly assertion: string;
  readonly actual: Value;
  readonly expected: Value;
  readonly passed: boolean;
}

/** One test with all of its assertions: a failing one does not end the test here. */
export interface TestRecord {
  readonly name: string;
  readonly assertions: AssertionRecord[];
  /** What the test threw, if it did. */
  thrown: string | null;
}

export function testPassed(test: TestRecord): boolean {
  return test.thrown === null && test.assertions.every((assertion) => assertion.passed);
}

/** `node:test` and `node:assert` for a program of the subset. */
export class TestLibrary {
  readonly tests: TestRecord[] = [];
  #current: TestRecord | null = null;
  #prefix = '';
  readonly #beforeEach: Callable[] = [];

  /** The module of that name; null if it is none of ours. `strict` chooses the assertions. */
  module(name: string): Value {
    const bare = name.replace(/^node:/, '');
    if (bare === 'test') return this.#testModule();
    if (bare === 'assert') return this.#assertModule(false);
    return bare === 'assert/strict' ? this.#assertModule(true) : null;
  }

  #testModule(): Callable {
    const test = new Callable('test', (_, args) => this.#test(args));
    const describe = new Callable('describe', (_, args) => this.#describe(args));
    const known = { test, it: test, describe, suite: describe, default: test, ...this.#hooks() };
    for (const [name, value] of Object.entries(known)) test.fields.set(name, value);
    const skip = new Callable('skip', () => undefined);
    for (const skipping of [test, describe]) for (const name of ['skip', 'todo']) skipping.fields.set(name, skip);
    return test;
  }

  #hooks(): Readonly<Record<string, Callable>> {
    const now = (_: Value, [body]: readonly Value[]): Value => callable(body, 'the hook').invoke(undefined, []);
    const later = (_: Value, [body]: readonly Value[]): Value => this.#beforeEach.push(callable(body, 'the hook'));
    const never = (): Value => undefined;
    return {
      before: new Callable('before', now),
      beforeEach: new Callable('beforeEach', later),
      after: new Callable('after', never),
      afterEach: new Callable('afterEach', never),
    };
  }

  #test(args: readonly Value[]): Value {
    const body = args.find((value) => value instanceof Callable);
    const options = args.find((value) => value instanceof Box);
    if (body === undefined || (options instanceof Box && (options.get('skip') || options.get('todo'))))
      return undefined;
    const outer = this.#current;
    const record: TestRecord = { name: this.#prefix + named(args), assertions: [], thrown: null };
    this.tests.push(record);
    this.#current = record;
    try {
      for (const hook of this.#beforeEach) hook.invoke(undefined, []);
      const nested = new Callable('test', (_, inner) => this.#test(inner));
      callable(body, 'the test').invoke(undefined, [boxOf({ test: nested, assert: this.#assertModule(true) })]);
    } catch (error) {
      if (!(error instanceof Thrown)) throw error;
      record.thrown = error.message;
    } finally {
      this.#current = outer;
    }
    return undefined;
  }

  #describe(args: readonly Value[]): Value {
    const body = args.find((value) => value instanceof Callable);
    const [outer, hooks] = [this.#prefix, this.#beforeEach.length];
    this.#prefix = `${outer}${named(args)} > `;
    callable(body, 'the suite').invoke(undefined, []);
    this.#prefix = outer;
    this.#beforeEach.length = hooks;
    return undefined;
  }

  #assertModule(strict: boolean): Callable {
    const assert = this.#assertion('ok', ([value]) => ({ passed: Boolean(value), actual: value, expected: true }));
    for (const [name, judge] of Object.entries(assertions(strict)))
      assert.fields.set(name, this.#assertion(name, judge));
    assert.fields.set(
      'ok',
      this.#assertion('ok', ([value]) => ({ passed: Boolean(value), actual: value, expected: true })),
    );
    assert.fields.set('default', assert);
    assert.fields.set('strict', strict ? assert : this.#assertModule(true));
    return assert;
  }

  #assertion(name: string, judge: Judge): Callable {
    return new Callable(name, (_, args) => {
      const judged = { assertion: name, ...judge(args) };
      if (this.#current === null) this.tests.push({ name: '(file)', assertions: [judged], thrown: null });
      else this.#current.assertions.push(judged);
      return undefined;
    });
  }
}

type Judge = (args: readonly Value[]) => Pick<AssertionRecord, 'actual' | 'expected' | 'passed'>;

function assertions(strict: boolean): Readonly<Record<string, Judge>> {
  const equality = (strictly: boolean, deep: boolean, wanted: boolean): Judge => {
    return ([actual, expected]) => {
      const same = deep ? deepEquals(actual, expected, strictly) : equals(actual, expected, strictly);
      return { actual, expected, passed: same === wanted };
    };
  };
  return {
    equal: equality(strict, false, true),
    notEqual: equality(strict, false, false),
    strictEqual: equality(true, false, true),
    notStrictEqual: equality(true, false, false),
    deepEqual: equality(strict, true, true),
    notDeepEqual: equality(strict, true, false),
    deepStrictEqual: equality(true, true, true),
    notDeepStrictEqual: equality(true, true, false),
    throws: ([body]) => ({ actual: throws(body), expected: true, passed: throws(body) }),
    doesNotThrow: ([body]) => ({ actual: throws(body), expected: false, passed: !throws(body) }),
    match: ([actual, expected]) => ({ actual, expected, passed: matchText(toText(actual), expected) !== null }),
    fail: () => ({ actual: false, expected: true, passed: false }),
  };
}

function equals(left: Value, right: Value, strictly: boolean): boolean {
  return deepEquals(left, right, strictly) && (left === right || typeof left !== 'object' || left === null);
}

function throws(body: Value): boolean {
  try {
    callable(body, 'the body').invoke(undefined, []);
    return false;
  } catch (error) {
    if (error instanceof Thrown) return true;
    throw error;
  }
}

function named(args: readonly Value[]): string {
  return typeof args[0] === 'string' ? args[0] : '(unnamed)';
}
