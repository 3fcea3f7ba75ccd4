// @ts-check

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Runs both sides in turns, the first round unmeasured, and answers the medians of each and the spread of the first.
 * @param {number} rounds
 * @param {() => Promise<number>} ours
 * @param {() => Promise<number>} theirs
 */
export async function sideBySide(rounds, ours, theirs) {
  const [own, other] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  for (let round = 0; round <= rounds; round += 1) {
    // Each goes first as often as the other.
    const order = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
    for (const side of order) {
      const figure = await side();
      if (round > 0) (side === ours ? own : other).push(figure);
    }
  }
  const value = median(own);
  return { value, baseline: median(other), spread: (Math.max(...own) - Math.min(...own)) / value };
}

/** Microseconds that `work` takes. @param {() => Promise<unknown>} work */
export async function microseconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1000;
}
