import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from './errors.js';
import { isSqliteBusy } from './sqlite-errors.js';
import type { SqliteTurns } from './sqlite-turns.js';

/** For this long a busy store is asked once a turn of the event loop, then at random intervals of 1-5 ms. */
const eagerMs = 20;
/** After so long others are asked for a turn: shorter waits end by themselves, and a turn costs two looks at the folder. */
const patientMs = 4;

/**
 * Runs a synchronous attempt until it is not answered "busy". Timers and sockets of this process go on in between. With
 * `turns`, two processes that write all the time get a fair share each, which SQLite's own busy timeout does not give.
 * @throws StoreError `store_busy` after `limitMs`; whatever else the attempt throws, at once.
 */
export async function retryWhileBusy<T>(attempt: () => T, limitMs: number, turns?: SqliteTurns): Promise<T> {
  const startedMs = performance.now();
  try {
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        if (!isSqliteBusy(error)) throw error;
        const waitedMs = performance.now() - startedMs;
        if (waitedMs >= limitMs) throw busyError(waitedMs, error);
        if (waitedMs >= patientMs) turns?.ask();
        await (waitedMs < eagerMs ? nextTurn() : sleep(1 + Math.random() * 4));
      }
    }
  } finally {
    turns?.withdraw();
  }
}

function busyError(waitedMs: number, cause: unknown): StoreError {
  return new StoreError(
    'store_busy',
    `Another process held the store for ${Math.round(waitedMs)} ms; try again, or look for a process that keeps a transaction open`,
    cause,
  );
}
