// @ts-check
/**
 * The work that every side does: a model in memory that calls the tool `add` once in each of so many turns and then answers
 * "done". No side talks to a network for its model, so what is timed is the loop and what it writes down.
 */

/** @typedef {{ id: string, input: { a: number, b: number } }} Call one call of the tool `add` */
/** @typedef {{ call: Call, text?: undefined } | { call?: undefined, text: string }} Answer what the model says in one turn */
/** @typedef {{ next(): Answer, add(input: { a: number, b: number }): number, check(text: string): void }} Work */

/**
 * What is measured: one loop with its store, in a process of its own. `run` plays one work to its end and answers the text
 * the model ended with.
 * @typedef {{ run(work: Work): Promise<string>, close(): Promise<void> }} Side
 */

/** What a side may need: a folder of its own for files, and the URL of an empty Postgres database. @typedef {{ folder: string, postgres?: string }} Place */

export const question = 'go';
export const toolDescription = 'Adds two numbers';
const lastText = 'done';

/** One run's script. `check` throws unless each answer was asked for once and each call was made once. @param {number} turns @returns {Work} */
export function newWork(turns) {
  let asked = 0;
  let added = 0;
  return {
    next() {
      asked += 1;
      return asked <= turns ? { call: { id: `c${asked}`, input: { a: asked, b: 1 } } } : { text: lastText };
    },
    add({ a, b }) {
      added += 1;
      return a + b;
    },
    check(text) {
      if (text === lastText && asked === turns + 1 && added === turns) return;
      throw new Error(
        `${turns} turns were asked for; ${asked} answers and ${added} calls were made, the end: "${text}"`,
      );
    },
  };
}
