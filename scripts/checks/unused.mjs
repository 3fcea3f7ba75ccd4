// @ts-check
/** Nothing lies around: files, exports and dependencies that nobody uses (knip, set up in knip.json). */
import { tool } from './tool.mjs';

/** @param {string} root @returns {Promise<string[]>} findings */
export function checkUnused(root) {
  return tool(root, 'knip', ['--no-progress', '--no-config-hints']);
}
