import type { ActionSummary } from '@stint/contracts';
import { Background, Handle, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { type ReactElement, useMemo } from 'react';
import { formatStatus } from './format.js';
import { layoutPlan, NODE_HEIGHT, NODE_WIDTH } from './plan-layout.js';

type ActionNode = Node<{ readonly action: ActionSummary; readonly selected: boolean }, 'action'>;

export interface PlanGraphProps {
  readonly actions: readonly ActionSummary[];
  readonly selected: string | null;
  readonly onSelect: (actionId: string) => void;
}

/** The plan as a graph: a node an Action, coloured by its state, an arrow for "waits for". */
export default function PlanGraph({ actions, selected, onSelect }: PlanGraphProps): ReactElement {
  const plan = useMemo(() => layoutPlan(actions), [actions]);
  const nodes: ActionNode[] = plan.nodes.map(({ action, x, y }) => ({
    id: action.id,
    type: 'action',
    position: { x, y },
    data: { action, selected: action.id === selected },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    ariaLabel: `${action.slug}: ${formatStatus(action.status)}`,
  }));
  const edges = plan.edges.map((edge) => ({ ...edge, animated: isRunning(actions, edge.target) }));
  return (
    <div className="plan" style={{ height: Math.min(420, Math.max(150, plan.height)) }}>
      <ReactFlow
        key={plan.nodes.map(({ action }) => action.id).join()}
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onNodeClick={(_event, node) => onSelect(node.id)}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.08 }}
        nodesDraggable={false}
        nodesConnectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
      </ReactFlow>
    </div>
  );
}

const isRunning = (actions: readonly ActionSummary[], id: string): boolean =>
  actions.find((action) => action.id === id)?.status === 'running';

function ActionNodeView({ data: { action, selected } }: NodeProps<ActionNode>): ReactElement {
  return (
    <div
      className={`node node-${action.status}${selected ? ' node-selected' : ''}`}
      data-action={action.slug}
      data-status={action.status}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className="node-head">
        <strong>{action.slug}</strong>
        <span className={`badge badge-${action.status}`}>{formatStatus(action.status)}</span>
      </div>
      <div className="node-text">{action.headline}</div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

const nodeTypes = { action: ActionNodeView };
