import { createHash } from 'node:crypto';
import type { EngineToolCall, EngineTools, OperationOutcome } from '@stint/engine';
import {
  endOperation,
  type OperationKey,
  readOperations,
  recordLateResult,
  setOperationProcess,
  startOperation,
  type TurnOwner,
} from '@stint/journal';
import type { Context, Database, Gate, Transaction } from '@stint/storage';
import type { CallContext, PreparedCall, ProcessRecord, ToolResult } from '@stint/tools';
import { checkRunFence, type RunFence } from '@stint/work-items';
import { claimLost } from './watch-claim.js';

/** The journal's side of a Run's tool calls: a row before each effect, its end and result after, all under the fence. */
export interface RunOperations {
  /** Before a side-effecting call. Throws `lease_lost`: the call is not run. */
  operationStart(call: EngineToolCall): Promise<void>;
  /** After it. What came after the lease was lost is kept beside the history and counts for nothing. */
  operationEnd(call: EngineToolCall, outcome: OperationOutcome): Promise<void>;
  /** Stores the ends that `operationEnd` could not store: the store failed, but what the tools did is known here. */
  readonly settleOperations: (ctx: Context) => Transaction<void>;
  /** Before a command of a call begins: its process group is stored, so that a crash cannot leave it running. */
  onProcess(call: EngineToolCall, process: ProcessRecord): Promise<void>;
  /** Wraps tools so that calls without operation reach their gate points too. */
  observe(tools: EngineTools): EngineTools;
}

export interface RunOperationsOptions {
  readonly db: Database;
  readonly fence: RunFence;
  readonly gate: Gate;
}

export function createRunOperations({ db, fence, gate }: RunOperationsOptions): RunOperations {
  const owner: TurnOwner = { kind: 'run', id: fence.runId };
  const unstored = new Set<KnownEnd>();
  return {
    async operationStart(call) {
      gate('tool:before');
      const key = keyOf(call);
      const { toolCallId, tool } = call;
      const input = { ...key, owner, toolCallId, tool, inputHash: hashOf(call.input) };
      if (!(await db.write((ctx) => underFence(ctx, fence, () => startOperation(ctx, input))))) throw claimLost();
      gate('operation:started');
    },
    async operationEnd(call, { result, effect, entry }) {
      gate('operation:done');
      const key = keyOf(call);
      const known: KnownEnd = { key, effect, entry };
      unstored.add(known);
      await db.write(function* (ctx) {
        const kept = yield* underFence(ctx, fence, () => endOperation(ctx, key, { effect, entry }));
        if (!kept) yield* keepLate(ctx, key, { effect, output: result.output });
      });
      unstored.delete(known);
      gate('tool:after');
    },
    *settleOperations(ctx) {
      for (const { key, effect, entry } of unstored) {
        if (yield* isRunning(ctx, key)) yield* endOperation(ctx, key, { effect, entry });
      }
    },
    async onProcess(call, record) {
      const group = { ...record };
      const kept = await db.write((ctx) => underFence(ctx, fence, () => setOperationProcess(ctx, keyOf(call), group)));
      if (!kept) throw claimLost();
    },
    observe: (tools) => ({
      definitions: () => tools.definitions(),
      async prepare(name, input) {
        const prepared = await tools.prepare(name, input);
        if ('refused' in prepared || prepared.call.hasExternalEffect) return prepared;
        return { call: { ...prepared.call, run: (context) => runObserved(prepared.call, context, gate) } };
      },
    }),
  };
}

/** What a call did and said, kept until it is stored. */
interface KnownEnd {
  readonly key: OperationKey;
  readonly effect: OperationOutcome['effect'];
  readonly entry: OperationOutcome['entry'];
}

async function runObserved(call: PreparedCall, context: CallContext, gate: Gate): Promise<ToolResult> {
  gate('tool:before');
  const running = call.run(context);
  gate('tool:during');
  const result = await running;
  gate('tool:after');
  return result;
}

/** The effect is a fact, if nobody has judged it yet; the result is kept beside the history, of which it is no part. */
function* keepLate(
  ctx: Context,
  key: OperationKey,
  { effect, output }: { readonly effect: OperationOutcome['effect']; readonly output: string },
): Transaction<void> {
  if (yield* isRunning(ctx, key)) yield* endOperation(ctx, key, { effect });
  yield* recordLateResult(ctx, key, output);
}

function* isRunning(ctx: Context, { turnId, callIndex }: OperationKey): Transaction<boolean> {
  const operations = yield* readOperations(ctx, turnId);
  return operations.some((operation) => operation.callIndex === callIndex && operation.status === 'running');
}

/** Runs the body if the Run is still the current one. Answers whether it was. */
function* underFence(ctx: Context, fence: RunFence, body: () => Transaction<unknown>): Transaction<boolean> {
  if (!(yield* checkRunFence(ctx, fence))) return false;
  yield* body();
  return true;
}

function keyOf(call: EngineToolCall): OperationKey {
  if (call.turnId === null)
    throw new TypeError(`Call ${call.toolCallId} of ${call.tool} has no turn to be journaled under`);
  return { turnId: call.turnId, callIndex: call.callIndex };
}

function hashOf(input: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(input) ?? 'null')
    .digest('hex');
}
