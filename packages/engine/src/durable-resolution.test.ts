import { readOperations, resolveOperation, type TurnOwner } from '@stint/journal';
import type { Database } from '@stint/storage';
import { freshSqlite } from '@stint/storage/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { durableHooks, prepareStore, recover, runDurable } from './durable-run.test.helper.js';
import { checkValid, lines, registryOf, scriptedModel, type ToolSpec } from './scripted-model.test.helper.js';
import type { RunEnd } from './types.js';

const store = freshSqlite();
let db: Database;
beforeAll(async () => {
  db = await store.open({ synchronous: 'normal' });
  await prepareStore(db);
});
afterAll(() => store.remove());

/** A write that never ends, but by its time limit. */
const hanging: ToolSpec = {
  timeoutMs: 30,
  execute: (_input, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped half-way')))),
};
const said = {
  applied: /^result: .*\n?.*A person looked afterwards: what this call was to do is done\. Do not make it again\./s,
  no_effect: /^result: .*\n?.*A person looked afterwards: this call changed nothing\. You may make it again\./s,
} as const;

describe.each(['applied', 'no_effect'] as const)('a person says %s of a call whose time ran out', (word) => {
  const owner: TurnOwner = { kind: 'run', id: `timed-out-${word}` };
  const unknownOf = async (turnId: string) => (await db.read((ctx) => readOperations(ctx, turnId)))[0];

  test('and the next request has that word as the result of the call, in this process and in the next', async () => {
    const { model, requests } = scriptedModel(
      (index) => (index === 0 ? { calls: [{ tool: 'write' }, { tool: 'write' }] } : { text: 'done' }),
      { hooks: durableHooks(db, owner) as never },
    );
    const tools = registryOf({ write: hanging });
    const stopped = (await runDurable(db, owner, { model, tools })).at(-1) as RunEnd;
    expect(stopped).toMatchObject({ reason: 'failed', error: { code: 'tool_fatal' } });
    const turnId = stopped.entries.find((entry) => entry.kind === 'response')?.key.slice('response:'.length) ?? '';
    expect(await unknownOf(turnId)).toMatchObject({ status: 'unknown', callIndex: 0 });

    await db.write((ctx) => resolveOperation(ctx, { turnId, callIndex: 0 }, word, { by: 'ann' }));
    const ended = (await runDurable(db, owner, { model, tools })).at(-1) as RunEnd;
    expect(ended.reason).toBe('completed');
    const shown = lines(requests.at(-1)?.prompt ?? []);
    expect(shown.filter((line) => said[word].test(line))).toHaveLength(1);
    expect(shown.filter((line) => line.startsWith('result: Not run'))).toHaveLength(1);
    checkValid(requests.at(-1)?.prompt ?? []);
    expect(lines(ended.entries.map((entry) => entry.message)).slice(0, shown.length)).toEqual(shown);
  });
});

test('a word that comes after the model was told "unknown" is part of the same result in every later request', async () => {
  const owner: TurnOwner = { kind: 'run', id: 'later-word' };
  const hooks = durableHooks(db, owner);
  const { model, requests } = scriptedModel(
    (index) => (index === 0 ? { calls: [{ tool: 'write' }] } : { text: `answer ${index}` }),
    { hooks: hooks as never },
  );
  const tools = registryOf({
    write: {
      execute: () => {
        throw new Error('the connection broke');
      },
    },
  });
  const first = (await runDurable(db, owner, { model, tools })).at(-1) as RunEnd;
  const turnId = first.entries.find((entry) => entry.kind === 'response')?.key.slice('response:'.length) ?? '';
  expect(lines(requests[1]?.prompt ?? []).at(-1)).toContain('the connection broke');
  await recover(db);
  await db.write((ctx) => resolveOperation(ctx, { turnId, callIndex: 0 }, 'applied', { by: 'ann' }));
  let asked = 0;
  await runDurable(db, owner, {
    model,
    tools,
    drainInput: async () => ((asked += 1) === 1 ? [{ id: 'next', message: 'go on' }] : []),
    closePendingInput: async () => asked > 0,
  });
  const shown = lines(requests.at(-1)?.prompt ?? []);
  expect(shown.find((line) => line.startsWith('result:'))).toMatch(/the connection broke\n.*is done/s);
  expect(shown.at(-1)).toBe('user: go on');
});
