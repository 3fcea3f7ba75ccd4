import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { HistoryEntry } from '@stint/provider-hooks';
import { appendEntries, readHistory } from './history.js';
import { resumeState } from './resume-state.js';
import { endOperation, startOperation } from './operations.js';
import { note, responseOf, type JournalCase } from './testing-fixture.js';
import { recordUnknown } from './turns.js';
import type { TurnOwner } from './types.js';

function compaction(key: string, keep: number): HistoryEntry {
  return { ...note(key), kind: 'compaction', keep };
}

export const historyCases: readonly JournalCase[] = [
  {
    name: 'an entry is stored once, however often its key is given',
    run: async (fixture) => {
      const { owner } = fixture;
      await fixture.write((ctx) => appendEntries(ctx, owner, [note('a'), note('b'), note('a')]));
      const changed: HistoryEntry = { ...note('a'), kind: 'partial' };
      await fixture.write((ctx) => appendEntries(ctx, owner, [changed, note('c')]));
      const history = await fixture.read((ctx) => readHistory(ctx, owner));
      assert.deepEqual(
        history.map(({ seq, key, kind }) => [seq, key, kind]),
        [
          [1, 'a', 'note'],
          [2, 'b', 'note'],
          [3, 'c', 'note'],
        ],
      );
    },
  },
  {
    name: 'a compaction hides what came before but for the entries it keeps',
    run: async (fixture) => {
      const { owner } = fixture;
      const entries = [note('a'), note('b'), note('c'), compaction('s', 2), note('d')];
      const range = await fixture.write((ctx) => appendEntries(ctx, owner, entries));
      const history = await fixture.read((ctx) => readHistory(ctx, owner));
      assert.deepEqual(
        history.map((entry) => entry.key),
        ['s', 'b', 'c', 'd'],
      );
      assert.equal(history[0]?.keep, 2);
      assert.deepEqual(range, { from: 2, to: 5 });
      await fixture.write((ctx) => appendEntries(ctx, owner, [compaction('t', 0)]));
      assert.deepEqual(
        (await fixture.read((ctx) => readHistory(ctx, owner))).map((entry) => entry.key),
        ['t'],
      );
    },
  },
  {
    name: 'a chain of owners is one history, and an entry that two of them hold appears once',
    run: async (fixture) => {
      const next: TurnOwner = { kind: 'run', id: randomUUID() };
      await fixture.write((ctx) => appendEntries(ctx, fixture.owner, [note('a'), note('b')]));
      await fixture.write((ctx) => appendEntries(ctx, next, [note('b'), note('c')]));
      const keys = (await fixture.read((ctx) => readHistory(ctx, [fixture.owner, next]))).map((entry) => entry.key);
      assert.deepEqual(keys, ['a', 'b', 'c']);
    },
  },
  {
    name: 'nothing journaled is nothing to resume from',
    run: async (fixture) => {
      assert.equal(await fixture.read((ctx) => resumeState(ctx, fixture.owner)), undefined);
    },
  },
  {
    name: 'the state to resume from is the last answer with its operations, whatever failed after it',
    run: async (fixture) => {
      const { owner } = fixture;
      const id = await fixture.answer([note('n')], { finishReason: 'tool-calls' });
      const key = { turnId: id, callIndex: 1 };
      await fixture.write((ctx) => startOperation(ctx, { ...key, owner, toolCallId: 'c', tool: 't', inputHash: 'h' }));
      await fixture.write((ctx) => endOperation(ctx, key, { effect: 'applied', entry: note(`result:${id}:1`) }));
      const failed = await fixture.dispatch([note('m')], { turnNumber: 2 });
      await fixture.write((ctx) => recordUnknown(ctx, failed, { error: { code: 'x', message: 'y' } }));
      const state = await fixture.read((ctx) => resumeState(ctx, owner));
      assert.equal(state?.turnNumber, 2);
      assert.deepEqual(state?.response, { turnId: id, finishReason: 'tool-calls', model: responseOf().model });
      assert.deepEqual(
        state?.operations.map(({ callIndex, status }) => [callIndex, status]),
        [[1, 'applied']],
      );
      assert.deepEqual(
        state?.entries.map((entry) => entry.key),
        ['n', `response:${id}`, `result:${id}:1`, 'm'],
      );
    },
  },
  {
    name: 'a run that goes on from another resumes from the answer of that one until it has its own',
    run: async (fixture) => {
      const next: TurnOwner = { kind: 'run', id: randomUUID() };
      const first = await fixture.answer([note('n')]);
      const state = await fixture.read((ctx) => resumeState(ctx, [fixture.owner, next]));
      assert.equal(state?.response?.turnId, first);
    },
  },
];
