import { listTurns, type TurnOwner } from '@stint/journal';
import { readRequest } from '@stint/ledger';
import { hookModel, type LanguageModelLike } from '@stint/provider-hooks';
import { anthropic } from '@stint/provider-hooks/anthropic';
import { openai } from '@stint/provider-hooks/openai';
import { lastResult, startSimulator } from '@stint/simulator';
import { freshSqlite } from '@stint/storage/testing';
import { expect, test } from 'vitest';
import { durableHooks, prepareStore, runDurable } from './durable-run.test.helper.js';
import { registryOf } from './scripted-model.test.helper.js';
import type { RunEnd } from './types.js';

/**
 * `openai:<model>` or `anthropic:<model>`, with the provider's key in its usual variable: then a real provider is asked, and
 * paid. Without it the same run asks a server in this process.
 */
const wanted = process.env['STINT_TEST_MODEL'] ?? '';
const word = Math.random().toString(36).slice(2, 10);

async function modelOf(use: (bare: LanguageModelLike) => Promise<void>): Promise<void> {
  const [provider, ...name] = wanted.split(':');
  if (provider === 'openai') return use(openai()(name.join(':')));
  if (provider === 'anthropic') return use(anthropic()(name.join(':')));
  await using simulator = await startSimulator({
    scenario: (request) => {
      const told = lastResult(request, 'password');
      return told === null ? { toolCalls: [{ name: 'password', input: {} }] } : { text: `It is ${told}.` };
    },
  });
  await use(openai({ baseURL: simulator.url, apiKey: 'made-up' })('m'));
}

test('a provider (a real one, if STINT_TEST_MODEL names it) is asked, calls a tool, answers, and is booked', async () => {
  const store = freshSqlite();
  const db = await store.open();
  const owner: TurnOwner = { kind: 'run', id: 'real' };
  try {
    await prepareStore(db);
    await modelOf(async (bare) => {
      const events = await runDurable(db, owner, {
        model: hookModel(bare, durableHooks(db, owner)),
        tools: registryOf({ password: { description: 'Tells the password', readOnly: true, execute: () => word } }),
        prompt: 'Call the tool `password` once. Then answer with what it told, and nothing else.',
        settings: { maxOutputTokens: 2_000 },
      });
      const end = events.at(-1) as RunEnd;
      expect(end, end.error?.message).toMatchObject({ reason: 'completed', unmeasuredTurns: 0 });
      expect(end.text).toContain(word);
      expect(end.usage.inputTokens + end.usage.cacheReadTokens).toBeGreaterThan(0);
    });
    const turns = await db.read((ctx) => listTurns(ctx, owner));
    expect(turns.map((turn) => turn.status)).toEqual(['responded', 'responded']);
    for (const { id, usage } of turns) {
      const request = await db.read(() => readRequest(id));
      expect(request).toMatchObject({ status: 'reported', chargedTokens: usage?.totalTokens });
    }
  } finally {
    await store.remove();
  }
}, 120_000);
