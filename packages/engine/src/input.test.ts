import type { HistoryEntry, PromptMessage } from '@stint/provider-hooks';
import { expect, test } from 'vitest';
import { PendingBox } from './pending-box.test.helper.js';
import { finish, httpError, lines, registryOf, scriptedModel } from './scripted-model.test.helper.js';

/** A small generator with a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test('inputs are bound at start, acknowledged at finish, and released by a failure', async () => {
  const box = new PendingBox();
  box.say('first');
  const { model } = scriptedModel((index) => (index === 0 ? { error: httpError(500) } : { text: 'done' }));
  const states: string[] = [];
  const hooked = box.follow(model, () => states.push(box.state));
  await finish({ model: hooked, drainInput: box.drain, closePendingInput: box.close });
  expect(states).toEqual(['bound: i0', 'pending: i0', 'bound: i0', 'done: i0']);
});

test('what the model was told and did not answer is pending again when the run ends', async () => {
  const box = new PendingBox();
  box.say('lost?');
  const { model } = scriptedModel(() => ({ error: httpError(400) }));
  const { end } = await finish({ model: box.follow(model), drainInput: box.drain, closePendingInput: box.close });
  expect(box.state).toBe('pending: i0');
  expect(end.entries.map((entry) => entry.key)).toEqual(['prompt']);
});

test('background results come after what the person said', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'done' }));
  const once =
    (message: string): (() => Promise<{ id: string; message: string }[]>) =>
    async () => [{ id: message, message }];
  await finish({ model, drainBackground: once('build finished'), drainInput: once('hurry') });
  expect(lines(requests[0]?.prompt ?? [])).toEqual(['user: go', 'user: hurry', 'user: build finished']);
});

test('case Y34: an input that is given twice is shown once', async () => {
  const { model, requests } = scriptedModel((index) => (index < 2 ? { calls: [{ tool: 'x' }] } : { text: 'done' }));
  await finish({ model, drainInput: async () => [{ id: 'same', message: 'hello' }] });
  expect(lines(requests.at(-1)?.prompt ?? []).filter((line) => line === 'user: hello')).toHaveLength(1);
});

test('case Y34: an input that is in the journal and was never acknowledged is acknowledged, and not shown again', async () => {
  const box = new PendingBox();
  box.say('hello');
  const message: PromptMessage = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
  const entries: HistoryEntry[] = [{ key: 'input:i0', kind: 'input', message, inputId: 'i0' }];
  const { model, requests } = scriptedModel(() => ({ text: 'done' }));
  const { end } = await finish({
    model: box.follow(model),
    resume: { entries, turnNumber: 1 },
    drainInput: box.drain,
    closePendingInput: box.close,
  });
  expect(end.reason).toBe('completed');
  expect(box.state).toBe('done: i0');
  expect(requests).toHaveLength(1);
  expect(lines(requests[0]?.prompt ?? [])).toEqual(['user: hello']);
});

test('input that arrives when the model stops keeps the run going', async () => {
  const box = new PendingBox();
  const { model, requests } = scriptedModel((index) => {
    if (index === 0) box.say('one more thing');
    return { text: `answer ${index}` };
  });
  const { end } = await finish({ model: box.follow(model), drainInput: box.drain, closePendingInput: box.close });
  expect(requests).toHaveLength(2);
  expect(lines(requests[1]?.prompt ?? []).slice(-2)).toEqual(['assistant: answer 0', 'user: one more thing']);
  expect(end).toMatchObject({ reason: 'completed', text: 'answer 1' });
});

test('a drain that throws ends the run by name, before a request', async () => {
  const { model, requests } = scriptedModel(() => ({ text: 'x' }));
  const { end } = await finish({ model, drainInput: () => Promise.reject(new Error('no store')) });
  expect(end.error?.message).toBe('drainInput failed: no store');
  expect(requests).toEqual([]);
});

test('1 000 seeded runs: each input reaches the model exactly once, in order, never between a call and its result', async () => {
  const firstSeed = Math.floor(Math.random() * 1e9);
  let compactions = 0;
  for (let seed = firstSeed; seed < firstSeed + 1000; seed += 1) {
    compactions += await runWithArrivals(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    });
  }
  expect(compactions).toBeGreaterThan(50);
});

/**
 * A run of a few turns with calls and failures, in which inputs arrive at random moments; every other one in a context so
 * small that its history is cut. Answers how often it was.
 */
async function runWithArrivals(seed: number): Promise<number> {
  const random = randomOf(seed);
  const box = new PendingBox();
  const maybeSay = (): void => {
    while (random() < 0.25 && box.count < 8) box.say(`said ${box.count}`);
  };
  const turns = 1 + Math.floor(random() * 4);
  const isSmall = random() < 0.5;
  let compactions = 0;
  let answered = 0;
  const answeredAt: number[] = [];
  const { model, requests } = scriptedModel(
    (index) => {
      maybeSay();
      if (random() < 0.2) return { error: httpError(random() < 0.5 ? 500 : 429) };
      if (random() < 0.1) return { text: 'half ', error: new Error('socket'), afterText: true };
      answered += 1;
      answeredAt.push(index);
      return answered < turns
        ? {
            calls: Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
              tool: random() < 0.5 ? 'read' : 'write',
              input: { r: random() },
            })),
          }
        : { text: 'done' };
    },
    { name: `${seed}-` },
  );
  const busy = async (): Promise<string> => {
    maybeSay();
    await Promise.resolve();
    maybeSay();
    return String(random()).repeat(isSmall ? 30 : 1);
  };
  const tools = registryOf({
    read: { readOnly: true, concurrencySafe: true, execute: busy },
    write: { execute: busy },
  });
  const { end } = await finish({
    model: box.follow(model, maybeSay),
    tools,
    drainInput: box.drain,
    closePendingInput: box.close,
    retry: { maxTries: 20, baseDelayMs: 0, maxDelayMs: 0 },
    ports: { sleep: async () => maybeSay(), random },
    ...(isSmall && { contextTokens: 900 }),
    compact: async () => {
      maybeSay();
      compactions += 1;
      return { summary: 'what was before', keep: compactions % 2 === 0 ? 0 : Math.floor(random() * 4) };
    },
  });
  expect(end).toMatchObject({ reason: 'completed' });
  const said = Array.from({ length: box.count }, (_, index) => `user: said ${index}`);
  const prompts = requests.map(({ prompt }) => lines(prompt));
  // Each in the prompt of an answered request; in order, and never twice in one.
  expect(new Set(answeredAt.flatMap((index) => saidIn(prompts[index] ?? [])))).toEqual(new Set(['user: go', ...said]));
  for (const prompt of prompts)
    expect(saidIn(prompt)).toEqual(['user: go', ...said].filter((line) => prompt.includes(line)));
  if (compactions === 0)
    expect(saidIn(lines(end.entries.map((entry) => entry.message)))).toEqual(['user: go', ...said]);
  expect(box.undone).toEqual([]);
  for (const prompt of prompts) expectWholeBatches(prompt);
  return compactions;
}

function saidIn(prompt: readonly string[]): readonly string[] {
  return prompt.filter((line) => line === 'user: go' || line.startsWith('user: said'));
}

/** In a prompt, the line after a call is a call or a result until all results are there. */
function expectWholeBatches(prompt: readonly string[]): void {
  let open = 0;
  for (const line of prompt) {
    if (line.startsWith('call:')) open += 1;
    else if (line.startsWith('result:')) open -= 1;
    else expect(open).toBe(0);
  }
  expect(open).toBe(0);
}
