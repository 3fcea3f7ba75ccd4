// @ts-check
import { hookModel } from '@stint/provider-hooks';
import { createRegistry, defineTool } from '@stint/tools';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';
import { runEngine } from '../dist/index.js';
import { microseconds, sideBySide } from './measure.mjs';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** A model in memory that calls a tool `turns` times and then answers. @param {number} turns */
function modelOf(turns) {
  let asked = 0;
  const doGenerate = async () => {
    asked += 1;
    const content =
      asked <= turns
        ? [{ type: 'tool-call', toolCallId: `c${asked}`, toolName: 'add', input: `{"a":${asked},"b":1}` }]
        : [{ type: 'text', text: 'done' }];
    const unified = asked <= turns ? 'tool-calls' : 'stop';
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
  };
  return {
    specificationVersion: 'v3',
    provider: 'memory',
    modelId: 'm',
    supportedUrls: {},
    doGenerate,
    doStream: doGenerate,
  };
}

const inputSchema = z.object({ a: z.number(), b: z.number() });
const hooks = {
  prepare: async () => ({ id: crypto.randomUUID() }),
  start: async () => undefined,
  finish: async () => undefined,
  fail: async () => undefined,
};
const tools = createRegistry([
  defineTool({
    name: 'add',
    description: 'Adds',
    inputSchema,
    execute: async (/** @type {{ a: number, b: number }} */ { a, b }) => a + b,
  }),
]);
const aiTools = { add: tool({ description: 'Adds', inputSchema, execute: async ({ a, b }) => a + b }) };

/** @param {number} turns */
async function ourTurn(turns) {
  const model = hookModel(/** @type {never} */ (modelOf(turns)), hooks);
  const us = await microseconds(async () => {
    for await (const event of runEngine({
      model,
      prompt: 'go',
      tools,
      stream: false,
      limits: { maxRepeats: 10_000 },
    })) {
      if (event.type === 'run-end' && event.reason !== 'completed') throw event.error;
    }
  });
  return us / turns;
}

/** @param {number} turns */
async function theirTurn(turns) {
  const model = /** @type {never} */ (modelOf(turns));
  const us = await microseconds(() =>
    generateText({ model, prompt: 'go', tools: aiTools, stopWhen: stepCountIs(turns + 1), maxRetries: 0 }),
  );
  return us / turns;
}

/** @param {number} times @param {() => Promise<number>} one */
async function average(times, one) {
  let sum = 0;
  for (let time = 0; time < times; time += 1) sum += await one();
  return sum / times;
}

/** @param {number} rounds */
export async function loopRows(rounds) {
  const ten = await sideBySide(
    rounds,
    () => average(40, () => ourTurn(10)),
    () => average(40, () => theirTurn(10)),
  );
  const flat = await sideBySide(
    rounds,
    () => average(4, () => ourTurn(200)),
    () => average(40, () => ourTurn(10)),
  );
  const peer = await sideBySide(
    rounds,
    () => average(4, () => ourTurn(200)),
    () => average(2, () => theirTurn(200)),
  );
  return [
    {
      name: 'turn in memory, 10 turns, against generateText',
      unit: 'us',
      ...ten,
      ratio: ten.value / ten.baseline,
      target: '<= 0.4',
      met: ten.value <= 0.4 * ten.baseline,
    },
    {
      name: 'turn in memory, 200 turns, against 10 turns',
      unit: 'us',
      ...flat,
      ratio: flat.value / flat.baseline,
      target: '<= 1.2',
      met: flat.value <= 1.2 * flat.baseline,
    },
    {
      name: 'turn in memory, 200 turns, against generateText',
      unit: 'us',
      ...peer,
      ratio: peer.value / peer.baseline,
      target: '<= 0.4',
      met: peer.value <= 0.4 * peer.baseline,
    },
  ];
}
