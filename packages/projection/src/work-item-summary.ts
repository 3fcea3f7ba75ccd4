import {
  CONTRACT_LIMITS,
  type CoordinatorStatus,
  deliveryTargetSchema,
  type Reason,
  type Revisions,
  type WorkItemSummary,
  workItemStatusSchema,
} from '@stint/contracts';
import { toExecutionControl, toExecutionStatistics } from './execution.js';
import { toGoalCounts } from './goal-progress.js';
import { toNeeds } from './needs.js';
import type { ActionRecord, ItemRecord, WorkItemSources } from './records.js';
import { createRedactor, type RedactionOptions } from './redact.js';
import { TextGate } from './texts.js';

/** Options of the item's projections. The workspace root is the item's own work directory. */
export type ProjectionOptions = Omit<RedactionOptions, 'workspaceRoot'>;

/** One WorkItem as the board shows it. */
export function toWorkItemSummary(sources: WorkItemSources, options: ProjectionOptions = {}): WorkItemSummary {
  const { item, actions } = sources.records;
  const gate = new TextGate(createRedactor({ ...options, workspaceRoot: item.workDir }));
  const { needs, omittedNeedCount } = toNeeds(sources, gate);
  return {
    id: item.id,
    title: gate.show(item.title, CONTRACT_LIMITS.maxTitleBytes).text,
    status: workItemStatusSchema.parse(sources.derived?.status ?? item.status),
    reason: toItemReason(sources, gate),
    revisions: toRevisions(item),
    createdAt: item.createdAt,
    updatedAt: item.updatedAt,
    model: item.model,
    deliveryTarget: item.deliveryTarget === null ? null : deliveryTargetSchema.parse(item.deliveryTarget),
    workDirName: item.workDir === null ? null : lastPart(item.workDir),
    goalProgress: toGoalCounts(item, actions),
    actions: countActions(actions),
    coordinator: toCoordinatorStatus(sources),
    needCount: needs.length + omittedNeedCount,
    need: needs[0] ?? null,
    statistics: toExecutionStatistics(sources.account, sources.actionCounts),
    control: toExecutionControl(sources.account),
    lastEventSeq: item.lastEventSeq,
  };
}

/** Why the item stands as it does; null while nothing is in its way. */
export function toItemReason({ records, derived }: WorkItemSources, gate: TextGate): Reason | null {
  const attention = derived === undefined ? records.item.attention : derived.attention;
  return attention === null ? null : { code: attention.code, message: gate.line(attention.message) };
}

/** All fences. Every change that is shown writes an event, so the last event's number orders DTOs of one item. */
export function toRevisions(item: ItemRecord): Revisions {
  const { revision, planRevision, resultsRevision, coordinatorRevision, lastEventSeq } = item;
  return { revision, planRevision, resultsRevision, coordinatorRevision, progressRevision: lastEventSeq };
}

/** What the Coordinator does at this moment. */
export function toCoordinatorStatus({ records }: WorkItemSources): CoordinatorStatus {
  if (records.thinkingTurn !== null) return 'thinking';
  return records.openMailbox.length > 0 ? 'queued' : 'idle';
}

/** Replaced and cancelled Actions are not counted: they are no longer part of the plan. */
const GONE: ReadonlySet<string> = new Set(['superseded', 'cancelled', 'closed']);

function countActions(actions: readonly ActionRecord[]): WorkItemSummary['actions'] {
  const count = (status: string): number => actions.filter((action) => action.status === status).length;
  return {
    total: actions.filter(({ status }) => !GONE.has(status)).length,
    completed: count('completed'),
    running: count('running'),
    waiting: count('waiting'),
    failed: count('failed'),
  };
}

function lastPart(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? '/';
}
