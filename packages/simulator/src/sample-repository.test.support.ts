import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Pseudo-random numbers from a seed, so that a failing sample can be drawn again. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const families = ['arithmetic', 'comparison', 'number', 'text'] as const;

export interface Sample {
  readonly root: string;
  readonly seed: number;
  readonly family: (typeof families)[number];
  readonly sourcePath: string;
  readonly testPath: string;
  readonly right: string;
  readonly wrong: string;
}

interface Draw {
  readonly pick: <T>(items: readonly T[]) => T;
  readonly whole: (least: number, most: number) => number;
  readonly word: () => string;
}

function drawer(seed: number): Draw {
  const random = randomFrom(seed);
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const pick = <T>(items: readonly T[]): T => items[whole(0, items.length - 1)] as T;
  const letters = 'abcdefghijklmnoprstuvwz';
  const word = () => Array.from({ length: whole(4, 8) }, () => letters[whole(0, letters.length - 1)]).join('');
  return { pick, whole, word };
}

interface Bug {
  readonly name: string;
  readonly right: string;
  readonly wrong: string;
  /** Pairs of arguments (as source) and expected value. */
  readonly cases: readonly (readonly [string, unknown])[];
}

const bugs: Readonly<Record<Sample['family'], (draw: Draw) => Bug>> = {
  arithmetic: (draw) => {
    const name = draw.word();
    const [rightOperator, wrongOperator] = draw.pick([
      ['+', '-'],
      ['-', '+'],
      ['*', '/'],
      ['*', '+'],
    ] as const);
    const [a, b] = [draw.whole(6, 40), draw.whole(3, 5)];
    const value = rightOperator === '+' ? a + b : rightOperator === '-' ? a - b : a * b;
    const body = (operator: string) => draw.pick([`return left ${operator} right;`]);
    const whole = (operator: string) => `function ${name}(left, right) {\n  ${body(operator)}\n}`;
    return { name, right: whole(rightOperator), wrong: whole(wrongOperator), cases: [[`${a}, ${b}`, value]] };
  },
  comparison: (draw) => {
    const [name, limit] = [draw.word(), draw.whole(10, 90)];
    const shape = draw.pick(['limit', 'loop'] as const);
    if (shape === 'limit') {
      const whole = (operator: string) => `function ${name}(value) {\n  return value ${operator} ${limit};\n}`;
      const cases = [
        [String(limit), true],
        [String(limit - 1), false],
        [String(limit + 1), true],
      ] as const;
      return { name, right: whole('>='), wrong: whole('>'), cases };
    }
    const whole = (operator: string) =>
      `function ${name}(count) {\n  let sum = 0;\n  for (let step = 1; step ${operator} count; step += 1) {\n    sum += step;\n  }\n  return sum;\n}`;
    const count = draw.whole(4, 12);
    return { name, right: whole('<='), wrong: whole('<'), cases: [[String(count), (count * (count + 1)) / 2]] };
  },
  number: (draw) => {
    const [name, factor, amount] = [draw.word(), draw.whole(3, 30), draw.whole(7, 60)];
    const constant = draw.word().toUpperCase();
    const whole = (value: number) =>
      `const ${constant} = ${value};\nfunction ${name}(amount) {\n  return amount * ${constant};\n}`;
    const cases = [
      [String(amount), amount * factor],
      [String(amount + 3), (amount + 3) * factor],
    ] as const;
    return { name, right: whole(factor), wrong: whole(factor + draw.whole(1, 9)), cases };
  },
  text: (draw) => {
    const [name, greeting, other, person] = [draw.word(), draw.word(), draw.word(), draw.word()];
    const template = draw.pick([true, false]);
    const whole = (said: string) =>
      template
        ? `const ${name} = (person) => \`${said}, \${person}!\`;`
        : `function ${name}(person) {\n  return '${said}' + ', ' + person + '!';\n}`;
    return {
      name,
      right: whole(greeting),
      wrong: whole(`${other}x`),
      cases: [[`'${person}'`, `${greeting}, ${person}!`]],
    };
  },
};

/** Writes a small repository in which one wrong operator or constant makes a test fail. Everything is drawn from the seed. */
export async function makeSample(
  seed: number,
  family = families[seed % families.length] ?? 'arithmetic',
): Promise<Sample> {
  const draw = drawer(seed);
  const bug = bugs[family](draw);
  const esm = draw.pick([true, false]);
  const extension = esm ? 'mjs' : 'cjs';
  const folder = draw.pick(['src/', 'lib/', '']);
  const testFolder = draw.pick(['test/', '']);
  const file = draw.word();
  const sourcePath = `${folder}${file}.${extension}`;
  const testPath = `${testFolder}${file}.test.${extension}`;
  const helper = `function ${draw.word()}Helper(items) {\n  return items.filter((item) => item > ${draw.whole(1, 9)}).map((item) => item * 2);\n}`;
  const files = {
    [sourcePath]: sourceText(bug.wrong, bug.name, helper, esm),
    [testPath]: testText(bug, relative(testPath, sourcePath), {
      esm,
      assertion: draw.pick(['strictEqual', 'equal', 'deepStrictEqual']),
    }),
    'README.md': `# ${file}\n`,
  };
  const root = await mkdtemp(join(tmpdir(), 'stint-sample-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return {
    root,
    seed,
    family,
    sourcePath,
    testPath,
    right: sourceText(bug.right, bug.name, helper, esm),
    wrong: files[sourcePath] ?? '',
  };
}

function sourceText(body: string, name: string, helper: string, esm: boolean): string {
  return `${helper}\n\n${body}\n\n${esm ? `export { ${name} };` : `module.exports = { ${name} };`}\n`;
}

function testText(bug: Bug, source: string, style: { readonly esm: boolean; readonly assertion: string }): string {
  const head = style.esm
    ? `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { ${bug.name} } from '${source}';\n`
    : `const assert = require('node:assert');\nconst { test } = require('node:test');\nconst { ${bug.name} } = require('${source}');\n`;
  const asserts = bug.cases.map(
    ([args, expected]) => `  assert.${style.assertion}(${bug.name}(${args}), ${JSON.stringify(expected)});`,
  );
  return `${head}\ntest('${bug.name} does what it says', () => {\n${asserts.join('\n')}\n});\n`;
}

function relative(from: string, to: string): string {
  return from.includes('/') ? `../${to}` : `./${to}`;
}
