import { expect, test } from 'vitest';
import { finish, lines, registryOf, scriptedModel, type Finished } from './scripted-model.test.helper.js';
import type { EngineOptions, EngineTools } from './types.js';

/** A run whose first answer makes these calls; effects as they are stored. */
async function calling(
  calls: readonly string[],
  options: Partial<EngineOptions>,
): Promise<Finished & { readonly effects: readonly string[]; readonly results: readonly string[] }> {
  const effects: string[] = [];
  const { model } = scriptedModel((index) =>
    index === 0 ? { calls: calls.map((tool) => ({ tool })) } : { text: 'x' },
  );
  const finished = await finish({
    model,
    operationStart: async ({ callIndex }) => void effects.push(`begins ${callIndex}`),
    operationEnd: async ({ callIndex }, { effect }) => void effects.push(`${callIndex} ${effect}`),
    ...options,
  });
  const results = lines(finished.end.entries.map((entry) => entry.message)).filter((line) =>
    line.startsWith('result:'),
  );
  return { ...finished, effects, results };
}

/** A registry whose calls do what `run` does, beside what a registry promises. */
function broken(tools: EngineTools, run: () => Promise<never>): EngineTools {
  return {
    definitions: () => tools.definitions(),
    async prepare(name, input) {
      const prepared = await tools.prepare(name, input);
      return 'call' in prepared ? { call: { ...prepared.call, run } } : prepared;
    },
  };
}

const startsAndEnds = (types: readonly string[]): number[] =>
  ['tool-call-start', 'tool-call-end'].map((type) => types.filter((each) => each === type).length);

test('a context that cannot be made lets no call begin, and each call has its result', async () => {
  let ran = 0;
  const tools = registryOf({ write: { execute: () => (ran += 1) } });
  const toolContext = (): never => {
    throw new Error('no workspace');
  };
  const { end, effects, results, types } = await calling(['write', 'write'], { tools, toolContext });
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed' } });
  expect(end.error?.message).toBe('toolContext failed: no workspace');
  expect({ ran, effects }).toEqual({ ran: 0, effects: [] });
  expect(results.map((line) => line.slice(0, 16))).toEqual(['result: Not run:', 'result: Not run:']);
  expect(startsAndEnds(types)).toEqual([2, 2]);
});

test('nothing is left running after the end of the run when a neighbour throws', async () => {
  let running = 0;
  const parallel = { readOnly: true, concurrencySafe: true };
  const slow = async (): Promise<string> => {
    running += 1;
    await new Promise((resolve) => setTimeout(resolve, 30));
    running -= 1;
    return 'seen';
  };
  const tools = registryOf({ slow: { ...parallel, execute: slow }, other: { ...parallel, execute: () => 'x' } });
  const toolContext = ({ tool }: { readonly tool: string }): object => {
    if (tool === 'other') throw new Error('no workspace');
    return {};
  };
  const { end, results, types } = await calling(['slow', 'other', 'slow'], { tools, toolContext });
  expect(running).toBe(0);
  expect(end).toMatchObject({ reason: 'failed', error: { code: 'hook_failed' } });
  expect(results).toEqual(['result: seen', expect.stringMatching(/Not run/), 'result: seen']);
  expect(startsAndEnds(types)).toEqual([3, 3]);
});

test('a call that rejects, which no registry lets it, is of unknown effect, and the run ends by its name', async () => {
  const run = (): Promise<never> => Promise.reject(new Error('a bug'));
  const tools = broken(registryOf({ write: { execute: () => 'x' } }), run);
  const { end, effects, results, types } = await calling(['write', 'write'], { tools });
  expect(end.error?.message).toBe('The run of a tool call failed: a bug');
  expect(effects).toEqual(['begins 0', '0 unknown']);
  expect(results).toEqual(['result: The call broke off; its outcome is unknown.', expect.stringMatching(/Not run/)]);
  expect(startsAndEnds(types)).toEqual([2, 2]);
});

test('tools that cannot be looked up end the run with a result for each call', async () => {
  const tools: EngineTools = { definitions: () => [], prepare: () => Promise.reject(new Error('gone')) };
  const { end, effects, types } = await calling(['write', 'write'], { tools });
  expect(end.error?.message).toBe('tools.prepare failed: gone');
  expect(effects).toEqual([]);
  expect(startsAndEnds(types)).toEqual([2, 2]);
});

test('arguments that are parsed into what has no JSON do not stop the run', async () => {
  const whole = registryOf({ count: { execute: () => 'counted' } });
  const tools: EngineTools = {
    definitions: () => whole.definitions(),
    async prepare(name, input) {
      const prepared = await whole.prepare(name, input);
      return 'call' in prepared ? { call: { ...prepared.call, input: { count: 10n } } } : prepared;
    },
  };
  const { end, effects } = await calling(['count'], { tools });
  expect(end.reason).toBe('completed');
  expect(effects).toEqual(['begins 0', '0 applied']);
});
