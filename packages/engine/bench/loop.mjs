// @ts-check
/** The loop in memory: beside generateText, and whether a turn of a long run costs more than one of a short. */
import { generateText, stepCountIs, tool } from 'ai';
import { newWork, question, toolDescription } from '../../../bench/peers/work.mjs';
import { judged, microseconds, sideBySide } from './measure.mjs';
import { modelOf } from './memory-model.mjs';
import { inputSchema, runInMemory } from './memory-run.mjs';

let current = newWork(0);
const tools = {
  add: tool({ description: toolDescription, inputSchema, execute: async (input) => current.add(input) }),
};

/** @param {import('../../../bench/peers/work.mjs').Work} work */
async function runGenerateText(work) {
  current = work;
  const { text } = await generateText({
    model: modelOf(work),
    prompt: question,
    tools,
    stopWhen: stepCountIs(100_000),
    maxRetries: 0,
  });
  return text;
}

/** Microseconds of a turn. @param {(work: import('../../../bench/peers/work.mjs').Work) => Promise<string>} run @param {number} turns @param {number} times */
const turnsOf = (run, turns, times) => async () => {
  const us = await microseconds(async () => {
    for (let time = 0; time < times; time += 1) {
      const work = newWork(turns);
      work.check(await run(work));
    }
  });
  return us / (turns * times);
};

/** @param {number} rounds */
export async function loopRows(rounds) {
  // The rows are about the cost of a loop, not of compiling it: both sides are run until they are compiled.
  for (const run of [runInMemory, runGenerateText]) await turnsOf(run, 10, 600)();
  const ten = await sideBySide(rounds, turnsOf(runInMemory, 10, 40), turnsOf(runGenerateText, 10, 40));
  const flat = await sideBySide(rounds, turnsOf(runInMemory, 200, 4), turnsOf(runInMemory, 10, 40));
  const peer = await sideBySide(rounds, turnsOf(runInMemory, 200, 4), turnsOf(runGenerateText, 200, 2));
  return [
    judged('turn in memory, 10 turns, against generateText', 'us', ten, '<= 0.4'),
    judged('turn in memory, 200 turns, against 10 turns', 'us', flat, '<= 1.2'),
    judged('turn in memory, 200 turns, against generateText', 'us', peer, '<= 0.4'),
  ];
}
