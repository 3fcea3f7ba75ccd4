import type { Outcome } from './outcome.js';

/** draft, ready, running, waiting and needs_attention are derived; done and cancelled are decided. */
export type ItemStatus = 'draft' | 'ready' | 'running' | 'waiting' | 'needs_attention' | 'done' | 'cancelled';
export type ActionStatus =
  | 'blocked'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'closed'
  | 'superseded'
  | 'cancelled';
export type RunStatus =
  | 'running'
  | 'completed'
  | 'waiting'
  | 'retryable'
  | 'deferred'
  | 'failed'
  | 'interrupted'
  | 'cancelled'
  | 'superseded'
  | 'outcome_unknown';
export type CoordinatorTurnStatus = 'thinking' | 'completed' | 'failed';
export type MailboxStatus = 'pending' | 'claimed' | 'done';
export type MailboxKind =
  | 'message'
  | 'recovery'
  | 'started'
  | 'contract_changed'
  | 'resumed'
  | 'action_settled'
  | 'plan_used_up';
export type DeliveryTarget = 'response' | 'workspace_files' | 'pull_request' | 'merge';
export type ActionKind = 'work' | 'review' | 'deliver';
/** `read`: no write tool and no shell, overlaps others. `shared`: one at a time per workspace. */
export type WorkspaceMode = 'read' | 'shared';
export type OnUnknownRequest = 'ask' | 'retry';

export interface Criterion {
  /** `c1`, `c2`, ... in the order given, unless the author named it. */
  readonly id: string;
  readonly text: string;
}

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
}

/** Why something stands still. Readers map it to lanes and exit codes. */
export type AttentionCode =
  | 'question'
  | 'unknown_operation'
  | 'unknown_turn'
  | 'interrupted_delivery'
  | 'failed_action'
  | 'exhausted'
  | 'resource_limit'
  | 'refused_decision'
  | 'provider'
  | 'coordinator_failed'
  | 'budget'
  | 'paused'
  | 'idle';

/** Why something stands still, and the command that frees it. */
export interface Attention {
  readonly code: AttentionCode;
  readonly message: string;
  /** A command that a person can paste. */
  readonly command: string;
  /** What is to be resolved or answered: an operation, a turn, a question. Null if nothing has an id. */
  readonly ref: string | null;
}

/** What went wrong, and the id of what is to be resolved. */
export interface Trouble {
  readonly code: AttentionCode;
  readonly message: string;
  readonly ref: string | null;
}

/** The counters that people's commands and Coordinator decisions are compared with. */
export interface Revisions {
  readonly revision: number;
  readonly planRevision: number;
  readonly resultsRevision: number;
  readonly coordinatorRevision: number;
}

export interface WorkItem extends Revisions {
  readonly id: string;
  readonly status: ItemStatus;
  /** Set when status is waiting or needs_attention. */
  readonly attention: Attention | null;
  readonly title: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly Criterion[];
  /** Criterion ids given so far: an id never comes back with another text. */
  readonly criteriaIssued: number;
  readonly deliveryTarget: DeliveryTarget | null;
  /** Canonical real path on the machine that `workspaceKey` names. */
  readonly workDir: string | null;
  /** `<machine>:<real path>`; the identity that the workspace hold is keyed by. */
  readonly workspaceKey: string | null;
  readonly attachments: readonly Attachment[];
  /** `provider:name` as the person gave it; null: the agent's default. */
  readonly model: string | null;
  readonly originSessionId: string | null;
  readonly onUnknownRequest: OnUnknownRequest;
  readonly maxAttempts: number;
  readonly startedAt: number | null;
  readonly cancelledAt: number | null;
  readonly completedAt: number | null;
  readonly paused: boolean;
  /** A contract change that no decision has taken up yet: no Action is claimed until one has. */
  readonly claimsHeld: boolean;
  /** Why the Coordinator cannot go on by itself; null once it could. */
  readonly coordinatorTrouble: Trouble | null;
  readonly finalResult: FinalResult | null;
  /** Sequence number of the item's last event. */
  readonly lastEventSeq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Action {
  /** `<itemId>/<slug>` */
  readonly id: string;
  readonly itemId: string;
  readonly slug: string;
  readonly ordinal: number;
  readonly kind: ActionKind;
  readonly status: ActionStatus;
  readonly attention: Attention | null;
  readonly objective: string;
  readonly approach: string;
  readonly expectedResult: string;
  /** Slugs of the same item. */
  readonly dependencies: readonly string[];
  readonly workspaceMode: WorkspaceMode;
  readonly checkpoint: boolean;
  readonly generation: number;
  readonly specHash: string;
  readonly leaseEpoch: number;
  /** The running Run, else null. */
  readonly currentRunId: string | null;
  /** The last Run of this generation, from whose journal the next one goes on; null: it starts anew. */
  readonly resumeFromRunId: string | null;
  /** Attempts begun since the person last started the count anew. */
  readonly attempts: number;
  /** The attempt that the next Run continues (after waiting or deferral); null: it begins one. */
  readonly openAttemptId: string | null;
  /** Not claimed before this time, ms. */
  readonly notBefore: number | null;
  readonly readyAt: number | null;
  readonly outcome: Outcome | null;
  /** The Run that `outcome` came from. */
  readonly outcomeRunId: string | null;
  /** Why it was closed or superseded. */
  readonly closingReason: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Run {
  readonly id: string;
  readonly itemId: string;
  readonly actionId: string;
  readonly status: RunStatus;
  readonly reason: { readonly code: string; readonly message: string } | null;
  readonly attempt: number;
  /** Id of the first Run of the attempt: a Run that continues after waiting or deferral is the same attempt. */
  readonly attemptId: string;
  readonly resumesRunId: string | null;
  readonly generation: number;
  readonly specHash: string;
  readonly leaseEpoch: number;
  readonly owner: string;
  /** Contract revision the Run was started on. */
  readonly revision: number;
  readonly outcome: Outcome | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface Message {
  readonly id: string;
  readonly itemId: string;
  readonly seq: number;
  readonly role: 'user' | 'coordinator';
  readonly text: string;
  readonly clientMessageId: string | null;
  readonly coordinatorTurnId: string | null;
  readonly createdAt: number;
}

export interface Question {
  readonly id: string;
  readonly itemId: string;
  /** Null: the Coordinator asks. */
  readonly actionId: string | null;
  readonly runId: string | null;
  readonly text: string;
  readonly status: 'asked' | 'answered' | 'withdrawn';
  readonly answer: string | null;
  readonly askedAt: number;
  readonly closedAt: number | null;
}

export interface ActionInput {
  readonly id: string;
  readonly itemId: string;
  readonly actionId: string;
  readonly seq: number;
  readonly text: string;
  readonly status: 'pending' | 'bound' | 'acknowledged' | 'superseded';
  readonly clientMessageId: string | null;
  /** The turn that carries it, while bound. */
  readonly boundTurnId: string | null;
  readonly createdAt: number;
}

export interface MailboxEntry {
  readonly id: string;
  readonly itemId: string;
  readonly kind: MailboxKind;
  /** Made of identities, so that one trigger is one entry. */
  readonly sourceKey: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly status: MailboxStatus;
  readonly claimEpoch: number;
  readonly owner: string | null;
  readonly notBefore: number | null;
  readonly failures: number;
  readonly createdAt: number;
}

export interface CoordinatorTurn extends Revisions {
  readonly id: string;
  readonly itemId: string;
  readonly mailboxId: string;
  readonly claimEpoch: number;
  readonly owner: string;
  readonly status: CoordinatorTurnStatus;
  readonly decision: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface WorkEvent {
  readonly itemId: string;
  /** Grows by one per item. */
  readonly seq: number;
  /** Grows by one over the whole store; null until a follower of the board has numbered it. */
  readonly boardSeq: number | null;
  /** Noun and verb, such as `action.completed`. */
  readonly type: string;
  readonly actionId: string | null;
  readonly runId: string | null;
  /** One line for a person. */
  readonly text: string;
  readonly at: number;
}

export interface FinalResult {
  readonly summary: string;
  readonly criteria: readonly {
    readonly id: string;
    readonly text: string;
    readonly evidenceRunIds: readonly string[];
  }[];
  readonly outputs: readonly { readonly kind: string; readonly value: string }[];
  readonly responses: readonly { readonly actionId: string; readonly runId: string; readonly text: string }[];
  readonly residualRisks: readonly string[];
  readonly completedBy: 'gate' | 'coordinator';
}

/** Names the Run that wants to write; every part is compared. */
export interface RunFence {
  readonly itemId: string;
  readonly actionId: string;
  readonly runId: string;
  readonly generation: number;
  readonly specHash: string;
  readonly leaseEpoch: number;
  readonly owner: string;
}

/** Names the Coordinator turn that wants to write, and the state it decided on. */
export interface CoordinatorFence extends Revisions {
  readonly itemId: string;
  readonly mailboxId: string;
  readonly claimEpoch: number;
  readonly owner: string;
  readonly turnId: string;
}
