import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coordinate, runAction, type WireMessage } from './mini-agent.test.support.js';
import { openBench, type ScenarioBench } from './scenario-bench.test.support.js';
import { defaultScenario } from './scenarios/default.js';
import type { Message, ScenarioRequest } from './scenario.js';

let bench: ScenarioBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

const answer = { id: 'deliver', kind: 'deliver', workspaceMode: 'read', dependencies: [], objective: 'Answer.' };

function request(model: string, user: string, more: readonly Message[] = []): ScenarioRequest {
  const system = 'You execute one Action of a Stint work item.\nGo on.';
  return {
    model,
    variants: model.split('+'),
    protocol: 'openai-chat',
    stream: true,
    messages: [{ role: 'system', text: system }, { role: 'user', text: user }, ...more],
    tools: ['submit_outcome', 'ask_human'].map((name) => ({ name, description: name, inputSchema: {} })),
    maxOutputTokens: 500,
  };
}

const prompt =
  '# Action deliver\nKind: deliver\nWorkspace: none\n## Goal\nName a river.\n## Acceptance criteria\n- [c1] a river\n## Delivery target\nresponse\n';

describe('the variant asks', () => {
  test('asks before it changes anything, and goes on when its question is in the history', () => {
    const first = defaultScenario(request('asks', prompt));
    expect(first.toolCalls).toMatchObject([{ name: 'ask_human', input: { question: expect.stringMatching(/\?$/) } }]);
    const toolCalls = [{ id: 'q', name: 'ask_human', input: {}, inputText: '{}' }];
    const asked: Message[] = [
      { role: 'assistant', text: '', toolCalls },
      { role: 'tool', toolCallId: 'q', toolName: 'ask_human', text: 'yes' },
    ];
    expect(defaultScenario(request('asks', prompt, asked)).toolCalls).toMatchObject([{ name: 'submit_outcome' }]);
  });

  test('goes on as well when the answer came as a message, in a history without the question', () => {
    expect(defaultScenario(request('asks', prompt, [{ role: 'user', text: 'Yes, go on.' }])).toolCalls).toMatchObject([
      { name: 'submit_outcome' },
    ]);
  });
});

describe('the variant greedy', () => {
  test('reports more than the output limit at the first turn of an Action that changes something, and only there', () => {
    expect(defaultScenario(request('greedy', prompt)).usage?.outputTokens).toBeGreaterThan(500);
    const later: Message[] = [{ role: 'assistant', text: 'hm', toolCalls: [] }];
    expect(defaultScenario(request('greedy', prompt, later)).usage).toBeUndefined();
    expect(defaultScenario(request('default', prompt)).usage).toBeUndefined();
  });

  test('is booked as reported', async () => {
    await runAction(bench.itemFor(null, { model: 'greedy' }), answer, []);
    expect(bench.simulator.requests().at(-1)?.reportedUsage?.outputTokens).toBeGreaterThan(16_384);
  });
});

describe('the variant slow', () => {
  test('streams the same answer, held back for long enough to be watched', () => {
    const { firstPieceDelayMs, pieceDelayMs, pieceCharacters, ...slow } = defaultScenario(request('slow', prompt));
    expect(slow).toEqual(defaultScenario(request('default', prompt)));
    expect(firstPieceDelayMs).toBe(300);
    expect(pieceDelayMs).toBe(150);
    expect(pieceCharacters).toBeGreaterThan(4);
  });
});

test('variants go together: slow+parallel plans side by side, slowly', async () => {
  const started = performance.now();
  const decision = JSON.parse(
    await coordinate(bench.itemFor('/tmp', { model: 'simulated:slow+parallel' }), { kind: 'started' }, []),
  ) as { mutations: WireMessage[] };
  expect(decision.mutations).toHaveLength(4);
  expect(performance.now() - started).toBeGreaterThan(250);
});
