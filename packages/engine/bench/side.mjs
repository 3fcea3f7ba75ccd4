// @ts-check
/** A side in a process of its own, so that neither its memory nor its timers nor what it compiled is another's. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const host = fileURLToPath(new URL('../../../bench/peers/host.mjs', import.meta.url));

/** The side could not be opened, or did other work than it was asked for. */
export class SideError extends Error {}

/** @typedef {{ measure(turns: number, times: number): Promise<number>, close(): Promise<void> }} OpenSide `measure` answers microseconds a turn */

/** @param {URL} module @param {import('../../../bench/peers/work.mjs').Place} place @returns {Promise<OpenSide>} */
export async function openSide(module, place) {
  // What a library prints must not get between the rows, which may be JSON.
  const child = fork(host, [module.href, JSON.stringify(place)], { stdio: ['ignore', 2, 2, 'ipc'] });
  const exited = once(child, 'exit');
  await answerOf(child);
  return {
    async measure(turns, times) {
      child.send({ turns, times });
      return (await answerOf(child)).us ?? Number.NaN;
    },
    async close() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<{ us?: number }>} */
function answerOf(child) {
  return new Promise((resolve, reject) => {
    const ended = (/** @type {number | null} */ code) => reject(new SideError(`its process ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (/** @type {{ us?: number, error?: string }} */ answer) => {
      child.off('exit', ended);
      if (answer.error === undefined) resolve(answer);
      else reject(new SideError(answer.error.split('\n')[0]));
    });
  });
}
