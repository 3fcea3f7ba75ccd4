import { runTests, type TestReport } from '../javascript/run-tests.js';
import type { Statement } from '../javascript/syntax.js';
import { type Constant, constantsOf, type Mutation, mutate, operatorMutations, replaceConstant } from './mutations.js';
import { leafPairs, solveNumber, solveText } from './solve-constant.js';

/** Sources and tests, all as text that was shown. Paths are relative to the workspace. */
export interface Workspace {
  readonly sources: ReadonlyMap<string, string>;
  readonly tests: ReadonlyMap<string, string>;
}

export interface RepairSearch {
  /** Changes after which every assertion holds (or may hold, if `evaluated` is false), the likeliest first. */
  readonly repairs: readonly Mutation[];
  /** False when the files could not be evaluated; the repairs are then guesses to be tried. */
  readonly evaluated: boolean;
  /** True when the assertions hold as the files are. */
  readonly alreadyPasses: boolean;
  /** Why the files could not be evaluated. */
  readonly reason: string | null;
}

const mostRuns = 1_500;
/** Steps of all runs together: well under a second of work. */
const mostSteps = 2_000_000;
const enoughRepairs = 3;

/**
 * Looks for one operator or constant whose change makes every assertion hold. Candidates are computed from the sources
 * and from what the assertions expect, and checked by an interpreter; none of the code is run by the host.
 */
export function findRepairs(workspace: Workspace): RepairSearch {
  const bench = new Bench(workspace);
  const base = bench.run(null);
  if (base.unsupported !== null) return guesses(workspace, base.unsupported);
  if (base.passed) return { repairs: [], evaluated: true, alreadyPasses: true, reason: null };
  const repairs: Mutation[] = [];
  for (const candidate of likeliestFirst(candidates(workspace, bench, base))) {
    if (repairs.length >= enoughRepairs || bench.isSpent) break;
    if (bench.run(candidate).passed) repairs.push(candidate);
  }
  return { repairs, evaluated: true, alreadyPasses: false, reason: null };
}

/** Runs the tests with and without changes, and counts the runs. */
class Bench {
  readonly #files: ReadonlyMap<string, string>;
  readonly #testPaths: readonly string[];
  readonly #cache = new Map<string, readonly Statement[]>();
  #maxSteps = 200_000;
  #steps = 0;
  #runs = 0;

  constructor({ sources, tests }: Workspace) {
    this.#files = new Map([...sources, ...tests]);
    this.#testPaths = [...tests.keys()];
  }

  run(mutation: Mutation | null): TestReport {
    const options = { cache: this.#cache, maxSteps: this.#maxSteps };
    if (mutation === null) {
      const report = this.#count(runTests(this.#files, this.#testPaths, options));
      this.#maxSteps = Math.min(50_000, report.steps * 10 + 10_000); // a change that loops for ever ends soon
      return report;
    }
    const changed = mutate(this.#files.get(mutation.path) ?? '', mutation);
    const files = new Map(this.#files).set(mutation.path, changed);
    const report = this.#count(runTests(files, this.#testPaths, options));
    this.#cache.delete(changed);
    return report;
  }

  /** True when enough was tried. Counted in runs and steps, not in time, so that the answer is always the same. */
  get isSpent(): boolean {
    return this.#runs >= mostRuns || this.#steps >= mostSteps;
  }

  #count(report: TestReport): TestReport {
    this.#runs += 1;
    this.#steps += report.steps;
    return report;
  }
}

function candidates(workspace: Workspace, bench: Bench, base: TestReport): readonly Mutation[] {
  const pool = constantsIn(workspace.tests);
  return [...workspace.sources].flatMap(([path, source]) => [
    ...operatorMutations(path, source),
    ...constantsOf(path, source).flatMap((constant) =>
      typeof constant.value === 'number'
        ? numberMutations({ ...constant, value: constant.value }, pool, { bench, base })
        : textMutations({ ...constant, value: constant.value }, pool, base),
    ),
  ]);
}

/** Texts that programs cut and join at, which no assertion may show as they are. */
const separators = [' ', '', ',', ', ', ';', ':', '-', '_', '/', '.', '|', '\n', '\t', '=', '&', '@'];

interface Pool {
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
}

function constantsIn(files: ReadonlyMap<string, string>): Pool {
  const values = [...files].flatMap(([path, source]) => constantsOf(path, source)).map(({ value }) => value);
  const texts = values.filter((value) => typeof value === 'string');
  const told = values.filter((value) => typeof value === 'number');
  const numbers = [...told, ...texts.map((value) => value.length)].flatMap((value) => [
    value,
    value + 1,
    value - 1,
    -value,
  ]);
  return {
    numbers: [...new Set(numbers)],
    texts: [...new Set([...texts, ...texts.flatMap((value) => value.split(/\s+/)), ...separators])],
  };
}

function numberMutations(
  constant: Constant & { readonly value: number },
  pool: Pool,
  { bench, base }: { readonly bench: Bench; readonly base: TestReport },
): readonly Mutation[] {
  const { value } = constant;
  const probes = [value + 1, value === 0 ? 2 : value * 2].map((changed) => ({
    value: changed,
    pairs: leafPairs(bench.run(replaceConstant(constant, changed, 0))),
  }));
  const solved = solveNumber({ value, pairs: leafPairs(base) }, probes);
  const near = [value + 1, value - 1, -value, value * 10, value / 10, value * 100, value / 100, 0, 1, 2];
  return weighed(constant, [...solved, ...near, ...pool.numbers]);
}

function textMutations(
  constant: Constant & { readonly value: string },
  pool: Pool,
  base: TestReport,
): readonly Mutation[] {
  const solved = solveText(constant.value, leafPairs(base));
  const cased = [constant.value.toUpperCase(), constant.value.toLowerCase(), constant.value.trim()];
  return weighed(constant, [...solved, ...cased, ...pool.texts]);
}

function weighed(constant: Constant, values: readonly (string | number)[]): readonly Mutation[] {
  const others = [...new Set(values)].filter((value) => !Object.is(value, constant.value));
  return others.map((value, index) => replaceConstant(constant, value, 1 + index / 4 + oddity(constant.value, value)));
}

/** People seldom mistake a round number for one with decimals, or a positive one for a negative one. */
function oddity(before: string | number, after: string | number): number {
  if (typeof before !== 'number' || typeof after !== 'number') return 0;
  const lessRound = decimals(after) > Math.max(decimals(before), Number.isInteger(before) ? 0 : 2);
  return (lessRound ? 2 : 0) + (after < 0 !== before < 0 ? 1.5 : 0);
}

function decimals(value: number): number {
  return (String(value).split('.')[1] ?? '').length;
}

function likeliestFirst(mutations: readonly Mutation[]): readonly Mutation[] {
  return [...mutations].sort((one, other) => one.weight - other.weight);
}

/** Without evaluation: the usual slips, and constants that a test file names. */
function guesses(workspace: Workspace, reason: string): RepairSearch {
  const pool = constantsIn(workspace.tests);
  const repairs = [...workspace.sources].flatMap(([path, source]) => [
    ...operatorMutations(path, source),
    ...constantsOf(path, source).flatMap((constant) => {
      const { value } = constant;
      if (typeof value === 'number') return weighed(constant, [value + 1, value - 1]);
      const alike = pool.texts.filter(
        (text) => value !== '' && Math.abs(text.length - value.length) <= 1 && text !== value,
      );
      return weighed(constant, alike.slice(0, 2));
    }),
  ]);
  return { repairs: likeliestFirst(repairs), evaluated: false, alreadyPasses: false, reason };
}
