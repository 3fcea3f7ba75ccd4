import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientModel, clientNames, hear } from './clients.test.support.js';
import type { Answer, ScenarioRequest } from './scenario.js';
import { type Simulator, startSimulator } from './server.js';

const answers: Readonly<Record<string, Answer>> = {
  words: { text: 'Rain, “heavy” 🌧 and wind.', pieceCharacters: 3 },
  calls: {
    text: 'I look again.',
    toolCalls: [
      { name: 'weather', input: { city: 'Łódź 🌧' } },
      { name: 'weather', input: { city: 'Oslo' } },
    ],
  },
  thought: { reasoning: 'It rained yesterday.', text: 'Rain.', pieceCharacters: 4 },
  length: { text: 'Rai', finishReason: 'length' },
};

let simulator: Simulator;
let asked: ScenarioRequest | undefined;
beforeAll(async () => {
  simulator = await startSimulator({
    scenario: (request) => {
      asked = request;
      return answers[request.model] ?? {};
    },
  });
});
afterAll(() => simulator.close());

describe.each(clientNames)('the client %s', (client) => {
  describe.each([true, false])('with streaming %s', (stream) => {
    test('hears text, and exactly the usage that the log has', async () => {
      const heard = await hear(clientModel(client, simulator.url, 'words'), stream);
      const served = simulator.requests().at(-1);
      expect(heard).toMatchObject({ text: answers['words']?.text, finishReason: 'stop', errors: 0, calls: [] });
      expect([heard.input, heard.output]).toEqual([served?.inputTokens, served?.outputTokens]);
      expect(served).toMatchObject({
        turnId: 'turn-1',
        model: 'words',
        stream,
        status: 200,
        complete: true,
        fault: null,
      });
      expect(served?.reportedUsage).toMatchObject({
        inputTokens: served?.inputTokens,
        outputTokens: served?.outputTokens,
      });
    });

    test('hears tool calls with their whole arguments', async () => {
      const heard = await hear(clientModel(client, simulator.url, 'calls'), stream);
      expect(heard).toMatchObject({ text: 'I look again.', finishReason: 'tool-calls', errors: 0 });
      expect(heard.calls.map(({ toolName, input }) => [toolName, JSON.parse(input)])).toEqual([
        ['weather', { city: 'Łódź 🌧' }],
        ['weather', { city: 'Oslo' }],
      ]);
    });

    test('hears that the output limit was reached', async () => {
      expect(await hear(clientModel(client, simulator.url, 'length'), stream)).toMatchObject({
        finishReason: 'length',
      });
    });

    test('shows the scenario the same conversation as every other client', async () => {
      await hear(clientModel(client, simulator.url, 'words'), stream);
      expect(asked).toMatchObject({ model: 'words', variants: ['words'], stream, maxOutputTokens: 300 });
      expect(asked?.tools).toMatchObject([
        { name: 'weather', description: 'Tells the weather.', inputSchema: { required: ['city'] } },
      ]);
      expect(asked?.messages).toEqual([
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'What is the wheather in Łódź?' },
        {
          role: 'assistant',
          text: 'I look.',
          toolCalls: [{ id: 'c1', name: 'weather', input: { city: 'Łódź' }, inputText: '{"city":"Łódź"}' }],
        },
        { role: 'tool', toolCallId: 'c1', toolName: 'weather', text: '7 degrees' },
        { role: 'user', text: 'And tomorrow?' },
      ]);
    });
  });
});

test.each(clientNames.filter((client) => client !== 'openai chat'))(
  '%s hears reasoning, streamed or not',
  async (client) => {
    for (const stream of [true, false]) {
      const heard = await hear(clientModel(client, simulator.url, 'thought'), stream);
      expect(heard).toMatchObject({ reasoning: 'It rained yesterday.', text: 'Rain.' });
    }
  },
);

test('the model list names the variants', async () => {
  const list = (await (await fetch(`${simulator.url}/models`)).json()) as { data: { id: string }[] };
  expect(list.data.map(({ id }) => id)).toContain('default');
});

test('an unknown path, a body that is no JSON and a scenario that throws are told apart by their status', async () => {
  const post = (path: string, body: string, to = simulator) => fetch(to.url + path, { method: 'POST', body });
  expect((await post('/nothing', '{}')).status).toBe(404);
  expect((await post('/chat/completions', 'not json')).status).toBe(400);
  await using throwing = await startSimulator({
    scenario: () => {
      throw new RangeError('out of ideas');
    },
  });
  const failed = await post('/chat/completions', '{"model":"m","messages":[]}', throwing);
  expect(failed.status).toBe(500);
  expect(await failed.text()).toContain('out of ideas');
  expect(throwing.requests()).toMatchObject([{ status: 500, complete: false, error: 'out of ideas' }]);
});
