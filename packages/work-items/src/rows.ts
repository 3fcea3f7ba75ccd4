import type { Value } from '@stint/storage';
import type { Outcome } from './outcome.js';
import { freeingCommand } from './attention.js';
import type {
  Action,
  ActionInput,
  ActionKind,
  ActionStatus,
  Attachment,
  Attention,
  AttentionCode,
  CoordinatorTurn,
  CoordinatorTurnStatus,
  Criterion,
  DeliveryTarget,
  FinalResult,
  ItemStatus,
  MailboxEntry,
  MailboxKind,
  MailboxStatus,
  Message,
  OnUnknownRequest,
  Question,
  Run,
  RunStatus,
  WorkEvent,
  WorkItem,
  WorkspaceMode,
} from './records.js';

/** A row as the store answers it; each reader below names the columns it takes. */
export type StoredRow = Readonly<Record<string, Value>>;

const text = (row: StoredRow, column: string): string => String(row[column]);
const textOrNull = (row: StoredRow, column: string): string | null => {
  const value = row[column];
  return value === null || value === undefined ? null : String(value);
};
const integer = (row: StoredRow, column: string): number => Number(row[column]);
const integerOrNull = (row: StoredRow, column: string): number | null => {
  const value = row[column];
  return value === null || value === undefined ? null : Number(value);
};
/** JSON that this package wrote itself, checked when it was written. */
const json = <T>(row: StoredRow, column: string): T => JSON.parse(text(row, column)) as T;
const jsonOrNull = <T>(row: StoredRow, column: string): T | null =>
  row[column] === null || row[column] === undefined ? null : json<T>(row, column);

export function toWorkItem(row: StoredRow): WorkItem {
  return {
    id: text(row, 'id'),
    status: text(row, 'status') as ItemStatus,
    attention: toItemAttention(row),
    title: text(row, 'title'),
    goal: text(row, 'goal'),
    acceptanceCriteria: json<Criterion[]>(row, 'criteria'),
    criteriaIssued: integer(row, 'criteria_issued'),
    deliveryTarget: textOrNull(row, 'delivery_target') as DeliveryTarget | null,
    workDir: textOrNull(row, 'work_dir'),
    workspaceKey: textOrNull(row, 'workspace_key'),
    attachments: json<Attachment[]>(row, 'attachments'),
    model: textOrNull(row, 'model'),
    originSessionId: textOrNull(row, 'origin_session_id'),
    onUnknownRequest: text(row, 'on_unknown_request') as OnUnknownRequest,
    maxAttempts: integer(row, 'max_attempts'),
    startedAt: integerOrNull(row, 'started_at'),
    cancelledAt: integerOrNull(row, 'cancelled_at'),
    completedAt: integerOrNull(row, 'completed_at'),
    paused: integer(row, 'paused') === 1,
    claimsHeld: integer(row, 'claims_held') === 1,
    coordinatorTrouble: toTrouble(row),
    finalResult: jsonOrNull<FinalResult>(row, 'final_result'),
    revision: integer(row, 'revision'),
    planRevision: integer(row, 'plan_revision'),
    resultsRevision: integer(row, 'results_revision'),
    coordinatorRevision: integer(row, 'coordinator_revision'),
    lastEventSeq: integer(row, 'event_seq'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  };
}

function toItemAttention(row: StoredRow): Attention | null {
  const code = textOrNull(row, 'attention_code');
  if (code === null) return null;
  return {
    code: code as AttentionCode,
    message: text(row, 'attention_message'),
    command: text(row, 'attention_command'),
    ref: textOrNull(row, 'attention_ref'),
  };
}

function toTrouble(row: StoredRow): WorkItem['coordinatorTrouble'] {
  const code = textOrNull(row, 'coordinator_trouble_code');
  if (code === null) return null;
  return {
    code: code as AttentionCode,
    message: text(row, 'coordinator_trouble_message'),
    ref: textOrNull(row, 'coordinator_trouble_ref'),
  };
}

/** The part of an Action that `toAction` shares with an outline. */
export function toActionOutline(row: StoredRow) {
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    slug: text(row, 'slug'),
    kind: text(row, 'kind') as ActionKind,
    status: text(row, 'status') as ActionStatus,
    attention: toActionAttention(row),
    dependencies: json<string[]>(row, 'dependencies'),
    checkpoint: integer(row, 'checkpoint') === 1,
  };
}

export function toAction(row: StoredRow): Action {
  return {
    ...toActionOutline(row),
    ordinal: integer(row, 'ordinal'),
    objective: text(row, 'objective'),
    approach: text(row, 'approach'),
    expectedResult: text(row, 'expected_result'),
    workspaceMode: text(row, 'workspace_mode') as WorkspaceMode,
    generation: integer(row, 'generation'),
    specHash: text(row, 'spec_hash'),
    leaseEpoch: integer(row, 'lease_epoch'),
    currentRunId: textOrNull(row, 'current_run_id'),
    resumeFromRunId: textOrNull(row, 'resume_run_id'),
    attempts: integer(row, 'attempts'),
    openAttemptId: textOrNull(row, 'open_attempt_id'),
    notBefore: integerOrNull(row, 'not_before'),
    readyAt: integerOrNull(row, 'ready_at'),
    outcome: jsonOrNull<Outcome>(row, 'outcome'),
    outcomeRunId: textOrNull(row, 'outcome_run_id'),
    closingReason: textOrNull(row, 'closing_reason'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  };
}

function toActionAttention(row: StoredRow): Attention | null {
  const code = textOrNull(row, 'attention_code') as AttentionCode | null;
  if (code === null) return null;
  const ref = textOrNull(row, 'attention_ref');
  const command = freeingCommand(code, { itemId: text(row, 'item_id'), actionId: text(row, 'id'), ref });
  return { code, message: text(row, 'attention_message'), command, ref };
}

export function toRun(row: StoredRow): Run {
  const reasonCode = textOrNull(row, 'reason_code');
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    actionId: text(row, 'action_id'),
    status: text(row, 'status') as RunStatus,
    reason: reasonCode === null ? null : { code: reasonCode, message: text(row, 'reason_message') },
    attempt: integer(row, 'attempt'),
    attemptId: text(row, 'attempt_id'),
    resumesRunId: textOrNull(row, 'resumes_run_id'),
    generation: integer(row, 'generation'),
    specHash: text(row, 'spec_hash'),
    leaseEpoch: integer(row, 'lease_epoch'),
    owner: text(row, 'owner'),
    revision: integer(row, 'revision'),
    outcome: jsonOrNull<Outcome>(row, 'outcome'),
    startedAt: integer(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
  };
}

export function toMessage(row: StoredRow): Message {
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    seq: integer(row, 'seq'),
    role: text(row, 'role') as Message['role'],
    text: text(row, 'text'),
    clientMessageId: textOrNull(row, 'client_message_id'),
    coordinatorTurnId: textOrNull(row, 'coordinator_turn_id'),
    createdAt: integer(row, 'created_at'),
  };
}

export function toQuestion(row: StoredRow): Question {
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    actionId: textOrNull(row, 'action_id'),
    runId: textOrNull(row, 'run_id'),
    text: text(row, 'text'),
    status: text(row, 'status') as Question['status'],
    answer: textOrNull(row, 'answer'),
    askedAt: integer(row, 'asked_at'),
    closedAt: integerOrNull(row, 'closed_at'),
  };
}

export function toActionInput(row: StoredRow): ActionInput {
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    actionId: text(row, 'action_id'),
    seq: integer(row, 'seq'),
    text: text(row, 'text'),
    status: text(row, 'status') as ActionInput['status'],
    clientMessageId: textOrNull(row, 'client_message_id'),
    boundTurnId: textOrNull(row, 'bound_turn_id'),
    createdAt: integer(row, 'created_at'),
  };
}

export function toMailboxEntry(row: StoredRow): MailboxEntry {
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    kind: text(row, 'kind') as MailboxKind,
    sourceKey: text(row, 'source_key'),
    payload: json<Record<string, unknown>>(row, 'payload'),
    status: text(row, 'status') as MailboxStatus,
    claimEpoch: integer(row, 'claim_epoch'),
    owner: textOrNull(row, 'owner'),
    notBefore: integerOrNull(row, 'not_before'),
    failures: integer(row, 'failures'),
    createdAt: integer(row, 'created_at'),
  };
}

export function toCoordinatorTurn(row: StoredRow): CoordinatorTurn {
  const errorCode = textOrNull(row, 'error_code');
  return {
    id: text(row, 'id'),
    itemId: text(row, 'item_id'),
    mailboxId: text(row, 'mailbox_id'),
    claimEpoch: integer(row, 'claim_epoch'),
    owner: text(row, 'owner'),
    status: text(row, 'status') as CoordinatorTurnStatus,
    revision: integer(row, 'revision'),
    planRevision: integer(row, 'plan_revision'),
    resultsRevision: integer(row, 'results_revision'),
    coordinatorRevision: integer(row, 'coordinator_revision'),
    decision: textOrNull(row, 'decision'),
    error: errorCode === null ? null : { code: errorCode, message: text(row, 'error_message') },
    startedAt: integer(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
  };
}

export function toWorkEvent(row: StoredRow): WorkEvent {
  return {
    itemId: text(row, 'item_id'),
    seq: integer(row, 'seq'),
    boardSeq: integerOrNull(row, 'board_seq'),
    type: text(row, 'type'),
    actionId: textOrNull(row, 'action_id'),
    runId: textOrNull(row, 'run_id'),
    text: text(row, 'text'),
    at: integer(row, 'at'),
  };
}
