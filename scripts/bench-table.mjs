// @ts-check
/** How `npm run bench` prints its rows: one line each, those that could not be measured among them. */

/** @typedef {{ name: string, unit: string, target: string }} Named */
/** `met` is null where a figure is told without a target. @typedef {Named & { value: number, baseline: number, ratio: number, met: boolean | null, notMeasured?: undefined }} Measured */
/** What the row needs could not be had; it counts neither as met nor as missed. @typedef {Named & { met: null, notMeasured: string }} NotMeasured */
/** @typedef {Measured | NotMeasured} Row */

/** @param {readonly Row[]} rows */
export function table(rows) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows
    .map((row) => `${verdict(row)} ${row.name.padEnd(width)} ${figures(row)}  target ${row.target}`)
    .join('\n');
}

/** @param {Row} row */
function verdict({ met, notMeasured }) {
  if (notMeasured !== undefined) return 'NONE';
  if (met === null) return 'told';
  return met ? 'met ' : 'MISS';
}

/** @param {Row} row */
function figures(row) {
  if (row.notMeasured !== undefined) return `not measured: ${row.notMeasured}`;
  const figure = (/** @type {number} */ value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3)).padStart(9);
  return `${figure(row.value)} ${row.unit.padEnd(8)} baseline ${figure(row.baseline)}  ratio ${row.ratio.toFixed(2)}`;
}
