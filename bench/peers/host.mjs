// @ts-check
/**
 * The process in which one side is measured: `host.mjs <module> <place as JSON>`. The module exports
 * `open(place): Promise<Side>`. Each message `{ turns, times }` plays that many works and is answered with the microseconds of a turn.
 */
import { newWork } from './work.mjs';

const [module = '', place = '{}'] = process.argv.slice(2);

/** @param {unknown} message */
const tell = (message) => process.send?.(message);
/** @param {unknown} error */
const tellError = (error) => tell({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });

/** @param {import('./work.mjs').Side} side @param {{ turns: number, times: number }} asked */
async function measure(side, { turns, times }) {
  const began = performance.now();
  for (let time = 0; time < times; time += 1) {
    const work = newWork(turns);
    work.check(await side.run(work));
  }
  return ((performance.now() - began) * 1000) / (turns * times);
}

/** @type {import('./work.mjs').Side | undefined} */
let side;
// The parent hangs up when it has its figures, or has ended.
process.on('disconnect', () => void Promise.resolve(side?.close()).finally(() => process.exit()));
try {
  const opened = (side = await (await import(module)).open(JSON.parse(place)));
  process.on('message', (asked) => {
    measure(opened, /** @type {{ turns: number, times: number }} */ (asked)).then((us) => tell({ us }), tellError);
  });
  tell({ ready: true });
} catch (error) {
  tellError(error);
  process.disconnect?.();
}
