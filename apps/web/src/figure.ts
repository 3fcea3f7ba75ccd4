/** Digits, groups of three by commas or spaces, a point for decimals. A decimal comma is none of them: "0,50" is not 50. */
const typed = /^(\d+|\d{1,3}([, _]\d{3})+)(\.\d+)?$/;

/** A figure that a person typed, times `factor`: '' is none, anything that is not plainly a number of 0 or more is NaN. */
export function figure(text: string, factor = 1): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const value = typed.test(trimmed) ? Math.round(Number(trimmed.replaceAll(/[, _]/g, '')) * factor) : Number.NaN;
  return Number.isSafeInteger(value) ? value : Number.NaN;
}
