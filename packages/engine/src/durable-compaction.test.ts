import { freshSqlite } from '@stint/storage/testing';
import { afterAll, expect, test } from 'vitest';
import { durableHooks, prepareStore, runDurable } from './durable-run.test.helper.js';
import { lines, registryOf, scriptedModel } from './scripted-model.test.helper.js';
import type { RunEnd } from './types.js';

const store = freshSqlite();
afterAll(() => store.remove());

test('a run that was compacted, twice, goes on from its journal with the history it had', async () => {
  const db = await store.open();
  await prepareStore(db);
  const owner = { kind: 'run', id: 'compacted' } as const;
  const hooks = durableHooks(db, owner);
  const { model, requests } = scriptedModel(
    (index) =>
      index < 9 ? { text: `thought ${index}`, calls: [{ tool: 'look', input: { index } }] } : { text: 'done' },
    {
      hooks: hooks as never,
    },
  );
  let compactions = 0;
  const options = {
    model,
    tools: registryOf({ look: { readOnly: true, execute: ({ index }) => `seen ${String(index)}` } }),
    contextTokens: 900,
    countTokens: (message: object) => JSON.stringify(message).length,
    // More is kept each time, the summary of the first compaction among it.
    compact: async () => ({ summary: `summary ${(compactions += 1)}`, keep: compactions + 1 }),
    limits: { maxTurns: 6 },
  };

  const paused = (await runDurable(db, owner, options)).at(-1) as RunEnd;
  expect(paused).toMatchObject({ reason: 'paused', error: { code: 'turns_exhausted' } });
  expect(compactions).toBeGreaterThan(1);
  const compactedBefore = compactions;
  const ended = (await runDurable(db, owner, { ...options, contextTokens: 100_000 })).at(-1) as RunEnd;

  expect(ended.reason).toBe('completed');
  expect(compactions).toBe(compactedBefore);
  expect(lines(requests[6]?.prompt ?? [])).toEqual(lines(paused.entries.map((entry) => entry.message)));
});
