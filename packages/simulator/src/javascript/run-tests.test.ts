import { describe, expect, test } from 'vitest';
import { runTests } from './run-tests.js';
import { testPassed } from './test-library.js';

const testPath = 'a.test.mjs';
const head = `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n`;

function run(body: string, files: Readonly<Record<string, string>> = {}) {
  return runTests(new Map(Object.entries({ ...files, [testPath]: `${head}${body}` })), [testPath]);
}

describe('what a program says', () => {
  test.each([
    ['1 + 2 * 3 ** 2', 19],
    ['(7 % 4) / 2 - -1', 2.5],
    ['[3, 1, 2].sort((a, b) => a - b).map((n) => n * 2).join("-")', '2-4-6'],
    ['`${1 + 1}${`x${"y"}`}`', '2xy'],
    ['(({ a, ...rest }, [b = 4]) => [a, rest, b])({ a: 1, c: 3 }, [])', [1, { c: 3 }, 4]],
    ['[..."héé"].filter((c) => c !== "h").length', 2],
    ['undefined?.a.b ?? "none"', 'none'],
    ['((x) => { switch (x) { case 1: return "one"; default: return "other"; } })(1)', 'one'],
    ['(() => { let n = 0; for (const i of [1, 2, 3]) { if (i === 2) continue; n += i; } return n; })()', 4],
    ['(() => { try { null.x; } catch (error) { return error.name; } })()', 'TypeError'],
    ['"a-b_c".split(/[-_]/)', ['a', 'b', 'c']],
    ['new Map([["a", 1]]).get("a") + new Set([1, 1]).size', 2],
    ['typeof missing', 'undefined'],
    ['8 / 2 / 2', 2],
  ])('%s is %j', (expression, expected) => {
    const report = run(`test('it', () => { assert.deepEqual(${expression}, ${JSON.stringify(expected)}); });`);
    expect(report.unsupported).toBeNull();
    expect(report.passed).toBe(true);
    expect(run(`test('it', () => { assert.notDeepEqual(${expression}, ${JSON.stringify(expected)}); });`).passed).toBe(
      false,
    );
  });
});

describe('modules', () => {
  test('of both kinds are found by their relative names', () => {
    const files = {
      'lib/index.js': `export { default as twice } from './twice.mjs'; export * from './more.mjs';`,
      'lib/twice.mjs': `export default function twice(n) { return n * 2; }`,
      'lib/more.mjs': `export const LIMIT = 3; export function half(n) { return n / 2; }`,
      'lib/old.cjs': `const { LIMIT } = require('./limit.json'); module.exports = { limit: LIMIT }; exports.lost = 1;`,
      'lib/limit.json': `{ "LIMIT": 7 }`,
    };
    const report = run(
      `import { half, LIMIT, twice } from './lib/index.js';\nimport old from './lib/old.cjs';
      test('it', () => { assert.deepEqual([twice(2), half(2), LIMIT, old.limit, old.lost], [4, 1, 3, 7, undefined]); });`,
      files,
    );
    expect(report).toMatchObject({ unsupported: null, passed: true });
  });
});

describe('a failing test', () => {
  test('shows every assertion with both values, also after the first that failed', () => {
    const report = run(
      `test('it', () => { assert.equal(1 + 1, 3); assert.equal('a', 'a'); assert.equal('a' + 1, 'b'); });`,
    );
    expect(report.tests[0]?.assertions.map(({ actual, expected, passed }) => [actual, expected, passed])).toEqual([
      [2, 3, false],
      ['a', 'a', true],
      ['a1', 'b', false],
    ]);
  });

  test('does not keep the others from running', () => {
    const report = run(`test('bad', () => { throw new Error('no'); });\ntest('good', () => { assert.ok(true); });`);
    expect(report.tests.map((record) => [record.name, testPassed(record)])).toEqual([
      ['bad', false],
      ['good', true],
    ]);
  });
});

describe('what is not run', () => {
  test.each([
    ['a generator', 'function* g() {}'],
    ['a global of the host', 'process.exit(1);'],
    ['a constructor reached through a value', '[].constructor.constructor("return 1")();'],
    ['a module of the host', `import 'node:fs';`],
    ['a dynamic import', `await import('node:fs');`],
    [
      'an expression that backtracks',
      `test('it', () => { assert.ok(/^(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')); });`,
    ],
    ['an array without end', `test('it', () => { assert.ok(Array(1e9)); });`],
  ])('%s is unsupported, with a reason', (_, body) => {
    expect(run(body)).toMatchObject({ passed: false, unsupported: expect.stringMatching(/./) });
  });

  test.each([
    ['a loop without end', 'while (true) {}'],
    ['a recursion without end', 'const f = () => f(); f();'],
  ])('%s is stopped and counts as failed', (_, body) => {
    expect(run(`test('it', () => { ${body} });`)).toMatchObject({ passed: false, unsupported: null });
  });
});
