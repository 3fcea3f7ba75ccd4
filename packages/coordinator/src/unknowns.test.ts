import { once } from 'node:events';
import { defaultScenario, type Scenario } from '@stint/simulator';
import { defineTool } from '@stint/tools';
import { expect, it } from 'vitest';
import { unknownsOfRun } from './unknowns.js';
import { openBench, summary } from './work-bench.test.helper.js';

const deploy = defineTool({
  name: 'deploy',
  description: 'Breaks, or never ends by itself.',
  inputSchema: { type: 'object', properties: { hangs: { type: 'boolean' }, to: { type: 'string' } } },
  timeoutMs: 30,
  execute: async (input, { signal }) => {
    if (JSON.stringify(input).includes('"hangs":true')) return await once(signal, 'abort');
    throw new Error('The connection broke.');
  },
});

/** One call that breaks; then, in one answer, one that breaks and one that hangs. */
const deploying: Scenario = (request) => {
  if (request.messages[1]?.text.includes('Workspace: shared') !== true) return defaultScenario(request);
  const results = request.messages.filter((message) => message.role === 'tool' && message.toolName === 'deploy');
  const call = (to: string, hangs: boolean) => ({ name: 'deploy', input: { to, hangs } });
  if (results.length === 0) return { toolCalls: [call('a', false)] };
  return results.length === 1 ? { toolCalls: [call('b', false), call('c', true)] } : defaultScenario(request);
};

it('after a time-out a person is asked about each operation of the last calls, and about no earlier one', async () => {
  await using bench = await openBench({ scenario: deploying });
  const itemId = await bench.item();
  bench.coordinator({ tools: () => [deploy] }).start();
  const stopped = await bench.until(itemId, ({ item }) => item.status === 'needs_attention');
  const [action] = stopped.actions.filter(({ status }) => status === 'waiting');
  const run = stopped.runs.find(({ status }) => status === 'outcome_unknown');
  if (run === undefined || action === undefined) throw new Error(JSON.stringify(summary(stopped)));
  const asked = (await bench.db.read((ctx) => unknownsOfRun(ctx, run))).map(({ id }) => id);
  expect(asked.map((id) => id.split('/')[1])).toEqual(['0', '1']);

  const resolved: string[] = [];
  for (let { item } = stopped; item.attention?.code === 'unknown_operation'; { item } = await bench.records(itemId)) {
    const operationId = item.attention.ref ?? '';
    resolved.push(operationId);
    await bench.commands.resolveOperation({ operationId, effect: 'no_effect' });
  }
  expect(resolved).toEqual(asked);
  expect(await bench.db.read((ctx) => unknownsOfRun(ctx, run))).toEqual([]);
  await bench.until(itemId, ({ item }) => item.status === 'done');
});
