import type { WorkItem } from '@stint/work-items';
import type { ActionSpec } from './decision.js';
import type { OutcomeCheck } from './outcome.js';

/** States of an Action, as the records name them. */
export type PlanActionStatus =
  | 'blocked'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'closed'
  | 'superseded'
  | 'cancelled';

/** What a completed Action handed over, as far as plan and completion are judged by it. */
export interface PlanResult {
  readonly runId: string;
  readonly summary: string;
  /** Only checks that still count: of criteria with the same id and text as the contract's. */
  readonly checks: readonly OutcomeCheck[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
}

/** One Action of the plan as the validators and prompts see it. `slug` and `dependencies` are item-local ids. */
export interface PlanAction {
  readonly slug: string;
  readonly kind: ActionSpec['kind'];
  readonly status: PlanActionStatus;
  readonly objective: string;
  readonly dependencies: readonly string[];
  readonly workspaceMode: ActionSpec['workspaceMode'];
  readonly checkpoint: boolean;
  readonly result: PlanResult | null;
  /** Why it failed or what it asks, one bounded sentence; null otherwise. */
  readonly note: string | null;
}

/** The parts of a contract that plans and completions are judged by. */
export interface PlanContract {
  readonly title: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly { readonly id: string; readonly text: string }[];
  readonly deliveryTarget: 'response' | 'workspace_files' | 'pull_request' | 'merge' | null;
  readonly hasWorkDir: boolean;
}

/** All states from which an Action never moves again. */
const finishedStatuses: ReadonlySet<PlanActionStatus> = new Set(['completed', 'closed', 'superseded', 'cancelled']);

export function isFinished(action: { readonly status: PlanActionStatus }): boolean {
  return finishedStatuses.has(action.status);
}

/** The contract as prompts show it: no path, only whether there is a directory. */
export function contractOf(item: WorkItem): PlanContract {
  const { title, goal, acceptanceCriteria, deliveryTarget } = item;
  return { title, goal, acceptanceCriteria, deliveryTarget, hasWorkDir: item.workDir !== null };
}
