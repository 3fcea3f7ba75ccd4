import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Random } from './random.js';

export const bugFamilies = ['operator', 'comparison', 'constant'] as const;
export type BugFamily = (typeof bugFamilies)[number];

/** A real git repository in which `node --test` fails by one wrong operator, comparison or constant. */
export interface BuggyRepository {
  readonly directory: string;
  readonly family: BugFamily;
  /** Path of the file with the bug, from the repository's root. */
  readonly sourcePath: string;
  readonly testPath: string;
  /** What the file says once it is right. */
  readonly rightSource: string;
}

interface Bug {
  readonly wrong: string;
  readonly right: string;
  readonly assertions: readonly string[];
}

const gitEnvironment = {
  PATH: process.env['PATH'],
  HOME: tmpdir(),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.invalid',
  GIT_COMMITTER_NAME: 'A Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.invalid',
};

/** `git` in a repository, without the machine's own configuration. */
export const git = (directory: string, ...words: readonly string[]): string =>
  execFileSync('git', [...words], { cwd: directory, env: gitEnvironment, encoding: 'utf8' });

/** Draws names, values and layout, so that no repair can be known beforehand. */
export function makeBuggyRepository(random: Random, family: BugFamily): BuggyRepository {
  const directory = mkdtempSync(join(tmpdir(), 'stint-repository-'));
  const name = random.word();
  const bug = bugs[family](random, name);
  const sourcePath = join(random.pick(['src', 'lib', '.']), `${random.word()}.js`);
  const testPath = join(random.pick(['test', '.']), `${random.word()}.test.js`);
  const way = join(dirname(testPath) === '.' ? '.' : '..', sourcePath);
  const test = [
    `import assert from 'node:assert/strict';`,
    `import test from 'node:test';`,
    `import { ${name} } from './${way}';`,
    '',
    `test('${random.word()}', () => {`,
    ...bug.assertions.map((assertion) => `  ${assertion}`),
    '});',
    '',
  ].join('\n');
  write(
    directory,
    'package.json',
    `${JSON.stringify({ name: random.word(), type: 'module', private: true }, null, 2)}\n`,
  );
  write(directory, 'README.md', `# ${random.word()}\n`);
  write(directory, sourcePath, bug.wrong);
  write(directory, testPath, test);
  git(directory, 'init', '-q', '-b', 'main');
  git(directory, 'add', '-A');
  git(directory, 'commit', '-q', '-m', 'Begin');
  return { directory, family, sourcePath, testPath, rightSource: bug.right };
}

function write(directory: string, path: string, text: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
}

const bugs: Readonly<Record<BugFamily, (random: Random, name: string) => Bug>> = {
  operator(random, name) {
    const [right, wrong] = random.pick([
      ['+', '-'],
      ['*', '+'],
      ['-', '+'],
      ['*', '-'],
    ] as const);
    const [a, b] = [random.word(), `${random.word()}x`];
    const source = (operator: string): string =>
      `export function ${name}(${a}, ${b}) {\n  return ${a} ${operator} ${b};\n}\n`;
    const value = (x: number, y: number): number => (right === '+' ? x + y : right === '-' ? x - y : x * y);
    const pairs = Array.from({ length: 3 }, () => [random.between(3, 90), random.between(3, 90)] as const);
    return {
      wrong: source(wrong),
      right: source(right),
      assertions: pairs.map(([x, y]) => `assert.equal(${name}(${x}, ${y}), ${value(x, y)});`),
    };
  },
  comparison(random, name) {
    const limit = random.between(5, 50);
    const [values, one] = [random.word(), `${random.word()}y`];
    const source = (operator: string): string =>
      `export function ${name}(${values}) {\n  return ${values}.filter((${one}) => ${one} ${operator} ${limit}).length;\n}\n`;
    const sample = [limit - 2, limit, limit + 1, limit, limit + random.between(2, 9)];
    const upward = random.next() < 0.5;
    const count = sample.filter((value) => (upward ? value >= limit : value <= limit)).length;
    return {
      wrong: source(upward ? '>' : '<'),
      right: source(upward ? '>=' : '<='),
      assertions: [`assert.equal(${name}([${sample.join(', ')}]), ${count});`, `assert.equal(${name}([]), 0);`],
    };
  },
  constant(random, name) {
    const right = random.between(11, 99);
    const wrong = right + random.pick([-3, -1, 1, 2, 7]);
    const constant = random.word().toUpperCase();
    const amount = random.word();
    const source = (value: number): string =>
      `const ${constant} = ${value};\n\nexport function ${name}(${amount}) {\n  return ${amount} * ${constant};\n}\n`;
    const factor = random.between(2, 9);
    return {
      wrong: source(wrong),
      right: source(right),
      assertions: [`assert.equal(${name}(${factor}), ${factor * right});`, `assert.equal(${name}(0), 0);`],
    };
  },
};
