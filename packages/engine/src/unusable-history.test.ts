import { hookModel, type HookedModel } from '@stint/provider-hooks';
import { anthropic } from '@stint/provider-hooks/anthropic';
import { openai } from '@stint/provider-hooks/openai';
import { openaiCompatible } from '@stint/provider-hooks/openai-compatible';
import { type Answer, type Simulator, startSimulator } from '@stint/simulator';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { finish, registryOf } from './scripted-model.test.helper.js';

/** What the model says to each request, in order; the simulator refuses what a provider refuses. */
let answers: Answer[] = [];
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ scenario: () => answers.shift() ?? { text: 'done' } });
});
afterAll(() => simulator.close());
beforeEach(() => {
  answers = [];
});

const models: Readonly<Record<string, () => HookedModel>> = {
  anthropic: () => hooked(anthropic({ baseURL: simulator.url, apiKey: 'made-up' })('m')),
  responses: () => hooked(openai({ baseURL: simulator.url, apiKey: 'made-up' })('m')),
  chat: () => hooked(openaiCompatible({ name: 'sim', baseURL: simulator.url, apiKey: 'made-up' }).chatModel('m')),
};

function hooked(bare: Parameters<typeof hookModel>[0]): HookedModel {
  let count = 0;
  return hookModel(bare, {
    prepare: async () => ({ id: `${Math.random()}-${(count += 1)}` }),
    start: async () => undefined,
    finish: async () => undefined,
    fail: async () => undefined,
  });
}

/** Runs to the end, then says something more to the history that came of it. */
async function sayMore(model: HookedModel, options: Partial<Parameters<typeof finish>[0]> = {}): Promise<string> {
  const first = await finish({ model, ...options });
  expect(first.end.error?.message).toBeUndefined();
  const second = await finish({ model, entries: first.end.entries, prompt: 'and now?' });
  return `${first.end.reason} ${second.end.reason} ${second.end.error?.message ?? ''}`.trim();
}

describe.each(Object.keys(models))('case E01: with %s', (name) => {
  const model = (): HookedModel => (models[name] as () => HookedModel)();

  test.each([{}, { text: ' \n ' }, { reasoning: 'only thoughts' }] as Answer[])(
    'an answer that says nothing (%j) does not make the history unusable',
    async (answer) => {
      answers = [answer];
      expect(await sayMore(model())).toBe('completed completed');
    },
  );

  test.each(['multi_tool_use.parallel', 'lo.ok', 'x'.repeat(80)])(
    'neither does a call of %s, which no tool can be named',
    async (tool) => {
      answers = [{ toolCalls: [{ name: tool, input: {} }] }, { text: 'sorry' }];
      let ran = 0;
      const tools = registryOf({ lo_ok: { execute: () => (ran += 1) } });
      expect(await sayMore(model(), { tools })).toBe('completed completed');
      expect(ran).toBe(0);
    },
  );

  test.each(['"text"', '[1]', '7'])('neither do arguments that are no object (%s), and nothing runs', async (input) => {
    answers = [{ toolCalls: [{ name: 'look', input }] }, { text: 'sorry' }];
    let ran = 0;
    expect(await sayMore(model(), { tools: registryOf({ look: { execute: () => (ran += 1) } }) })).toBe(
      'completed completed',
    );
    expect(ran).toBe(0);
  });

  test('arguments of null are none: the call runs', async () => {
    answers = [{ toolCalls: [{ name: 'look', input: 'null' }] }, { text: 'done' }];
    const given: unknown[] = [];
    await sayMore(model(), { tools: registryOf({ look: { execute: (input) => given.push(input) } }) });
    expect(given).toEqual([{}]);
  });

  test('neither do thoughts that the output limit cut before a word was said', async () => {
    answers = [{ reasoning: 'so many thoughts', finishReason: 'length' }, { text: 'at last' }];
    expect(await sayMore(model())).toBe('completed completed');
    answers = [{ reasoning: 'hm', text: 'said', toolCalls: [{ name: 'look', input: {} }] }, { text: 'done' }];
    expect(await sayMore(model(), { tools: registryOf({ look: { execute: () => 'seen' } }) })).toBe(
      'completed completed',
    );
  });

  test('neither does half a character, from a person, a tool, a call, a summary or the model', async () => {
    const half = '\uD83D';
    answers = [
      { text: `see ${half}`, toolCalls: [{ name: 'look', input: { at: `x${half}`, [`k${half}`]: [half] } }] },
      { text: `end ${half}` },
    ];
    const tools = registryOf({ look: { execute: () => `seen ${half}` } });
    let asked = 0;
    const options = {
      tools,
      prompt: `go ${half}`,
      system: `be ${half}`,
      budgetText: () => `left ${half}`,
      drainInput: async () => ((asked += 1) === 2 ? [{ id: 'i', message: `and ${half} \u{1F600}` }] : []),
    };
    expect(await sayMore(model(), options)).toBe('completed completed');
    expect(simulator.requests().at(-1)?.status).toBe(200);
  });

  test('neither do blanks before a broken stream, an empty budget text or an empty input', async () => {
    answers = [{ text: '   \n\n       ', pieceCharacters: 2, fault: 'stream_cut' }, { text: 'whole' }];
    expect(await sayMore(model())).toBe('completed completed');
    expect(await sayMore(model(), { budgetText: () => ' ' })).toBe('completed completed');
    let asked = 0;
    const empty = { id: 'empty', message: '' };
    expect(await sayMore(model(), { drainInput: async () => ((asked += 1) === 1 ? [empty] : []) })).toBe(
      'completed completed',
    );
  });
});
