// @ts-check
/** A mutation of promises.json that no longer applies would be found only by the long run; what can be seen without it is checked here. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ id: string, file: string, find: string }} Mutation */

/** @param {string} root @returns {string[]} */
export function checkPromises(root) {
  /** @type {Mutation[]} */
  const mutations = JSON.parse(readFileSync(join(root, 'promises.json'), 'utf8')).mutations;
  return mutations.flatMap((mutation) =>
    findingsOf(root, mutation).map((text) => `promises.json ${mutation.id}: ${text}`),
  );
}

/** @param {string} root @param {Mutation} mutation @returns {string[]} */
function findingsOf(root, { file, find }) {
  if (!existsSync(join(root, file))) return [`there is no ${file}`];
  const times = readFileSync(join(root, file), 'utf8').split(find).length - 1;
  return times === 1 ? [] : [`the text to change stands ${times} times in ${file}; it must stand there once`];
}
