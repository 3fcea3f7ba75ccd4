import { isUnfinished } from './action-transitions.js';
import type { PlanMutation, PlannedAction, PlanNode } from './plan-types.js';

/** The canonical form of a slug. */
function canonicalSlug(slug: string): string {
  return slug.normalize('NFKC').trim().toLowerCase();
}

/** The mutation with canonical slugs. */
export function canonicalMutation(mutation: PlanMutation): PlanMutation {
  if (mutation.op === 'add') return { op: 'add', action: canonicalAction(mutation.action) };
  const id = canonicalSlug(mutation.id);
  if (mutation.op === 'replace') return { op: 'replace', id, action: canonicalAction(mutation.action) };
  if (mutation.op !== 'patch_dependencies') return { ...mutation, id };
  return { op: mutation.op, id, dependencies: mutation.dependencies.map(canonicalSlug) };
}

function canonicalAction(action: PlannedAction): PlannedAction {
  return { ...action, id: canonicalSlug(action.id), dependencies: action.dependencies.map(canonicalSlug) };
}

/** The Actions that the mutations add, replacements included. */
export function addedBy(mutations: readonly PlanMutation[]): readonly PlannedAction[] {
  return mutations.flatMap((mutation) => ('action' in mutation ? [mutation.action] : []));
}

/** The plan after the mutations. Mutations that name nothing known change nothing here; they are reported elsewhere. */
export function planAfter(actions: readonly PlanNode[], mutations: readonly PlanMutation[]): readonly PlanNode[] {
  const plan = new Map(actions.map((action) => [action.slug, action]));
  const replacedBy = new Map<string, string>();
  for (const mutation of mutations) {
    if ('action' in mutation && !plan.has(mutation.action.id)) {
      plan.set(mutation.action.id, nodeOf(mutation.action));
    }
    if (mutation.op === 'add') continue;
    const target = plan.get(mutation.id);
    if (target === undefined || !isUnfinished(target.status)) continue;
    plan.set(mutation.id, changedNode(target, mutation));
    if (mutation.op === 'replace') replacedBy.set(mutation.id, mutation.action.id);
  }
  return [...plan.values()].map((node) => (isUnfinished(node.status) ? repointed(node, replacedBy) : node));
}

function nodeOf(action: PlannedAction): PlanNode {
  const { kind, dependencies, workspaceMode, checkpoint } = action;
  return { slug: action.id, kind, status: 'blocked', dependencies, workspaceMode, checkpoint };
}

function changedNode(node: PlanNode, mutation: Exclude<PlanMutation, { op: 'add' }>): PlanNode {
  switch (mutation.op) {
    case 'replace':
    case 'supersede':
      return { ...node, status: 'superseded' };
    case 'close':
      return { ...node, status: 'closed' };
    case 'patch_dependencies':
      return { ...node, dependencies: mutation.dependencies };
  }
}

function repointed(node: PlanNode, replacedBy: ReadonlyMap<string, string>): PlanNode {
  if (!node.dependencies.some((slug) => replacedBy.has(slug))) return node;
  const dependencies = node.dependencies.map((slug) => replacedBy.get(slug) ?? slug);
  return { ...node, dependencies: [...new Set(dependencies)] };
}
