/**
 * Executes one claimed Run to its end: workspace, prompt, loop, outcome.
 *
 * 1. Everything the Run writes is written under its fence; when that is lost the work is aborted and nothing is ended.
 * 2. The Run ends in exactly one transaction, after its tools have stopped.
 * 3. Input that arrives while the Run ends is taken up first: the loop goes on from its own history.
 */
import { type EngineEvent, type ResumeState, type RunEnd, runEngine } from '@stint/engine';
import { appendEntries } from '@stint/journal';
import type { HistoryEntry } from '@stint/provider-hooks';
import { isStoreError } from '@stint/storage';
import { checkRunFence, type ClaimedAction, releaseWorkspace } from '@stint/work-items';
import { actionSystemPrompt } from './action-prompt.js';
import { errorFacts } from './error-facts.js';
import { endUnstarted, finishRun } from './finish-run.js';
import { type OpenRun, openRun } from './open-run.js';
import { type Services, watchOptions } from './options.js';
import { watchRun } from './watch-claim.js';

/** Runs a claimed Action until the Run has ended, here or elsewhere. Throws only what the store throws. */
export async function runAction(services: Services, claimed: ClaimedAction, stop: AbortSignal): Promise<void> {
  const watch = watchRun(watchOptions(services), claimed.fence);
  try {
    const run = await openSafely(services, claimed);
    if (run !== null) await driveToEnd(services, claimed, { run, signal: AbortSignal.any([stop, watch.signal]) });
  } finally {
    watch.close();
    // The tools have stopped: a hold that a cancelled Run left behind may go.
    await services.db.write((ctx) => releaseWorkspace(ctx, claimed.fence.runId));
  }
}

/** The opened Run; null if it could not be opened and has ended therefore. */
async function openSafely(services: Services, claimed: ClaimedAction): Promise<OpenRun | null> {
  try {
    return await openRun(services, claimed);
  } catch (error) {
    if (isStoreError(error)) throw error;
    services.log({
      level: 'error',
      message: 'A Run could not be prepared',
      runId: claimed.fence.runId,
      ...errorFacts(error),
    });
    await services.db.write((ctx) => endUnstarted(ctx, claimed.fence, error));
    return null;
  }
}

interface Drive {
  readonly run: OpenRun;
  readonly signal: AbortSignal;
}

/** Loops until the Run has ended or was found to be ended elsewhere. */
async function driveToEnd(services: Services, claimed: ClaimedAction, drive: Drive): Promise<void> {
  const { run } = drive;
  let state: ResumeState | undefined = run.state;
  for (;;) {
    const end = await runLoop(services, claimed, drive, state);
    services.gate('outcome:before');
    const { outcome } = run.collector;
    const { settleOperations } = run.operations;
    const result = await services.db.write((ctx) => finishRun(ctx, claimed, { end, outcome, settleOperations }));
    services.gate('outcome:after');
    if (result === null || result.ended || result.reason === 'stale') return;
    run.collector.outcome = null;
    state = { entries: end.entries, turnNumber: end.turnNumber };
  }
}

async function runLoop(
  services: Services,
  claimed: ClaimedAction,
  { run, signal }: Drive,
  state: ResumeState | undefined,
): Promise<RunEnd> {
  const { item, action, fence } = claimed;
  const events = runEngine({
    model: run.model,
    system: actionSystemPrompt,
    tools: run.tools,
    control: run.collector.control,
    toolContext: (call) => ({
      gate: services.gate,
      onProcess: (record) => run.operations.onProcess(call, record),
      ...(item.workDir !== null && { workspace: { root: item.workDir } }),
    }),
    signal,
    retry: services.retry,
    limits: services.limits,
    ports: { now: services.clock },
    ...(state === undefined ? { prompt: run.prompt } : { resume: state }),
    drainInput: () => run.inputs.drain(),
    closePendingInput: () => run.inputs.close(),
    operationStart: (call) => run.operations.operationStart(call),
    operationEnd: (call, outcome) => run.operations.operationEnd(call, outcome),
    appendEntries: (entries) => keepEntries(services, claimed, entries),
  });
  const progress = { itemId: item.id, actionId: action.id, runId: fence.runId };
  const seen = streamingGate(services.gate);
  for await (const event of events) {
    seen(event);
    services.onProgress({ ...progress, event });
    if (event.type === 'run-end') return event;
  }
  throw new TypeError('The loop ended without its terminal event');
}

/** Passes `turn:streaming` at the first piece of each answer. */
function streamingGate(gate: Services['gate']): (event: EngineEvent) => void {
  let open = false;
  return ({ type }) => {
    if (type === 'turn-start') open = true;
    if (!open || (type !== 'text-delta' && type !== 'reasoning-delta')) return;
    open = false;
    gate('turn:streaming');
  };
}

async function keepEntries(
  { db }: Services,
  { fence }: ClaimedAction,
  entries: readonly HistoryEntry[],
): Promise<void> {
  await db.write(function* (ctx) {
    if (yield* checkRunFence(ctx, fence)) yield* appendEntries(ctx, { kind: 'run', id: fence.runId }, entries);
  });
}
