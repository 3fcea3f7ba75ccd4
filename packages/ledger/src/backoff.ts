const firstMs = 1000;
const longestMs = 300_000;

/** How long to wait after the n-th failure in a row: 1 s, 2 s, 4 s ... 256 s, at most 300 s. */
export function backoffMs(failures: number): number {
  return Math.min(firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 8), longestMs);
}
