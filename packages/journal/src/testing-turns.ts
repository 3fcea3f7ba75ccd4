import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { all } from '@stint/storage';
import { readHistory } from './history.js';
import { findDeadTurns, recoverTurn, recoverTurns, unresolved } from './recovery.js';
import { inputEntry, note, requestOf, responseOf, type Fixture, type JournalCase } from './testing-fixture.js';
import { listTurns, readTurn } from './turn-rows.js';
import {
  applyTurn,
  insertDeniedTurn,
  insertTurn,
  recordCancelled,
  recordRefused,
  recordResponse,
  recordUnknown,
  rejectTurn,
  resolveTurn,
} from './turns.js';
import type { TurnStatus } from './types.js';

const error = { code: 'incomplete', message: 'cut' };
const usage = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  totalTokens: 3,
};

async function statusOf(fixture: Fixture, id: string): Promise<TurnStatus | undefined> {
  return (await fixture.read((ctx) => readTurn(ctx, id)))?.status;
}

async function keysOf(fixture: Fixture): Promise<string[]> {
  return (await fixture.read((ctx) => readHistory(ctx, fixture.owner))).map((entry) => entry.key);
}

/** What each step makes of a turn in each status; null is `illegal_transition`. */
const steps = {
  responded: (fixture: Fixture, id: string) => fixture.write((ctx) => recordResponse(ctx, id, responseOf())),
  refused: (fixture: Fixture, id: string) => fixture.write((ctx) => recordRefused(ctx, id, { error })),
  unknown: (fixture: Fixture, id: string) => fixture.write((ctx) => recordUnknown(ctx, id, { error })),
  cancelled: (fixture: Fixture, id: string) => fixture.write((ctx) => recordCancelled(ctx, id, error)),
  applied: (fixture: Fixture, id: string) => fixture.write((ctx) => applyTurn(ctx, id)),
  rejected: (fixture: Fixture, id: string) => fixture.write((ctx) => rejectTurn(ctx, id)),
  written_off: (fixture: Fixture, id: string) =>
    fixture.write((ctx) => resolveTurn(ctx, id, { as: 'written_off' }, 'ann')),
} as const;
type Step = keyof typeof steps;

const legal: Readonly<Record<Step, readonly (readonly Step[])[]>> = {
  responded: [[], ['unknown']],
  refused: [[]],
  unknown: [[]],
  cancelled: [[]],
  applied: [['responded'], ['unknown', 'responded']],
  rejected: [['responded'], ['unknown', 'responded']],
  written_off: [['unknown']],
};
const paths: readonly (readonly Step[])[] = [
  [],
  ['responded'],
  ['refused'],
  ['unknown'],
  ['cancelled'],
  ['responded', 'applied'],
  ['responded', 'rejected'],
  ['unknown', 'written_off'],
  ['unknown', 'responded'],
];

export const turnCases: readonly JournalCase[] = [
  {
    name: 'a turn takes exactly the steps of the table; any other is refused and changes nothing',
    run: async (fixture) => {
      for (const path of paths) {
        for (const step of Object.keys(steps) as Step[]) {
          const id = await fixture.dispatch();
          for (const each of path) await steps[each](fixture, id);
          const before = (await statusOf(fixture, id)) as TurnStatus;
          const isLegal = legal[step].some((each) => each.join() === path.join());
          if (isLegal) await steps[step](fixture, id);
          else if (
            before === step &&
            (step === 'responded' || step === 'refused' || step === 'unknown' || step === 'cancelled')
          ) {
            assert.equal(await steps[step](fixture, id), false);
          } else await assert.rejects(steps[step](fixture, id), { code: 'illegal_transition' });
          assert.equal(await statusOf(fixture, id), isLegal ? step : before, `${path.join()} -> ${step}`);
        }
      }
    },
  },
  {
    name: 'a turn keeps what was asked, the range it carried, and what was answered',
    run: async (fixture) => {
      const id = await fixture.dispatch([note('a'), inputEntry('i')], {
        turnNumber: 4,
        inputIds: ['i'],
        retryOf: 'before',
      });
      await fixture.write((ctx) => recordResponse(ctx, id, responseOf({ text: 'said', usage })));
      const turn = await fixture.read((ctx) => readTurn(ctx, id));
      assert.deepEqual(
        { ...turn, createdAt: 0, endedAt: 0, process: '' },
        {
          id,
          owner: fixture.owner,
          process: '',
          turnNumber: 4,
          model: 'sim:m',
          requestHash: 'hash',
          settings: { maxOutputTokens: 100 },
          purpose: 'turn',
          isStream: true,
          entryRange: { from: 1, to: 2 },
          inputIds: ['i'],
          retryOf: 'before',
          status: 'responded',
          responseId: null,
          response: {
            message: { role: 'assistant', content: [{ type: 'text', text: 'said' }] },
            text: 'said',
            finishReason: 'stop',
            usage,
            model: 'm-2',
          },
          usage,
          error: null,
          partialText: null,
          asksPerson: false,
          resolution: null,
          createdAt: 0,
          endedAt: 0,
        },
      );
    },
  },
  {
    name: 'case Y02: a denied turn is cancelled and stores nothing of what it would have carried',
    run: async (fixture) => {
      const id = randomUUID();
      const input = { id, owner: fixture.owner, request: requestOf({ entries: [note('a')] }) };
      await fixture.write((ctx) => insertDeniedTurn(ctx, input, { code: 'denied', message: 'no budget' }));
      assert.equal(await statusOf(fixture, id), 'cancelled');
      assert.deepEqual(await keysOf(fixture), []);
    },
  },
  {
    name: 'inputs of a refused or unknown turn are taken back, its other entries stay, and the next turn carries the inputs again',
    run: async (fixture) => {
      for (const end of [steps.refused, steps.unknown]) {
        const first = await fixture.dispatch([note('n'), inputEntry('i')]);
        assert.deepEqual(await keysOf(fixture), ['n', 'input:i']);
        await end(fixture, first);
        assert.deepEqual(await keysOf(fixture), ['n']);
      }
      await fixture.answer([note('n'), inputEntry('i')]);
      const keys = await keysOf(fixture);
      assert.deepEqual(keys.slice(0, 2), ['n', 'input:i']);
      assert.equal(keys.length, 3);
    },
  },
  {
    name: 'case Y01: a late answer of the last turn enters the history with the inputs it was given',
    run: async (fixture) => {
      const id = await fixture.dispatch([inputEntry('i')]);
      await steps.unknown(fixture, id);
      await fixture.write((ctx) => resolveTurn(ctx, id, { as: 'responded', response: responseOf() }, 'ann'));
      assert.equal((await keysOf(fixture)).length, 2);
      const turn = await fixture.read((ctx) => readTurn(ctx, id));
      assert.equal(turn?.resolution?.by, 'ann');
      assert.equal(turn?.response?.text, 'hello');
    },
  },
  {
    name: 'case Y01: a late answer that another turn has overtaken stays out of the history',
    run: async (fixture) => {
      const late = await fixture.dispatch([inputEntry('i')]);
      await steps.unknown(fixture, late);
      const next = await fixture.answer([inputEntry('i')]);
      await fixture.write((ctx) => recordResponse(ctx, late, responseOf({ usage })));
      assert.deepEqual(await keysOf(fixture), ['input:i', `response:${next}`]);
      assert.deepEqual((await fixture.read((ctx) => readTurn(ctx, late)))?.usage, usage);
    },
  },
  {
    name: 'an answer for another purpose is kept with its turn and is no part of the conversation',
    run: async (fixture) => {
      await fixture.answer([note('n')]);
      const before = await keysOf(fixture);
      const id = await fixture.dispatch([], { purpose: 'compaction' });
      await fixture.write((ctx) => recordResponse(ctx, id, responseOf({ text: 'summary' })));
      assert.deepEqual(await keysOf(fixture), before);
      assert.equal((await fixture.read((ctx) => readTurn(ctx, id)))?.response?.text, 'summary');
    },
  },
  {
    name: 'recovery makes turns of dead processes unknown, asks a person, and leaves those of live ones alone',
    run: async (fixture) => {
      const live = await fixture.dispatch();
      const dead = randomUUID();
      await fixture.deadProcess((ctx) =>
        insertTurn(ctx, { id: dead, owner: fixture.owner, request: requestOf({ entries: [inputEntry('i')] }) }),
      );
      assert.deepEqual(await fixture.read(findDeadTurns), [dead]);
      assert.equal(await fixture.write((ctx) => recoverTurn(ctx, live)), false);
      assert.equal(await fixture.write(recoverTurns), 1);
      assert.equal(await fixture.write(recoverTurns), 0);
      assert.deepEqual([await statusOf(fixture, live), await statusOf(fixture, dead)], ['dispatching', 'unknown']);
      assert.deepEqual(await keysOf(fixture), []);
      const { turns } = await fixture.read((ctx) => unresolved(ctx, fixture.owner));
      assert.deepEqual(
        turns.map((turn) => turn.id),
        [dead],
      );
    },
  },
  {
    name: 'an unknown turn of a live run asks nobody',
    run: async (fixture) => {
      await steps.unknown(fixture, await fixture.dispatch());
      assert.deepEqual(await fixture.read((ctx) => unresolved(ctx, [fixture.owner])), { turns: [], operations: [] });
    },
  },
  {
    name: 'an id is one turn: writing it again is refused, and what it carried is not stored twice',
    run: async (fixture) => {
      const id = await fixture.dispatch([note('a')]);
      const again = { id, owner: fixture.owner, request: requestOf({ entries: [note('b')] }) };
      await assert.rejects(
        fixture.write((ctx) => insertTurn(ctx, again)),
        { code: 'turn_exists' },
      );
      assert.deepEqual(await keysOf(fixture), ['a']);
      await assert.rejects(
        fixture.write((ctx) => recordResponse(ctx, 'none', responseOf())),
        { code: 'turn_not_found' },
      );
    },
  },
  {
    name: 'a turn stores its range and not its messages: rows do not grow with the history',
    run: async (fixture) => {
      for (let turn = 0; turn < 30; turn += 1) await fixture.answer([note(`n${turn}`)]);
      const turns = await fixture.read((ctx) => listTurns(ctx, fixture.owner));
      assert.deepEqual(turns.at(-1)?.entryRange, { from: 1, to: 59 });
      const sizes = await fixture.read(() => all<{ size: number }>(selectSizes));
      assert.equal(new Set(sizes.map((row) => row.size)).size, 1);
    },
  },
];

const selectSizes = 'SELECT LENGTH(settings) + LENGTH(request_hash) + LENGTH(input_ids) AS size FROM journal_turns';
