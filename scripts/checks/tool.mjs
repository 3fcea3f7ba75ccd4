// @ts-check
/** Runs what a check needs as a process of its own; what it printed is the finding. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * A tool of the workspace's node_modules/.bin.
 * @param {string} root @param {string} command @param {string[]} parameters @param {string} [cwd]
 * @returns {Promise<string[]>} empty when it left with 0
 */
export function tool(root, command, parameters, cwd = root) {
  return findingsOf(join(root, 'node_modules/.bin', command), parameters, cwd);
}

/** @param {string} root @param {string} path of a script, from root @param {string[]} parameters */
export function script(root, path, ...parameters) {
  return findingsOf(process.execPath, [path, ...parameters], root);
}

/** @param {string} command @param {string[]} parameters @param {string} cwd @returns {Promise<string[]>} */
function findingsOf(command, parameters, cwd) {
  return new Promise((done) => {
    const child = spawn(command, parameters, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1' },
    });
    let printed = '';
    const keep = (/** @type {string} */ text) => (printed += text);
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.once('error', (error) => done([`${command} did not start: ${error.message}`]));
    child.once('close', (code, signal) =>
      done(code === 0 ? [] : [printed.trim() || `${command} left with ${signal ?? code} and said nothing`]),
    );
  });
}

/**
 * Maps with at most `width` at a time, answers in the order of the items.
 * @template T, R @param {readonly T[]} items @param {number} width @param {(item: T) => Promise<R>} work @returns {Promise<R[]>}
 */
export async function mapParallel(items, width, work) {
  /** @type {R[]} */
  const results = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
