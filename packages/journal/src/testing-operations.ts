import assert from 'node:assert/strict';
import type { HistoryEntry } from '@stint/provider-hooks';
import { appendEntries, readHistory } from './history.js';
import {
  endOperation,
  liveOperations,
  listOperations,
  readOperation,
  readOperations,
  recordLateResult,
  resolveOperation,
  setOperationProcess,
  startOperation,
  type OperationInput,
} from './operations.js';
import { deadProcessGroups, findDeadOperations, recoverOperation, recoverOperations, unresolved } from './recovery.js';
import { countByOwner } from './owner-counts.js';
import { insertDeniedTurn, recordCancelled, recordResponse } from './turns.js';
import { note, requestOf, responseOf, type Fixture, type JournalCase } from './testing-fixture.js';
import type { OperationStatus, TurnOwner } from './types.js';

async function inputOf(fixture: Fixture, callIndex = 0): Promise<OperationInput> {
  const turnId = await fixture.answer();
  return {
    turnId,
    callIndex,
    owner: fixture.owner,
    toolCallId: `call-${callIndex}`,
    tool: 'write_file',
    inputHash: 'h',
  };
}

async function statusOf(fixture: Fixture, { turnId }: OperationInput): Promise<OperationStatus | undefined> {
  return (await fixture.read((ctx) => readOperations(ctx, turnId)))[0]?.status;
}

function resultOf(turnId: string, callIndex: number, type: 'text' | 'error-text', value = 'said'): HistoryEntry {
  const output = { type, value };
  const part = { type: 'tool-result', toolCallId: `c${callIndex}`, toolName: 't', output } as const;
  return { key: `result:${turnId}:${callIndex}`, kind: 'tool-result', message: { role: 'tool', content: [part] } };
}

function outputOf({ message }: HistoryEntry): string {
  if (message.role !== 'tool') return '';
  return message.content.map((part) => ('output' in part ? `${part.output.type} ${valueOf(part.output)}` : '')).join();
}

function valueOf(output: object): string {
  return 'value' in output ? String(output.value) : '';
}

const ends = ['applied', 'no_effect', 'unknown'] as const;

export const operationCases: readonly JournalCase[] = [
  {
    name: 'case Y20: an operation is running until it is ended, once, with its result as history entry',
    run: async (fixture) => {
      for (const effect of ends) {
        const input = await inputOf(fixture);
        await fixture.write((ctx) => startOperation(ctx, input));
        assert.equal(await statusOf(fixture, input), 'running');
        await fixture.write((ctx) => endOperation(ctx, input, { effect, entry: note(`result:${input.turnId}:0`) }));
        assert.equal(await statusOf(fixture, input), effect);
        const again = fixture.write((ctx) => endOperation(ctx, input, { effect: 'applied', entry: note('other') }));
        await assert.rejects(again, { code: 'illegal_transition' });
        assert.equal(
          (await fixture.read((ctx) => readHistory(ctx, fixture.owner))).at(-1)?.key,
          `result:${input.turnId}:0`,
        );
      }
    },
  },
  {
    name: 'case Y19: a call has one operation; beginning it again is refused',
    run: async (fixture) => {
      const input = await inputOf(fixture);
      await fixture.write((ctx) => startOperation(ctx, input));
      await assert.rejects(
        fixture.write((ctx) => startOperation(ctx, input)),
        { code: 'operation_exists' },
      );
      await fixture.write((ctx) => startOperation(ctx, { ...input, callIndex: 1 }));
      assert.equal((await fixture.read((ctx) => listOperations(ctx, fixture.owner))).length, 2);
    },
  },
  {
    name: 'only a person settles an unknown operation, and only an unknown one',
    run: async (fixture) => {
      const input = await inputOf(fixture);
      await fixture.write((ctx) => startOperation(ctx, input));
      const resolve = (as: 'applied' | 'no_effect'): Promise<void> =>
        fixture.write((ctx) => resolveOperation(ctx, input, as, { by: 'ann', note: 'looked' }));
      await assert.rejects(resolve('applied'), { code: 'illegal_transition' });
      await fixture.write((ctx) => endOperation(ctx, input, { effect: 'unknown' }));
      assert.equal((await fixture.read((ctx) => unresolved(ctx, fixture.owner))).operations.length, 1);
      await resolve('no_effect');
      await assert.rejects(resolve('applied'), { code: 'illegal_transition' });
      const [operation] = await fixture.read((ctx) => readOperations(ctx, input.turnId));
      assert.equal(operation?.status, 'no_effect');
      assert.deepEqual({ ...operation?.resolution, at: 0 }, { by: 'ann', as: 'no_effect', at: 0, note: 'looked' });
      assert.equal((await fixture.read((ctx) => unresolved(ctx, fixture.owner))).operations.length, 0);
    },
  },
  {
    name: 'operations of dead processes become unknown, after their process groups are told of',
    run: async (fixture) => {
      const [live, dead] = [await inputOf(fixture), await inputOf(fixture)];
      await fixture.write((ctx) => startOperation(ctx, live));
      await fixture.deadProcess((ctx) => startOperation(ctx, dead));
      const group = { host: 'here', processGroup: 4711, startTicks: 99 };
      assert.equal(await fixture.write((ctx) => setOperationProcess(ctx, dead, group)), true);
      assert.deepEqual(
        (await fixture.read((ctx) => deadProcessGroups(ctx, 'here'))).map((each) => each.processGroup),
        [group],
      );
      assert.deepEqual(await fixture.read((ctx) => deadProcessGroups(ctx, 'elsewhere')), []);
      assert.deepEqual(
        (await fixture.read((ctx) => liveOperations(ctx, 'here'))).map((each) => each.turnId),
        [dead.turnId],
      );
      assert.deepEqual(
        (await fixture.read(findDeadOperations)).map((each) => each.turnId),
        [dead.turnId],
      );
      assert.equal(await fixture.write((ctx) => recoverOperation(ctx, live)), false);
      assert.equal(await fixture.write(recoverOperations), 1);
      assert.deepEqual([await statusOf(fixture, live), await statusOf(fixture, dead)], ['running', 'unknown']);
      assert.equal(await fixture.write((ctx) => setOperationProcess(ctx, dead, group)), false);
    },
  },
  {
    name: 'counts of an owner leave out denied turns and tell failed calls apart',
    run: async (fixture) => {
      const { owner } = fixture;
      const turnId = await fixture.answer();
      const withdrawn = await fixture.dispatch();
      await fixture.write((ctx) => recordCancelled(ctx, withdrawn, { code: 'aborted', message: 'no' }));
      const denied = { id: 'denied', owner, request: requestOf() };
      await fixture.write((ctx) => insertDeniedTurn(ctx, denied, { code: 'denied', message: 'no' }));
      const results = [resultOf(turnId, 0, 'text'), resultOf(turnId, 1, 'error-text'), note('n')];
      await fixture.write((ctx) => appendEntries(ctx, owner, results));
      await fixture.write((ctx) => appendEntries(ctx, owner, results));
      const carried = [resultOf(turnId, 2, 'error-text')];
      const summary = await fixture.dispatch(carried, { purpose: 'compaction' });
      await fixture.write((ctx) => recordResponse(ctx, summary, responseOf()));
      const counts = await fixture.read((ctx) => countByOwner(ctx, [owner, { kind: 'run', id: 'none' }]));
      assert.deepEqual(counts.get(owner.id), { loops: 2, toolCalls: 2, failedToolCalls: 1 });
      assert.deepEqual(counts.get('none'), { loops: 0, toolCalls: 0, failedToolCalls: 0 });
    },
  },
  {
    name: 'a thousand owners are counted by as many statements as ten',
    run: async (fixture) => {
      await fixture.answer();
      const asked = async (size: number): Promise<number> => {
        const others: TurnOwner[] = Array.from({ length: size - 1 }, (_, index) => ({
          kind: 'run',
          id: `other-${index}`,
        }));
        const before = fixture.db.statementCount;
        const counts = await fixture.read((ctx) => countByOwner(ctx, [...others, fixture.owner]));
        assert.equal(counts.get(fixture.owner.id)?.loops, 1);
        assert.equal(counts.size, size);
        return fixture.db.statementCount - before;
      };
      assert.equal(await asked(1_000), await asked(10));
    },
  },
  {
    name: 'what a person says of an unknown operation becomes part of its result, and of no other',
    run: async (fixture) => {
      const { owner } = fixture;
      const timedOut = 'Timed out; it may still have changed something.';
      for (const as of ['applied', 'no_effect'] as const) {
        const input = await inputOf(fixture);
        await fixture.write((ctx) => startOperation(ctx, input));
        const entry = resultOf(input.turnId, 0, 'error-text', timedOut);
        await fixture.write((ctx) => endOperation(ctx, input, { effect: 'unknown', entry }));
        await fixture.write((ctx) => appendEntries(ctx, owner, [resultOf(input.turnId, 1, 'text', 'other')]));
        const counts = await fixture.read((ctx) => countByOwner(ctx, [owner]));
        await fixture.write((ctx) => resolveOperation(ctx, input, as, { by: 'ann' }));
        const shown = (await fixture.read((ctx) => readHistory(ctx, owner))).slice(-2).map(outputOf);
        assert.equal(shown[0]?.startsWith(`error-text ${timedOut}\nA person looked afterwards: `), true);
        assert.match(shown[0] ?? '', as === 'applied' ? /is done\. Do not make it again/ : /changed nothing/);
        assert.equal(shown[1], 'text other');
        assert.deepEqual(await fixture.read((ctx) => countByOwner(ctx, [owner])), counts);
      }
    },
  },
  {
    name: 'an operation is found by its id',
    run: async (fixture) => {
      const input = await inputOf(fixture, 3);
      await fixture.write((ctx) => startOperation(ctx, input));
      const id = `${input.turnId}/3`;
      assert.equal((await fixture.read((ctx) => readOperation(ctx, id)))?.toolCallId, 'call-3');
      assert.equal(await fixture.read((ctx) => readOperation(ctx, `${input.turnId}/4`)), undefined);
    },
  },
  {
    name: 'a result after the lease was lost is kept and counts for nothing',
    run: async (fixture) => {
      const input = await inputOf(fixture);
      await fixture.deadProcess((ctx) => startOperation(ctx, input));
      await fixture.write(recoverOperations);
      const before = await fixture.read((ctx) => readHistory(ctx, fixture.owner));
      await fixture.write((ctx) => recordLateResult(ctx, input, 'done after all'));
      const [operation] = await fixture.read((ctx) => readOperations(ctx, input.turnId));
      assert.equal(operation?.status, 'unknown');
      assert.equal(operation?.lateResult, 'done after all');
      assert.deepEqual(await fixture.read((ctx) => readHistory(ctx, fixture.owner)), before);
    },
  },
];
