// @ts-check
/** Cost of the loop, its stream and its durable turn, each beside its baseline in the same round. */
import { durableRows } from './durable.mjs';
import { loopRows } from './loop.mjs';
import { streamRows } from './stream.mjs';

/** @typedef {{ name: string, value: number, unit: string, baseline: number, ratio: number, target: string, met: boolean, spread: number }} Row */

/**
 * @param {{ rounds: number }} options
 * @returns {Promise<{ bench: string, rows: Row[] }>}
 */
export async function bench({ rounds }) {
  return {
    bench: 'engine',
    rows: [...(await loopRows(rounds)), ...(await streamRows(rounds)), ...(await durableRows(rounds))],
  };
}
