import type { ActionKind, ActionStatus, WorkspaceMode } from './records.js';

/** A new step as the Coordinator writes it. */
export interface PlannedAction {
  /** Slug: lower case letters, digits and single hyphens; never used before in this item. */
  readonly id: string;
  readonly kind: ActionKind;
  readonly objective: string;
  readonly approach: string;
  readonly expectedResult: string;
  /** Slugs. */
  readonly dependencies: readonly string[];
  readonly workspaceMode: WorkspaceMode;
  /** The Coordinator is woken when it settles. */
  readonly checkpoint: boolean;
}

/** One change of the plan. `id` is a slug. */
export type PlanMutation =
  | { readonly op: 'add'; readonly action: PlannedAction }
  /** `id` is superseded; those that depended on it depend on the new one. */
  | { readonly op: 'replace'; readonly id: string; readonly action: PlannedAction }
  /** Not needed any longer; dependents go on without it. */
  | { readonly op: 'close'; readonly id: string; readonly reason: string }
  /** Overtaken by others; dependents must be patched in the same decision. */
  | { readonly op: 'supersede'; readonly id: string; readonly reason: string }
  | { readonly op: 'patch_dependencies'; readonly id: string; readonly dependencies: readonly string[] };

export type PlanRule =
  | 'slug_format'
  | 'slug_used'
  | 'unknown_action'
  | 'action_finished'
  | 'changed_twice'
  | 'unknown_dependency'
  | 'dead_dependency'
  | 'dependency_twice'
  | 'cycle'
  | 'specific_text'
  | 'final_gate'
  | 'review_without_work'
  | 'too_many_added'
  | 'too_many_unfinished'
  | 'too_many_actions'
  | 'too_many_dependencies'
  | 'shared_without_directory'
  | 'failed_left'
  | 'nothing_moves';

/** A rule that a decision breaks. */
export interface PlanViolation {
  readonly rule: PlanRule;
  /** Slug of the Action it is about; null for the plan as a whole. */
  readonly action: string | null;
  /** What is wrong and what to do, for the model. */
  readonly message: string;
}

/** The part of an Action that the plan's rules look at. */
export interface PlanNode {
  readonly slug: string;
  readonly kind: ActionKind;
  readonly status: ActionStatus;
  readonly dependencies: readonly string[];
  readonly workspaceMode: WorkspaceMode;
  readonly checkpoint: boolean;
}

/** Tells of a broken rule; `action` is the slug it is about, null for the plan as a whole. */
export type ReportViolation = (rule: PlanRule, action: string | null, message: string) => void;
