// @ts-check
/** Stint's loop with nothing written down: hooks that do nothing, a registry with the tool `add`. */
import { hookModel } from '@stint/provider-hooks';
import { createRegistry, defineTool } from '@stint/tools';
import { z } from 'zod';
import { question, toolDescription } from '../../../bench/peers/work.mjs';
import { runEngine } from '../dist/index.js';
import { modelOf } from './memory-model.mjs';

/** @typedef {import('../../../bench/peers/work.mjs').Work} Work */

const hooks = {
  prepare: async () => ({ id: crypto.randomUUID() }),
  start: async () => undefined,
  finish: async () => undefined,
  fail: async () => undefined,
};

export const inputSchema = z.object({ a: z.number(), b: z.number() });
export const limits = { maxRepeats: 100_000, maxTurns: 100_000 };

/** The registry of all runs. @param {() => Work} work the one under way */
export const toolsOf = (work) =>
  createRegistry([
    defineTool({
      name: 'add',
      description: toolDescription,
      inputSchema,
      execute: async (/** @type {{ a: number, b: number }} */ input) => work().add(input),
    }),
  ]);

/** The text of the last turn. @param {AsyncIterable<import('../dist/index.js').EngineEvent>} events */
export async function endOf(events) {
  let text = '';
  for await (const event of events) {
    if (event.type !== 'run-end') continue;
    if (event.reason !== 'completed') throw event.error;
    text = event.text;
  }
  return text;
}

/** @type {Work} */
let current;
const tools = toolsOf(() => current);

/** @param {Work} work */
export function runInMemory(work) {
  current = work;
  const model = hookModel(modelOf(work), hooks);
  return endOf(runEngine({ model, prompt: question, tools, stream: false, limits }));
}

/** @returns {Promise<import('../../../bench/peers/work.mjs').Side>} */
export const open = async () => ({ run: runInMemory, close: async () => undefined });
