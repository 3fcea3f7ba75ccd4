import { readHistory } from '@stint/journal';
import { freshSqlite } from '@stint/storage/testing';
import { afterAll, expect, test } from 'vitest';
import { durableHooks, prepareStore, runDurable } from './durable-run.test.helper.js';
import { httpError, lines, registryOf, scriptedModel } from './scripted-model.test.helper.js';
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

test('a run that was aborted after a compaction and compacts again in the same turn has the history that it was sent', async () => {
  const db = await store.open();
  await prepareStore(db);
  const owner = { kind: 'run', id: 'compacted-twice-in-a-turn' } as const;
  const { model, requests } = scriptedModel(
    (index) => (index === 0 ? { calls: [{ tool: 'look' }] } : { text: 'done' }),
    { hooks: durableHooks(db, owner) as never },
  );
  let compactions = 0;
  let starts = 0;
  const controller = new AbortController();
  const options = {
    model,
    tools: registryOf({ look: { readOnly: true, execute: () => 'z'.repeat(3_300) } }),
    contextTokens: 1_000,
    compact: async () => ({
      summary: `summary ${(compactions += 1)}${compactions === 1 ? 'w'.repeat(1_200) : ''}`,
      keep: 0,
    }),
  };
  const gate = (point: string): void => {
    // The second turn has begun, was compacted, and is not sent.
    if (point === 'turn:begun' && (starts += 1) === 2) controller.abort();
  };
  const aborted = (await runDurable(db, owner, { ...options, gate, signal: controller.signal })).at(-1) as RunEnd;
  expect(aborted.reason).toBe('aborted');
  let said = 0;
  const drainInput = async () => ((said += 1) === 1 ? [{ id: 'i', message: 'y'.repeat(1_800) }] : []);
  const ended = (await runDurable(db, owner, { ...options, drainInput })).at(-1) as RunEnd;
  expect(ended.reason).toBe('completed');
  expect(compactions).toBe(2);
  const stored = await db.read((ctx) => readHistory(ctx, owner));
  expect(lines(stored.map(({ message }) => message))).toEqual(lines(ended.entries.map(({ message }) => message)));
  expect(lines(requests.at(-1)?.prompt ?? [])[0]).toBe('user: summary 2');
});

test('an input that a failed request carried beside a compaction stands once in the journal, and nothing stands beside it', async () => {
  const db = await store.open();
  await prepareStore(db);
  const owner = { kind: 'run', id: 'typed-and-compacted' } as const;
  const { model, requests } = scriptedModel(
    (index) =>
      index === 0 ? { calls: [{ tool: 'look' }] } : index === 1 ? { error: httpError(500) } : { text: 'done' },
    { hooks: durableHooks(db, owner) as never },
  );
  let drains = 0;
  const events = await runDurable(db, owner, {
    model,
    tools: registryOf({ look: { readOnly: true, execute: () => 'z'.repeat(3_300) } }),
    contextTokens: 1_000,
    compact: async () => ({ summary: 'what was before', keep: 0 }),
    retry: { baseDelayMs: 0, maxDelayMs: 0 },
    drainInput: async () => ((drains += 1) === 2 ? [{ id: 'typed', message: 'in French' }] : []),
  });
  const ended = events.at(-1) as RunEnd;
  expect(ended.reason).toBe('completed');
  expect(lines(requests.at(-1)?.prompt ?? [])).toEqual(['user: what was before', 'user: in French']);
  const stored = await db.read((ctx) => readHistory(ctx, owner));
  expect(lines(stored.map(({ message }) => message))).toEqual(lines(ended.entries.map(({ message }) => message)));
});

test('an input that no request carried is not counted among what a compaction keeps', async () => {
  const db = await store.open();
  await prepareStore(db);
  const owner = { kind: 'run', id: 'typed-and-never-sent' } as const;
  const { model, requests } = scriptedModel(
    (index) => (index === 0 ? { calls: [{ tool: 'look' }] } : { text: 'done' }),
    { hooks: durableHooks(db, owner) as never },
  );
  const controller = new AbortController();
  let starts = 0;
  let drains = 0;
  const options = {
    model,
    tools: registryOf({ look: { readOnly: true, execute: () => 'z'.repeat(3_300) } }),
    contextTokens: 1_000,
    compact: async () => ({ summary: 'what was before', keep: 0 }),
  };
  const gate = (point: string): void => {
    if (point === 'turn:begun' && (starts += 1) === 2) controller.abort();
  };
  const typed = { id: 'typed', message: 'in French' };
  const drainInput = async () => ((drains += 1) === 2 ? [typed] : []);
  const aborted = (await runDurable(db, owner, { ...options, gate, drainInput, signal: controller.signal })).at(-1);
  expect(aborted).toMatchObject({ reason: 'aborted' });
  const stored = await db.read((ctx) => readHistory(ctx, owner));
  expect(lines(stored.map(({ message }) => message))).toEqual(['user: what was before']);
  expect(stored.map(({ key }) => key)).toEqual((aborted as RunEnd).entries.map(({ key }) => key));
  await runDurable(db, owner, { ...options, drainInput: async () => [typed] });
  expect(lines(requests.at(-1)?.prompt ?? [])).toEqual(['user: what was before', 'user: in French']);
});
