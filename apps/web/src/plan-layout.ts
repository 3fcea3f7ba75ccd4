import { Graph, layout } from '@dagrejs/dagre';
import type { ActionSummary } from '@stint/contracts';

/** Size of one node of the plan, in pixels; the style sheet uses the same. */
export const NODE_WIDTH = 220;
export const NODE_HEIGHT = 84;

export interface PlacedAction {
  readonly action: ActionSummary;
  readonly x: number;
  readonly y: number;
}

export interface PlanEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
}

export interface PlanLayout {
  readonly nodes: readonly PlacedAction[];
  readonly edges: readonly PlanEdge[];
  readonly height: number;
}

/** Places the Actions from left to right along their dependencies. Pure and deterministic. */
export function layoutPlan(actions: readonly ActionSummary[]): PlanLayout {
  const bySlug = new Map(actions.map((action) => [action.slug, action]));
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 56, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of actions) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const edges = essentialEdges(
    actions.flatMap((action) =>
      action.dependencies.flatMap((dependency) => {
        const source = bySlug.get(dependency)?.id ?? actions.find(({ id }) => id === dependency)?.id;
        return source ? [{ id: `${source}>${action.id}`, source, target: action.id }] : [];
      }),
    ),
  );
  for (const { source, target } of edges) graph.setEdge(source, target);
  layout(graph);
  const nodes = actions.map((action) => {
    const { x, y } = graph.node(action.id);
    return { action, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
  });
  return { nodes, edges, height: Math.max(NODE_HEIGHT, ...nodes.map(({ y }) => y + NODE_HEIGHT)) + 24 };
}

/** The edges that no longer way makes needless: what waits for b, which waits for a, waits for a anyway. */
export function essentialEdges(edges: readonly PlanEdge[]): readonly PlanEdge[] {
  const targets = new Map<string, string[]>();
  for (const { source, target } of edges) targets.set(source, [...(targets.get(source) ?? []), target]);
  return edges.filter(({ source, target }) => {
    const others = (targets.get(source) ?? []).filter((next) => next !== target);
    return !reachableFrom(others, targets).has(target);
  });
}

function reachableFrom(
  starts: readonly string[],
  targets: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...starts];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const next of targets.get(id) ?? []) {
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return seen;
}
