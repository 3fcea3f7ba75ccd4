import { isUnfinished } from './action-transitions.js';
import type { PlanNode, ReportViolation } from './plan-types.js';

/** A circle among unfinished Actions, as slugs in order; null if there is none. */
export function findCycle(plan: readonly PlanNode[]): readonly string[] | null {
  const nodes = new Map(plan.filter((node) => isUnfinished(node.status)).map((node) => [node.slug, node]));
  const done = new Set<string>();
  for (const start of nodes.keys()) {
    const circle = circleFrom(start, nodes, done, []);
    if (circle !== null) return circle;
  }
  return null;
}

function circleFrom(
  slug: string,
  nodes: ReadonlyMap<string, PlanNode>,
  done: Set<string>,
  path: readonly string[],
): readonly string[] | null {
  const seenAt = path.indexOf(slug);
  if (seenAt >= 0) return [...path.slice(seenAt), slug];
  const node = nodes.get(slug);
  if (node === undefined || done.has(slug)) return null;
  for (const dependency of node.dependencies) {
    const circle = circleFrom(dependency, nodes, done, [...path, slug]);
    if (circle !== null) return circle;
  }
  done.add(slug);
  return null;
}

/**
 * Among unfinished Actions exactly one has no dependents, and it is a deliver or a review: all leads to it. Until the
 * gate is planned every end is a checkpoint, whose settling brings the rest of the plan.
 */
export function checkGate(plan: readonly PlanNode[], report: ReportViolation): void {
  const unfinished = plan.filter((node) => isUnfinished(node.status));
  const needed = new Set(unfinished.flatMap((node) => node.dependencies));
  for (const node of unfinished) {
    if (node.kind === 'deliver' && needed.has(node.slug)) {
      report('final_gate', node.slug, `"${node.slug}" delivers, so nothing may depend on it`);
    }
  }
  const ends = unfinished.filter((node) => !needed.has(node.slug));
  if (ends.every((node) => node.checkpoint)) return;
  if (ends.length !== 1) {
    const names = ends.map((node) => `"${node.slug}"`).join(', ');
    report(
      'final_gate',
      null,
      `The plan ends in ${ends.length} Actions (${names}); all must lead to exactly one final gate`,
    );
  } else if (ends[0]?.kind === 'work') {
    report(
      'final_gate',
      ends[0].slug,
      `The plan ends in "${ends[0].slug}", a work Action; end it in a deliver or a review`,
    );
  }
}

/** A review judges something that was edited. */
export function checkReviews(plan: readonly PlanNode[], report: ReportViolation): void {
  const nodes = new Map(plan.map((node) => [node.slug, node]));
  for (const node of plan) {
    if (node.kind !== 'review' || !isUnfinished(node.status)) continue;
    if (!hasEditableAncestor(node, nodes, new Set())) {
      report(
        'review_without_work',
        node.slug,
        `Review "${node.slug}" depends on no Action that edits; name what it reviews`,
      );
    }
  }
}

function hasEditableAncestor(node: PlanNode, nodes: ReadonlyMap<string, PlanNode>, seen: Set<string>): boolean {
  return node.dependencies.some((slug) => {
    const ancestor = nodes.get(slug);
    if (ancestor === undefined || seen.has(slug)) return false;
    seen.add(slug);
    return ancestor.workspaceMode !== 'read' || hasEditableAncestor(ancestor, nodes, seen);
  });
}
