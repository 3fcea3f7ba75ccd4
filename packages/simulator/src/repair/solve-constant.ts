import type { TestReport } from '../javascript/run-tests.js';
import { type Value, toPlain } from '../javascript/values.js';

/** An actual and an expected value that ought to be equal, cut down to something that is no list and no object. */
export interface LeafPair {
  readonly actual: unknown;
  readonly expected: unknown;
}

/**
 * All pairs of a report, in order. Values are taken apart to their leaves, and the numbers inside texts count as
 * leaves too. Two runs of the same tests give lists that can be compared place by place.
 */
export function leafPairs(report: TestReport): readonly LeafPair[] {
  const pairs = report.tests.flatMap((test) =>
    test.assertions.flatMap(({ actual, expected }) => {
      const [actuals, expecteds] = [leaves(actual), leaves(expected)];
      const length = Math.max(actuals.length, expecteds.length);
      return Array.from({ length }, (_, index) => ({ actual: actuals[index], expected: expecteds[index] }));
    }),
  );
  return pairs.slice(0, mostPairs);
}

const mostPairs = 200;
/** Wrong results that are looked at; later ones mostly say the same again. */
const mostSolutions = 48;

function leaves(value: Value): readonly unknown[] {
  return leavesOfPlain(toPlain(value));
}

function leavesOfPlain(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [value, ...(value.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number)];
  if (typeof value !== 'object' || value === null) return [value];
  return Object.values(value).flatMap(leavesOfPlain);
}

/** A run of the tests with the constant changed to `value`. */
export interface Probe {
  readonly value: number;
  readonly pairs: readonly LeafPair[];
}

/**
 * The numbers that would make a wrong result right if the result is a straight line in the constant (through the base
 * and a probe), or goes with its reciprocal.
 */
export function solveNumber(base: Probe, probes: readonly Probe[]): readonly number[] {
  const solutions = base.pairs.flatMap(({ actual, expected }, index) => {
    if (typeof actual !== 'number' || typeof expected !== 'number' || actual === expected) return [];
    const reciprocal = expected === 0 ? [] : [(base.value * actual) / expected];
    return [...reciprocal, ...probes.flatMap((probe) => onLine(base.value, actual, expected, { probe, index }))];
  });
  return unique(solutions.flatMap(nearby).filter(Number.isFinite)).slice(0, mostSolutions);
}

function onLine(
  value: number,
  actual: number,
  expected: number,
  { probe, index }: { readonly probe: Probe; readonly index: number },
): readonly number[] {
  const moved = probe.pairs[index]?.actual;
  if (typeof moved !== 'number' || moved === actual || probe.value === value) return [];
  return [value + ((expected - actual) * (probe.value - value)) / (moved - actual)];
}

/** A solution and the round numbers near it: results are often rounded themselves. */
function nearby(solution: number): readonly number[] {
  return [Number(solution.toPrecision(12)), ...[0, 1, 2, 3, 4].map((digits) => Number(solution.toFixed(digits)))];
}

/** The texts that would make a wrong text right, if the constant stands in it. */
export function solveText(value: string, pairs: readonly LeafPair[]): readonly string[] {
  const solutions = pairs.flatMap(({ actual, expected }) => {
    if (typeof actual !== 'string' || typeof expected !== 'string' || actual === expected) return [];
    return value === ''
      ? [insertedText(actual, expected)]
      : [...replacedOnce(value, actual, expected), ...replacedAll(value, actual, expected)];
  });
  return unique(solutions.filter((solution) => solution !== value)).slice(0, mostSolutions);
}

function replacedOnce(value: string, actual: string, expected: string): readonly string[] {
  const found: string[] = [];
  for (let at = actual.indexOf(value); at !== -1; at = actual.indexOf(value, at + 1)) {
    const [before, after] = [actual.slice(0, at), actual.slice(at + value.length)];
    const fits =
      expected.length >= before.length + after.length && expected.startsWith(before) && expected.endsWith(after);
    if (fits) found.push(expected.slice(before.length, expected.length - after.length));
  }
  return found;
}

/** The constant stands between all parts, as a separator does. */
function replacedAll(value: string, actual: string, expected: string): readonly string[] {
  const parts = actual.split(value);
  const [first = '', second = ''] = parts;
  if (parts.length < 3 || !expected.startsWith(first)) return [];
  const found: string[] = [];
  for (let end = first.length; end <= expected.length; end += 1) {
    const candidate = expected.slice(first.length, end);
    if (expected.startsWith(second, end) && parts.join(candidate) === expected) found.push(candidate);
  }
  return found;
}

function insertedText(actual: string, expected: string): string {
  let start = 0;
  while (start < actual.length && actual[start] === expected[start]) start += 1;
  let end = 0;
  while (end < actual.length - start && actual.at(-1 - end) === expected.at(-1 - end)) end += 1;
  return expected.slice(start, expected.length - end);
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
