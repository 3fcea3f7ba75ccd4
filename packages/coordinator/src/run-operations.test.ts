import type { EngineToolCall, OperationOutcome } from '@stint/engine';
import { insertTurn, readHistory, readOperations } from '@stint/journal';
import type { FrozenRequest } from '@stint/provider-hooks';
import { claimAction, type RunFence } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { createRunOperations, type RunOperations } from './run-operations.js';
import { type Bench, openBench } from './work-bench.test.helper.js';

const call: EngineToolCall = {
  turnId: 'turn-1',
  callIndex: 0,
  toolCallId: 'call-1',
  tool: 'edit_file',
  input: { path: 'a.txt' },
  readOnly: false,
  hasExternalEffect: true,
};
const outcome: OperationOutcome = {
  result: { ok: true, output: 'edited a.txt', outputBytes: 12 },
  effect: 'applied',
  entry: { key: 'result:turn-1:0', kind: 'tool-result', message: { role: 'tool', content: [] } },
};

/** A Run claimed by this process whose operations a test drives by hand. */
async function withRun(
  use: (parts: { bench: Bench; itemId: string; fence: RunFence; operations: RunOperations }) => Promise<void>,
): Promise<void> {
  await using bench = await openBench();
  const itemId = await bench.item();
  const coordinator = bench.coordinator({ maxConcurrentActions: 1, machine: 'another' });
  coordinator.start();
  await bench.until(itemId, ({ actions }) => actions.length > 0);
  await coordinator.stop();
  const claimed = await bench.db.write((ctx) => claimAction(ctx));
  if (claimed === null) throw new Error('nothing to claim');
  const { fence } = claimed;
  const request = { turnNumber: 1, model: 'm', hash: 'h', settings: {}, purpose: 'turn', stream: true } as const;
  const owner = { kind: 'run', id: fence.runId } as const;
  const frozen = { ...request, entries: [], inputIds: [] } as unknown as FrozenRequest;
  await bench.db.write((ctx) => insertTurn(ctx, { id: 'turn-1', owner, request: frozen }));
  await use({ bench, itemId, fence, operations: createRunOperations({ db: bench.db, fence, gate: () => undefined }) });
}

const stored = (bench: Bench, fence: RunFence) =>
  bench.db.read(function* (ctx) {
    const [operation] = yield* readOperations(ctx, 'turn-1');
    const history = yield* readHistory(ctx, { kind: 'run', id: fence.runId });
    return { status: operation?.status, late: operation?.lateResult, results: history.map((entry) => entry.key) };
  });

describe('the operations of a Run', () => {
  it('have a row before the effect, and effect and result after it (case Y20)', async () => {
    await withRun(async ({ bench, fence, operations }) => {
      await operations.operationStart(call);
      expect(await stored(bench, fence)).toEqual({ status: 'running', late: null, results: [] });
      await operations.operationEnd(call, outcome);
      expect(await stored(bench, fence)).toEqual({ status: 'applied', late: null, results: ['result:turn-1:0'] });
    });
  });

  it('never begin twice', async () => {
    await withRun(async ({ operations }) => {
      await operations.operationStart(call);
      await expect(operations.operationStart(call)).rejects.toMatchObject({ code: 'operation_exists' });
    });
  });

  it('do not begin once the claim is lost, and no command of theirs does', async () => {
    await withRun(async ({ bench, itemId, fence, operations }) => {
      await bench.commands.cancel({ itemId });
      await expect(operations.operationStart(call)).rejects.toMatchObject({ code: 'lease_lost' });
      const group = {
        callId: 'call-1',
        operationId: 'o',
        host: 'h',
        processGroup: 1,
        startedAt: 1,
        startTicks: null,
        bootId: null,
      };
      await expect(operations.onProcess(call, group)).rejects.toMatchObject({ code: 'lease_lost' });
      expect(await stored(bench, fence)).toMatchObject({ status: undefined, results: [] });
    });
  });

  it('that end after the claim was lost are kept beside the history and count for nothing', async () => {
    await withRun(async ({ bench, itemId, fence, operations }) => {
      await operations.operationStart(call);
      await bench.commands.cancel({ itemId });
      await operations.operationEnd(call, outcome);
      expect(await stored(bench, fence)).toEqual({ status: 'applied', late: 'edited a.txt', results: [] });
    });
  });
});
