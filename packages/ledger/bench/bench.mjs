// `npm run bench -- ledger`: every figure with its baseline in the same run, medians of interleaved rounds.
import { postgresRows } from './postgres-rows.mjs';
import { sqliteRows } from './sqlite-rows.mjs';

/**
 * @param {{ rounds: number, requests?: number, pairs?: number }} options
 * @returns {Promise<{ bench: 'ledger', rows: { name: string, value: number, unit: string, baseline: number, ratio: number, target: string, met: boolean }[] }>}
 */
export async function bench({ rounds, requests = 1_000_000, pairs = 50_000 }) {
  return {
    bench: 'ledger',
    rows: [...(await sqliteRows({ rounds, requests, pairs })), ...(await postgresRows({ rounds }))],
  };
}
