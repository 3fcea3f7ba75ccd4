import { realpath } from 'node:fs/promises';
import { createRunControl, type EngineTools } from '@stint/engine';
import type { JournaledState } from '@stint/journal';
import { hookModel, type HookedModel } from '@stint/provider-hooks';
import { createRegistry, type Tool, workspaceTools } from '@stint/tools';
import { checkRunFence, type ClaimedAction } from '@stint/work-items';
import { accountOf } from './account.js';
import { actionPrompt } from './action-prompt.js';
import { askHumanTool, type OutcomeCollector, submitOutcomeTool } from './action-tools.js';
import { CoordinatorError } from './errors.js';
import type { Services } from './options.js';
import type { OutcomeDuty } from './outcome.js';
import { contractOf } from './plan-view.js';
import { chainState } from './run-history.js';
import { createRunInputs, type RunInputs } from './run-inputs.js';
import { createRunOperations, type RunOperations } from './run-operations.js';
import { createTurnHooks } from './turn-hooks.js';

/** All that the loop of one Run needs. */
export interface OpenRun {
  readonly model: HookedModel;
  readonly collector: OutcomeCollector;
  readonly tools: EngineTools;
  readonly operations: RunOperations;
  readonly inputs: RunInputs;
  readonly prompt: string;
  readonly state: JournaledState | undefined;
}

/**
 * Prepares a Run: model with its hooks, tools by workspace mode, prompt, and what its journal holds already.
 * @throws CoordinatorError `workspace_moved`, StoreError, and what `resolveModel` throws
 */
export async function openRun(services: Services, claimed: ClaimedAction): Promise<OpenRun> {
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
    pastAnswersOf: services.pastAnswersOf,
    log: services.log,
    budget: budgetOf(claimed),
  });
  const model = hookModel(await services.resolveModel({ item, purpose: 'action' }), hooks);
  const tools = operations.observe(createRegistry(await toolsOf(services, claimed, collector)));
  const state = await db.read((ctx) => chainState(ctx, claimed.run));
  return { model, collector, tools, operations, inputs, prompt: promptOf(claimed), state };
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
