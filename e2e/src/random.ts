/** A small seeded generator (mulberry32), so that a failing draw can be repeated by its printed seed. */
export class Random {
  #state: number;
  readonly seed: number;
  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }
  /** 0 <= x < 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }
  pick<T>(values: readonly [T, ...T[]] | readonly T[]): T {
    const value = values[this.between(0, values.length - 1)];
    if (value === undefined) throw new Error('pick needs at least one value');
    return value;
  }
  word(): string {
    const syllables = ['ba', 'ke', 'lo', 'mi', 'nu', 'ra', 'so', 'ti', 'vu', 'za'];
    return Array.from({ length: this.between(2, 4) }, () => this.pick(syllables)).join('');
  }
}

/** The seed of this test run: STINT_TEST_SEED, or a new one; it is printed. */
export function testSeed(): number {
  const seed = Number(process.env['STINT_TEST_SEED'] ?? Math.floor(Math.random() * 1_000_000));
  console.log(`seed ${seed} (STINT_TEST_SEED=${seed} repeats this run)`);
  return seed;
}
