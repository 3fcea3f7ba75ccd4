// @ts-check
/** OpenAI Agents: its Runner over a model of its own interface, in memory, tracing off. */
import { Agent, Runner, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { newWork, question, toolDescription } from './work.mjs';

const usage = () => new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 });

/** @param {import('./work.mjs').Answer} answer */
function itemOf({ call, text }) {
  if (call) {
    const { id, input } = call;
    return { type: 'function_call', callId: id, name: 'add', arguments: JSON.stringify(input), status: 'completed' };
  }
  return { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] };
}

/** @returns {Promise<import('./work.mjs').Side>} */
export async function open() {
  let current = newWork(0);
  const model = {
    getResponse: async () => ({ usage: usage(), output: [itemOf(current.next())] }),
    async *getStreamedResponse() {
      throw new Error('The bench does not stream here');
    },
  };
  const add = tool({
    name: 'add',
    description: toolDescription,
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: async (input) => String(current.add(input)),
  });
  const agent = new Agent({ name: 'bench', instructions: '', model, tools: [add] });
  const runner = new Runner({ tracingDisabled: true });
  return {
    async run(work) {
      current = work;
      const { finalOutput } = await runner.run(agent, question, { maxTurns: 100_000 });
      return String(finalOutput);
    },
    close: async () => undefined,
  };
}
