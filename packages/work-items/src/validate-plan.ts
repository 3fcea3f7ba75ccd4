import { isUnfinished, satisfiesDependents } from './action-transitions.js';
import { workItemLimits as limits } from './limits.js';
import { addedBy, canonicalMutation, planAfter } from './plan-after.js';
import { checkGate, checkReviews, findCycle } from './plan-graph.js';
import type { PlanMutation, PlannedAction, PlanNode, PlanViolation, ReportViolation } from './plan-types.js';
import { byteLength } from './text.js';

export interface PlanValidation {
  /** Empty: the mutations may be applied. */
  readonly violations: readonly PlanViolation[];
  /** The mutations with canonical slugs, in their order. */
  readonly mutations: readonly PlanMutation[];
  /** The plan as it would be: new Actions are blocked, replaced ones superseded. */
  readonly plan: readonly PlanNode[];
}

/**
 * Judges mutations against the plan they change. Pure. Slugs are brought to canonical form first (trimmed, lower case)
 * and compared then, so that two spellings of one name are one name.
 */
export function validatePlan(input: {
  readonly actions: readonly PlanNode[];
  readonly mutations: readonly PlanMutation[];
  readonly hasWorkDir: boolean;
  /** The Coordinator has asked a person who has not answered yet. */
  readonly asked: boolean;
}): PlanValidation {
  const mutations = input.mutations.map(canonicalMutation);
  const found: PlanViolation[] = [];
  const report: ReportViolation = (rule, action, message) => {
    found.push({ rule, action, message });
  };
  checkTargets(input.actions, mutations, report);
  checkAdded(input.actions, mutations, report);
  const plan = planAfter(input.actions, mutations);
  checkSizes(plan, mutations, report);
  checkDependencies(plan, report);
  const cycle = findCycle(plan);
  if (cycle !== null) report('cycle', cycle[0] ?? null, `Dependencies go in a circle: ${cycle.join(' -> ')}`);
  else checkGate(plan, report);
  checkReviews(plan, report);
  if (!input.hasWorkDir) checkModes(mutations, report);
  checkMovement(plan, input.asked, report);
  return { violations: found, mutations, plan };
}

/** Every mutation of an existing Action names one that may still move, and no Action is changed twice. */
function checkTargets(actions: readonly PlanNode[], mutations: readonly PlanMutation[], report: ReportViolation): void {
  const known = new Map(actions.map((action) => [action.slug, action]));
  const changed = new Set<string>();
  for (const mutation of mutations) {
    if (mutation.op === 'add') continue;
    const action = known.get(mutation.id);
    if (action === undefined) {
      report('unknown_action', mutation.id, `${mutation.op}: the plan has no Action "${mutation.id}"`);
    } else if (!isUnfinished(action.status)) {
      report(
        'action_finished',
        mutation.id,
        `${mutation.op}: "${mutation.id}" is ${action.status} and never moves again`,
      );
    } else if (mutation.op === 'patch_dependencies' && (action.status === 'running' || action.status === 'waiting')) {
      report('action_finished', mutation.id, `"${mutation.id}" has begun (${action.status}); its dependencies stay`);
    }
    if (changed.has(mutation.id))
      report('changed_twice', mutation.id, `"${mutation.id}" is changed twice in one decision`);
    changed.add(mutation.id);
  }
}

const slugFormat = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

function checkAdded(actions: readonly PlanNode[], mutations: readonly PlanMutation[], report: ReportViolation): void {
  const used = new Set(actions.map((action) => action.slug));
  for (const action of addedBy(mutations)) {
    if (!slugFormat.test(action.id) || action.id.length > limits.slugLength) {
      const message = `"${action.id.slice(0, 80)}" is no slug; use lower case words joined by hyphens, at most ${limits.slugLength} characters`;
      report('slug_format', action.id.slice(0, 80), message);
    }
    if (used.has(action.id))
      report('slug_used', action.id, `"${action.id}" was used before in this item; choose a new slug`);
    used.add(action.id);
    for (const field of ['objective', 'approach', 'expectedResult'] as const) checkText(action, field, report);
  }
}

/** Words that fill a field without saying anything. */
const placeholders = new Set([
  'tbd',
  'todo',
  'na',
  'none',
  'same',
  'asabove',
  'seeabove',
  'unknown',
  'nothing',
  'x',
  'xxx',
]);

function checkText(
  action: PlannedAction,
  field: 'objective' | 'approach' | 'expectedResult',
  report: ReportViolation,
): void {
  const value = action[field];
  const letters = value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  if (letters === '' || placeholders.has(letters)) {
    report('specific_text', action.id, `${field} of "${action.id}" says nothing specific; state it in a sentence`);
  } else if (byteLength(value) > limits.briefBytes) {
    report(
      'specific_text',
      action.id,
      `${field} of "${action.id}" is ${byteLength(value)} bytes; at most ${limits.briefBytes}`,
    );
  }
}

function checkSizes(plan: readonly PlanNode[], mutations: readonly PlanMutation[], report: ReportViolation): void {
  const added = addedBy(mutations).length;
  if (added > limits.addedActionsPerDecision) {
    report(
      'too_many_added',
      null,
      `${added} Actions are added; at most ${limits.addedActionsPerDecision} per decision`,
    );
  }
  const unfinished = plan.filter((node) => isUnfinished(node.status)).length;
  if (unfinished > limits.unfinishedActionCount) {
    report(
      'too_many_unfinished',
      null,
      `${unfinished} Actions would be unfinished; at most ${limits.unfinishedActionCount}`,
    );
  }
  if (plan.length > limits.actionCount) {
    report(
      'too_many_actions',
      null,
      `${plan.length} Actions in all; past ${limits.actionCount} ask for a follow-up item`,
    );
  }
}

function checkDependencies(plan: readonly PlanNode[], report: ReportViolation): void {
  const known = new Map(plan.map((node) => [node.slug, node]));
  for (const node of plan) {
    if (!isUnfinished(node.status)) continue;
    if (node.dependencies.length > limits.dependencyCount) {
      report('too_many_dependencies', node.slug, `"${node.slug}" has more than ${limits.dependencyCount} dependencies`);
    }
    if (new Set(node.dependencies).size !== node.dependencies.length) {
      report('dependency_twice', node.slug, `"${node.slug}" names a dependency twice`);
    }
    for (const slug of node.dependencies) checkDependency(node, slug, known.get(slug), report);
  }
}

function checkDependency(node: PlanNode, slug: string, target: PlanNode | undefined, report: ReportViolation): void {
  if (target === undefined) {
    report('unknown_dependency', node.slug, `"${node.slug}" depends on "${slug}", which the plan does not have`);
  } else if (!isUnfinished(target.status) && !satisfiesDependents(target.status)) {
    const message = `"${node.slug}" depends on "${slug}", which is ${target.status}; patch its dependencies`;
    report('dead_dependency', node.slug, message);
  }
}

function checkModes(mutations: readonly PlanMutation[], report: ReportViolation): void {
  for (const action of addedBy(mutations)) {
    if (action.workspaceMode !== 'shared') continue;
    report('shared_without_directory', action.id, `"${action.id}" edits a directory, but the item has none; use read`);
  }
}

/** After the decision nothing that failed is left in the way, and something is ready, running or asked. */
function checkMovement(plan: readonly PlanNode[], asked: boolean, report: ReportViolation): void {
  for (const node of plan) {
    if (node.status !== 'failed') continue;
    report('failed_left', node.slug, `"${node.slug}" has failed and is left as it is; replace or close it`);
  }
  const settled = new Set(plan.filter((node) => satisfiesDependents(node.status)).map((node) => node.slug));
  const moves = plan.some(
    (node) =>
      node.status === 'running' ||
      node.status === 'waiting' ||
      ((node.status === 'ready' || node.status === 'blocked') && node.dependencies.every((slug) => settled.has(slug))),
  );
  if (!moves && !asked) report('nothing_moves', null, 'After this decision nothing can run and nobody is asked');
}
