/**
 * Executes one claimed Run to its end: workspace, prompt, loop, outcome.
 *
 * 1. Everything the Run writes is written under its fence; when that is lost the work is aborted and nothing is ended.
 * 2. The Run ends in exactly one transaction, after its tools have stopped.
 * 3. Input that arrives while the Run ends is taken up first: the loop goes on from its own history.
 */
import { realpath } from 'node:fs/promises';
import {
  createRunControl,
  type EngineEvent,
  type EngineTools,
  type ResumeState,
  type RunEnd,
  runEngine,
} from '@stint/engine';
import { appendEntries, type JournaledState, unresolved } from '@stint/journal';
import { hookModel, type HistoryEntry, type HookedModel } from '@stint/provider-hooks';
import { closeAccount } from '@stint/ledger';
import type { Context, Transaction } from '@stint/storage';
import { createRegistry, type Tool, workspaceTools } from '@stint/tools';
import {
  checkRunFence,
  type ClaimedAction,
  endRun,
  type EndRunResult,
  listRuns,
  releaseWorkspace,
  type RunEnding,
} from '@stint/work-items';
import { actionPrompt, actionSystemPrompt } from './action-prompt.js';
import { askHumanTool, type OutcomeCollector, submitOutcomeTool } from './action-tools.js';
import { accountOf } from './account.js';
import { errorFacts } from './error-facts.js';
import { CoordinatorError } from './errors.js';
import { type Services, watchOptions } from './options.js';
import type { OutcomeDuty } from './outcome.js';
import { contractOf } from './plan-view.js';
import { runEndingOf, temporaryRefusal, unstartedEnding } from './run-ending.js';
import { chainState } from './run-history.js';
import { createRunInputs, type RunInputs } from './run-inputs.js';
import { createRunOperations, type RunOperations } from './run-operations.js';
import { settleDangling } from './settle-dangling.js';
import { createTurnHooks } from './turn-hooks.js';
import { type ClaimWatch, watchRun } from './watch-claim.js';

/** Runs a claimed Action until the Run has ended, here or elsewhere. Throws only what the store throws. */
export async function runAction(services: Services, claimed: ClaimedAction, signal: AbortSignal): Promise<void> {
  const lease = watchRun(watchOptions(services), claimed.fence);
  try {
    const run = await openRun(services, claimed, AbortSignal.any([signal, lease.signal])).catch((error: unknown) => ({
      error,
    }));
    if ('error' in run) await endUnstarted(services, claimed, run.error);
    else await driveToEnd(services, claimed, run);
  } finally {
    await letGo(services, claimed, lease);
  }
}

/** All that the loop of one Run needs. */
interface OpenRun {
  readonly model: HookedModel;
  readonly collector: OutcomeCollector;
  readonly tools: EngineTools;
  readonly operations: RunOperations;
  readonly inputs: RunInputs;
  readonly prompt: string;
  readonly state: JournaledState | undefined;
  readonly signal: AbortSignal;
}

async function openRun(services: Services, claimed: ClaimedAction, signal: AbortSignal): Promise<OpenRun> {
  const { db, gate } = services;
  const { item, fence } = claimed;
  const collector: OutcomeCollector = { outcome: null, control: createRunControl() };
  const operations = createRunOperations({ db, fence, gate });
  const inputs = createRunInputs({ db, fence, collector });
  const hooks = createTurnHooks({
    db,
    gate,
    inputs,
    owner: { kind: 'run', id: fence.runId },
    fence: (ctx) => checkRunFence(ctx, fence),
    pricing: services.pricing,
    budget: budgetOf(claimed),
  });
  const model = hookModel(await services.resolveModel({ item, purpose: 'action' }), hooks);
  const tools = operations.observe(createRegistry(await toolsOf(services, claimed, collector)));
  const state = await db.read((ctx) => chainState(ctx, claimed.run));
  return { model, collector, tools, operations, inputs, prompt: promptOf(claimed), state, signal };
}

function budgetOf({ item, action, run }: ClaimedAction) {
  const attempt = { subject: action.id, run: run.attemptId, maxAttempts: item.maxAttempts };
  return { account: accountOf(item.id), kind: 'action', run: run.id, attempt } as const;
}

async function toolsOf(
  services: Services,
  claimed: ClaimedAction,
  collector: OutcomeCollector,
): Promise<readonly Tool[]> {
  const { item, action } = claimed;
  const more = services
    .tools({ item, action })
    .filter((tool) => action.workspaceMode === 'shared' || tool.readOnly === true);
  return [
    ...(await builtInTools(services, claimed)),
    ...more,
    submitOutcomeTool(collector, dutyOf(claimed)),
    askHumanTool(collector),
  ];
}

/** Read mode offers no tool that writes and no shell. The directory must still be the one that was pinned at creation. */
async function builtInTools(services: Services, { item, action }: ClaimedAction): Promise<readonly Tool[]> {
  if (item.workDir === null) return [];
  const found = await realpath(item.workDir).catch(() => null);
  if (found !== item.workDir)
    throw new CoordinatorError(
      'workspace_moved',
      `The work directory ${item.workDir} is gone or leads elsewhere now; restore it and retry.`,
    );
  return workspaceTools({
    root: item.workDir,
    mode: action.workspaceMode === 'shared' ? 'write' : 'read',
    ...(services.dataDir !== undefined && { dataDir: services.dataDir }),
    ...(services.toolEnvironment !== undefined && { environment: services.toolEnvironment }),
  });
}

function dutyOf({ item, action }: ClaimedAction): OutcomeDuty {
  return {
    kind: action.kind,
    criterionIds: item.acceptanceCriteria.map((criterion) => criterion.id),
    deliveryTarget: item.deliveryTarget,
  };
}

function promptOf({ item, action, dependencies }: ClaimedAction): string {
  const { slug, kind, objective, approach, expectedResult } = action;
  const workspace = item.workDir === null ? 'none' : action.workspaceMode;
  const results = dependencies.flatMap(({ slug: of, outcome }) => (outcome === null ? [] : [{ slug: of, outcome }]));
  return actionPrompt({
    slug,
    kind,
    workspace,
    objective,
    approach,
    expectedResult,
    contract: contractOf(item),
    dependencies: results,
  });
}

/** Loops until the Run has ended or was found to be ended elsewhere. */
async function driveToEnd(services: Services, claimed: ClaimedAction, run: OpenRun): Promise<void> {
  let state: ResumeState | undefined = run.state;
  for (;;) {
    const end = await runLoop(services, claimed, run, state);
    services.gate('outcome:before');
    const result = await finishRun(services, claimed, { run, end });
    services.gate('outcome:after');
    if (result === null || result.ended || result.reason === 'stale') return;
    run.collector.outcome = null;
    state = { entries: end.entries, turnNumber: end.turnNumber };
  }
}

async function runLoop(
  services: Services,
  claimed: ClaimedAction,
  run: OpenRun,
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
    signal: run.signal,
    retry: services.retry,
    limits: services.limits,
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

interface Finish {
  readonly run: OpenRun;
  readonly end: RunEnd;
}

/** One transaction ends Run and Action. Null: there was nothing to end, the lease was lost. */
async function finishRun(services: Services, claimed: ClaimedAction, finish: Finish): Promise<EndRunResult | null> {
  return await services.db.write((ctx) => finishBody(ctx, claimed, finish));
}

function* finishBody(
  ctx: Context,
  { fence, action }: ClaimedAction,
  { run, end }: Finish,
): Transaction<EndRunResult | null> {
  if (!(yield* checkRunFence(ctx, fence))) return null;
  yield* settleDangling(ctx, { kind: 'run', id: fence.runId });
  const refusalsInARow = yield* countRefusals(ctx, action.id);
  const { operations } = yield* unresolved(ctx, { kind: 'run', id: fence.runId });
  const unknownOperations = operations.map(({ id }) => ({ kind: 'operation' as const, id }));
  const { outcome } = run.collector;
  const ending = runEndingOf({ end, outcome, refusalsInARow, unknownOperations, now: ctx.now });
  if (ending === null) return null;
  const result = yield* endRun(ctx, fence, ending);
  if (result.ended && result.completedItem) yield* closeAccount(ctx, accountOf(fence.itemId));
  return result;
}

/** How many of the newest ended Runs of an Action were deferred by a temporary refusal, without another end between. */
function* countRefusals(ctx: Context, actionId: string): Transaction<number> {
  const ended = (yield* listRuns(ctx, actionId)).filter((run) => run.status !== 'running').toReversed();
  const other = ended.findIndex((run) => run.status !== 'deferred' || run.reason?.code !== temporaryRefusal);
  return other === -1 ? ended.length : other;
}

async function endUnstarted(services: Services, { fence }: ClaimedAction, error: unknown): Promise<void> {
  services.log({ level: 'error', message: 'A Run could not be prepared', runId: fence.runId, ...errorFacts(error) });
  const ending: RunEnding = unstartedEnding(error);
  await services.db.write((ctx) => endRun(ctx, fence, ending));
}

/** The tools have stopped: a hold that a cancelled Run left behind may go. */
async function letGo(services: Services, { fence }: ClaimedAction, lease: ClaimWatch): Promise<void> {
  lease.close();
  await services.db.write((ctx) => releaseWorkspace(ctx, fence.runId));
}
