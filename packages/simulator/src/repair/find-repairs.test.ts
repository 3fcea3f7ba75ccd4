import { describe, expect, test } from 'vitest';
import { runTests } from '../javascript/run-tests.js';
import { randomFrom } from '../sample-repository.test.support.js';
import { corpus, type Program } from './corpus.test.support.js';
import { findRepairs } from './find-repairs.js';
import { makeEdit, revert } from './make-edit.js';
import { constantsOf, type Mutation, mutate, operatorMutations, replaceConstant } from './mutations.js';

const path = 'src/program.js';
const testPath = 'test/program.test.js';

function passes(source: string, { test: told }: Program): boolean {
  return runTests(
    new Map([
      [path, source],
      [testPath, told],
    ]),
    [testPath],
  ).passed;
}

function repairsOf(source: string, { test: told }: Program): readonly Mutation[] {
  return findRepairs({ sources: new Map([[path, source]]), tests: new Map([[testPath, told]]) }).repairs;
}

/** Slips of the usual kinds: a mistaken operator, a number that is off, a text that is misspelt. */
function slips({ source }: Program): readonly Mutation[] {
  const operators = operatorMutations(path, source).filter(({ weight }) => weight < 1);
  const constants = constantsOf(path, source).flatMap((constant) => {
    const { value } = constant;
    const wrong = typeof value === 'number' ? [value + 1, value + 4] : value === '' ? [] : [`${value}y`];
    return wrong.map((other) => replaceConstant(constant, other, 0));
  });
  return [...operators, ...constants];
}

test('the programs of the corpus pass as they are', () => {
  for (const program of corpus) expect(passes(program.source, program), program.source).toBe(true);
});

const seed = Math.floor(Math.random() * 1_000_000);
test(`a slip that a test notices is mended (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const noticed = corpus.flatMap((program) =>
    slips(program)
      .filter(() => random() < 0.12)
      .map((slip) => ({ program, wrong: mutate(program.source, slip) }))
      .filter(({ wrong }) => !passes(wrong, program)),
  );
  expect(noticed.length).toBeGreaterThan(5);
  for (const { program, wrong } of noticed) {
    const [repair] = repairsOf(wrong, program);
    expect(repair, wrong).toBeDefined();
    if (repair !== undefined) expect(passes(mutate(wrong, repair), program), wrong).toBe(true);
  }
});

describe('an edit', () => {
  const program =
    'const one = (a, b) => a - b;\r\nconst two = (a, b) =>\r\n  a - b;\r\nconst three = (a, b) =>\r\n  a - b;\r\n';

  test.each([0, 1, 2])('stands in the file once, also where the line does not (place %i)', (place) => {
    const slip = operatorMutations(path, program).filter(({ replacement }) => replacement === '+')[place];
    if (slip === undefined) throw new Error('There are three places.');
    const edit = makeEdit(program, slip);
    expect(program.split(edit.oldText)).toHaveLength(2);
    expect(program.replace(edit.oldText, edit.newText)).toBe(mutate(program, slip));
    expect(mutate(program, slip).replace(revert(edit).oldText, revert(edit).newText)).toBe(program);
  });
});
