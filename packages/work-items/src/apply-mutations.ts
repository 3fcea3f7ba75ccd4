import { createHash } from 'node:crypto';
import { type Context, run, type Transaction } from '@stint/storage';
import { isUnfinished } from './action-transitions.js';
import { writeEvent } from './events.js';
import { endAction, relockActions } from './move-action.js';
import type { PlannedAction, PlanMutation } from './plan-types.js';
import type { Action, WorkItem } from './records.js';
import { canonicalJson } from './text.js';
import type { PlanValidation } from './validate-plan.js';

const insertAction = `INSERT INTO work_actions (id, item_id, slug, ordinal, kind, status, objective, approach,
  expected_result, dependencies, workspace_mode, checkpoint, generation, spec_hash, lease_epoch, attempts, created_at,
  updated_at) VALUES (?, ?, ?, ?, ?, 'blocked', ?, ?, ?, ?, ?, ?, 1, ?, 0, 0, ?, ?)`;
const updateDependencies = `UPDATE work_actions SET dependencies = ?, generation = generation + 1, spec_hash = ?,
  resume_run_id = NULL, open_attempt_id = NULL, updated_at = ? WHERE id = ?`;
const raisePlanRevision = 'UPDATE work_items SET plan_revision = plan_revision + 1, updated_at = ? WHERE id = ?';

/** Identity of what an Action is to do. A result, a journal and an input belong to one identity. */
export function specHash(spec: Omit<PlannedAction, 'id' | 'checkpoint'>): string {
  const { kind, objective, approach, expectedResult, dependencies, workspaceMode } = spec;
  const text = canonicalJson({ kind, objective, approach, expectedResult, dependencies, workspaceMode });
  return createHash('sha256').update(text).digest('hex');
}

/** Writes mutations that were found valid; item and Actions are locked. Nothing happens for an empty list. */
export function* applyMutations(
  ctx: Context,
  item: WorkItem,
  { actions, validation }: { readonly actions: readonly Action[]; readonly validation: PlanValidation },
): Transaction<void> {
  if (validation.mutations.length === 0) return;
  const planned = new Map(validation.plan.map((node) => [node.slug, node.dependencies]));
  let ordinal = actions.length;
  for (const mutation of validation.mutations) {
    yield* endTarget(ctx, actions, mutation);
    if (!('action' in mutation)) continue;
    const dependencies = planned.get(mutation.action.id) ?? mutation.action.dependencies;
    yield* insertPlanned(ctx, item, { action: { ...mutation.action, dependencies }, ordinal });
    ordinal += 1;
  }
  yield* writeDependencies(ctx, actions, validation);
  yield* run(raisePlanRevision, [ctx.now, item.id]);
  const text = validation.mutations.map(describe).join(', ');
  yield* writeEvent(ctx, { itemId: item.id, type: 'plan.changed', text });
  yield* relockActions(ctx, item.id);
}

function* endTarget(ctx: Context, actions: readonly Action[], mutation: PlanMutation): Transaction<void> {
  if (mutation.op === 'add' || mutation.op === 'patch_dependencies') return;
  const target = actions.find((action) => action.slug === mutation.id);
  if (target === undefined) return;
  const on = mutation.op === 'close' ? 'close' : 'supersede';
  const reason = mutation.op === 'replace' ? `Replaced by ${mutation.action.id}` : mutation.reason;
  yield* endAction(ctx, target, { on, by: 'coordinator', reason });
}

function* insertPlanned(
  ctx: Context,
  item: WorkItem,
  { action, ordinal }: { readonly action: PlannedAction; readonly ordinal: number },
): Transaction<void> {
  yield* run(insertAction, [
    `${item.id}/${action.id}`,
    item.id,
    action.id,
    ordinal,
    action.kind,
    action.objective,
    action.approach,
    action.expectedResult,
    JSON.stringify(action.dependencies),
    action.workspaceMode,
    action.checkpoint ? 1 : 0,
    specHash(action),
    ctx.now,
    ctx.now,
  ]);
}

/** Stores the dependencies that the plan ends up with, patched or pointed at a replacement: a new generation each. */
function* writeDependencies(ctx: Context, actions: readonly Action[], { plan }: PlanValidation): Transaction<void> {
  const before = new Map(actions.map((action) => [action.slug, action]));
  for (const node of plan) {
    const action = before.get(node.slug);
    if (action === undefined || !isUnfinished(node.status)) continue;
    if (JSON.stringify(action.dependencies) === JSON.stringify(node.dependencies)) continue;
    const { dependencies } = node;
    const hash = specHash({ ...action, dependencies });
    yield* run(updateDependencies, [JSON.stringify(dependencies), hash, ctx.now, action.id]);
  }
}

function describe(mutation: PlanMutation): string {
  if (mutation.op === 'add') return `add ${mutation.action.id}`;
  if (mutation.op === 'replace') return `replace ${mutation.id} by ${mutation.action.id}`;
  return `${mutation.op} ${mutation.id}`;
}
