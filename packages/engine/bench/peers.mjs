// @ts-check
/**
 * Stint beside OpenAI Agents, LangGraph and DBOS (bench/peers says how it is fair): each side in a process of its own, one
 * working at a time, in turns. A peer that cannot be had leaves its rows behind, named as not measured.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshPostgres, startPostgres } from '@stint/storage/testing';
import { installPeers } from '../../../bench/peers/install.mjs';
import { judged, notMeasured, sideBySide } from './measure.mjs';
import { openSide, SideError } from './side.mjs';

/** @typedef {{ name: string, turns: number, times: number, target: string }} Comparison `times` works of `turns` turns a round */
/** @typedef {{ ours: 'memory-run' | 'durable-run', peer: string, unit: 'us' | '1/s', ourPostgres?: boolean, peerPostgres?: boolean, comparisons: Comparison[] }} Pair */

/** @type {Pair[]} */
const pairs = [
  {
    ours: 'memory-run',
    peer: 'openai-agents',
    unit: 'us',
    comparisons: [
      { name: 'turn in memory, 10 turns, against OpenAI Agents', turns: 10, times: 40, target: '<= 0.4' },
      { name: 'turn in memory, 200 turns, against OpenAI Agents', turns: 200, times: 2, target: '<= 0.4' },
    ],
  },
  {
    ours: 'durable-run',
    peer: 'langgraph',
    unit: '1/s',
    comparisons: [
      { name: 'durable turn, 20 turns, against LangGraph on SQLite', turns: 20, times: 5, target: '>= 1.8' },
      { name: 'durable turn, 400 turns, against LangGraph on SQLite', turns: 400, times: 1, target: '>= 7' },
    ],
  },
  {
    ours: 'durable-run',
    peer: 'dbos',
    unit: '1/s',
    peerPostgres: true,
    comparisons: [{ name: 'durable turn, 200 turns, against DBOS on Postgres', turns: 200, times: 1, target: '>= 2' }],
  },
  {
    ours: 'durable-run',
    peer: 'dbos',
    unit: '1/s',
    ourPostgres: true,
    peerPostgres: true,
    comparisons: [{ name: 'durable turn on Postgres, against DBOS on Postgres', turns: 200, times: 1, target: 'none' }],
  },
];

/** @param {number} rounds */
export async function peerRows(rounds) {
  const reason = installPeers();
  if (reason !== null) return pairs.flatMap((pair) => rowsWithout(pair, reason));
  const server = await startPostgres({ fsync: true });
  const folder = mkdtempSync(join(tmpdir(), 'stint-peers-'));
  try {
    const rows = [];
    for (const pair of pairs) rows.push(...(await rowsOf(pair, rounds, folder, server.url)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await server.stop();
  }
}

/** @param {Pair} pair @param {number} rounds @param {string} folder @param {string} server */
async function rowsOf(pair, rounds, folder, server) {
  const place = async (/** @type {boolean | undefined} */ onPostgres) =>
    onPostgres ? { folder, postgres: (await freshPostgres(server)).location } : { folder };
  const ours = await openSide(new URL(`./${pair.ours}.mjs`, import.meta.url), await place(pair.ourPostgres));
  try {
    return await besidePeer(pair, rounds, ours, await place(pair.peerPostgres));
  } finally {
    await ours.close();
  }
}

/** @param {Pair} pair @param {number} rounds @param {import('./side.mjs').OpenSide} ours @param {import('../../../bench/peers/work.mjs').Place} place */
async function besidePeer(pair, rounds, ours, place) {
  /** @type {import('./side.mjs').OpenSide | undefined} */
  let theirs;
  try {
    theirs = await openSide(new URL(`../../../bench/peers/${pair.peer}.mjs`, import.meta.url), place).catch(asPeers);
    const rows = [];
    for (const comparison of pair.comparisons) rows.push(await compare(pair.unit, comparison, rounds, ours, theirs));
    return rows;
  } catch (error) {
    if (error instanceof PeerError) return rowsWithout(pair, error.message);
    throw error;
  } finally {
    await theirs?.close();
  }
}

/** What the peer did wrong, told apart from what Stint did: only the former leaves a row unmeasured. */
class PeerError extends Error {}

/** @param {unknown} error @returns {never} */
function asPeers(error) {
  throw error instanceof SideError ? new PeerError(error.message, { cause: error }) : error;
}

/** @param {Pair['unit']} unit @param {Comparison} comparison @param {number} rounds @param {import('./side.mjs').OpenSide} ours @param {import('./side.mjs').OpenSide} theirs */
async function compare(unit, { name, turns, times, target }, rounds, ours, theirs) {
  const figure = (/** @type {number} */ us) => (unit === 'us' ? us : 1e6 / us);
  const sides = await sideBySide(
    rounds,
    async () => figure(await ours.measure(turns, times)),
    async () => figure(await theirs.measure(turns, times).catch(asPeers)),
  );
  return judged(name, unit, sides, target);
}

/** @param {Pair} pair @param {string} reason */
const rowsWithout = ({ comparisons, unit }, reason) =>
  comparisons.map(({ name, target }) => notMeasured(name, unit, target, reason));
