import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PastAnswer } from '@stint/provider-hooks';
import { readHistory } from './history.js';
import { recoverTurns, unresolved } from './recovery.js';
import { resolveByProvider, type FoundAnswer } from './resolve-by-provider.js';
import { resumeState } from './resume-state.js';
import { inputEntry, requestOf, responseOf, type Fixture, type JournalCase } from './testing-fixture.js';
import { listTurns, readTurn } from './turn-rows.js';
import { insertTurn, noteResponseId, recordUnknown, resolveTurn } from './turns.js';

/** A turn that a dead process left, whose provider told this id. */
async function lostTurn(fixture: Fixture, responseId: string | null): Promise<string> {
  const id = randomUUID();
  const request = requestOf({ entries: [inputEntry(id)], inputIds: [id] });
  await fixture.deadProcess(function* (ctx) {
    yield* insertTurn(ctx, { id, owner: fixture.owner, request });
    if (responseId !== null) assert.equal(yield* noteResponseId(ctx, id, responseId), true);
  });
  await fixture.write(recoverTurns);
  return id;
}

const answered: PastAnswer = { state: 'answered', response: responseOf({ text: 'kept' }) };

export const pastAnswerCases: readonly JournalCase[] = [
  {
    name: 'an answer that its provider kept is stored as if it had come in time, with what it cost, in one transaction',
    run: async (fixture) => {
      const id = await lostTurn(fixture, 'resp_1');
      const booked: [string, FoundAnswer][] = [];
      const asked: string[] = [];
      const settled = await resolveByProvider(fixture.db, fixture.owner, {
        ask: async ({ responseId }) => (asked.push(responseId), answered),
        *book(ctx, turn, found) {
          assert.equal((yield* readTurn(ctx, turn.id))?.status, 'unknown');
          booked.push([turn.id, found]);
        },
      });
      assert.deepEqual([settled, asked, booked], [[id], ['resp_1'], [[id, answered]]]);
      const turn = await fixture.read((ctx) => readTurn(ctx, id));
      assert.equal(turn?.status, 'responded');
      assert.equal(turn.resolution?.by, 'provider');
      const state = await fixture.read((ctx) => resumeState(ctx, fixture.owner));
      assert.deepEqual(
        state?.entries.map((entry) => entry.key),
        [`input:${id}`, `response:${id}`],
      );
      assert.equal(state.response?.turnId, id);
      assert.deepEqual(await fixture.read((ctx) => unresolved(ctx, fixture.owner)), { turns: [], operations: [] });
    },
  },
  {
    name: 'a turn whose provider has no answer is written off; one that is running, not kept or not asked stays unknown',
    run: async (fixture) => {
      const told: string[] = [];
      const finds: Readonly<Record<string, () => Promise<PastAnswer> | null>> = {
        failed: async () => ({ state: 'failed', usage: null }),
        running: async () => ({ state: 'running' }),
        not_kept: async () => ({ state: 'not_kept' }),
        down: () => Promise.reject(new Error('down')),
        other: () => null,
      };
      for (const name of Object.keys(finds)) await lostTurn(fixture, name);
      const silent = await lostTurn(fixture, null);
      const settled = await resolveByProvider(fixture.db, fixture.owner, {
        ask: ({ responseId }) => finds[responseId]?.() ?? null,
        onError: (error, turn) => told.push(`${turn.responseId}: ${(error as Error).message}`),
      });
      const turns = await fixture.read((ctx) => listTurns(ctx, fixture.owner));
      const byName = Object.fromEntries(turns.map((turn) => [turn.responseId ?? 'silent', turn.status]));
      const unknown = { running: 'unknown', not_kept: 'unknown', down: 'unknown', other: 'unknown', silent: 'unknown' };
      assert.deepEqual(byName, { failed: 'written_off', ...unknown });
      assert.deepEqual(
        settled,
        turns.filter((turn) => turn.status === 'written_off').map((turn) => turn.id),
      );
      assert.deepEqual(told, ['down: down']);
      assert.equal(turns.find((turn) => turn.id === silent)?.asksPerson, true);
      assert.deepEqual(await fixture.read((ctx) => readHistory(ctx, fixture.owner)), []);
    },
  },
  {
    name: 'a person who decided while the provider was asked is not overruled',
    run: async (fixture) => {
      const id = await lostTurn(fixture, 'resp_1');
      const settled = await resolveByProvider(fixture.db, fixture.owner, {
        ask: async () => {
          await fixture.write((ctx) => resolveTurn(ctx, id, { as: 'written_off' }, 'ann'));
          return answered;
        },
      });
      assert.deepEqual(settled, []);
      assert.equal((await fixture.read((ctx) => readTurn(ctx, id)))?.resolution?.by, 'ann');
    },
  },
  {
    name: 'an id is noted while its turn is on its way, and not after',
    run: async (fixture) => {
      const id = await fixture.dispatch();
      await fixture.write((ctx) => recordUnknown(ctx, id, { error: { code: 'incomplete', message: 'cut' } }));
      assert.equal(await fixture.write((ctx) => noteResponseId(ctx, id, 'resp_1')), false);
      assert.equal((await fixture.read((ctx) => readTurn(ctx, id)))?.responseId, null);
    },
  },
];
