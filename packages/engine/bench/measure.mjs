// @ts-check

/** @typedef {{ value: number, baseline: number, spread: number }} Sides medians of both, and how far the rounds of the first lie apart as a part of it */
/** @typedef {{ name: string, unit: string, target: string, value: number, baseline: number, spread: number, ratio: number, met: boolean | null }} Measured `met` is null where the target is `none`: the figure is told alone */
/** @typedef {{ name: string, unit: string, target: string, value: null, baseline: null, spread: null, ratio: null, met: null, notMeasured: string }} NotMeasured */
/** @typedef {Measured | NotMeasured} Row */

/** How long each side works before it counts: the targets speak of what a turn costs, not of starting and compiling. */
const warmUpMs = 1_500;

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Warms both sides up, then runs them in turns, and answers the medians of each and the spread of the first.
 * @param {number} rounds
 * @param {() => Promise<number>} ours
 * @param {() => Promise<number>} theirs
 * @returns {Promise<Sides>}
 */
export async function sideBySide(rounds, ours, theirs) {
  for (const side of [ours, theirs]) await warmUp(side);
  const [own, other] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  for (let round = 0; round < rounds; round += 1) {
    // Each goes first as often as the other.
    const order = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
    for (const side of order) (side === ours ? own : other).push(await side());
  }
  const value = median(own);
  return { value, baseline: median(other), spread: (Math.max(...own) - Math.min(...own)) / value };
}

/** @param {() => Promise<number>} side */
async function warmUp(side) {
  const began = performance.now();
  do await side();
  while (performance.now() - began < warmUpMs);
}

/** Microseconds that `work` takes. @param {() => Promise<unknown>} work */
export async function microseconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1000;
}

/** @param {string} name @param {string} unit @param {Sides} sides @param {string} target `<= N` or `>= N` of the ratio, or `none` @returns {Measured} */
export function judged(name, unit, sides, target) {
  const ratio = sides.value / sides.baseline;
  return { name, unit, ...sides, ratio, target, met: meets(ratio, target) };
}

/** @param {number} ratio @param {string} target */
function meets(ratio, target) {
  if (target === 'none') return null;
  const wanted = Number(target.slice(3));
  return target.startsWith('<=') ? ratio <= wanted : ratio >= wanted;
}

/** @param {string} name @param {string} unit @param {string} target @param {string} reason @returns {NotMeasured} */
export const notMeasured = (name, unit, target, reason) => ({
  name,
  unit,
  target,
  value: null,
  baseline: null,
  spread: null,
  ratio: null,
  met: null,
  notMeasured: reason,
});
