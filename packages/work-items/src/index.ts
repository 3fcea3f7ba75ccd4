export { type CommandResult } from './commands.js';
export { checkContract, type CheckedContract, type ContractInput } from './contract.js';
export {
  type BudgetStop,
  type DerivedStatus,
  deriveStatus,
  type StatusInput,
  withBudgetStop,
} from './derive-status.js';
export { invalidField, isWorkItemsError, WorkItemsError, type WorkItemsErrorCode } from './errors.js';
export { readBoardEvents, readEvents, workChannel } from './events.js';
export {
  getAction,
  getCoordinatorTurn,
  getRun,
  type ItemRecords,
  listActions,
  listCoordinatorTurns,
  listRuns,
  readItemRecords,
  type WorkspaceHold,
} from './item-records.js';
export {
  createWorkItem,
  type CreateWorkItemInput,
  getWorkItem,
  listWorkItems,
  type ListWorkItemsOptions,
} from './items.js';
export {
  defaultMaxAttempts,
  defaultMaxConcurrentActions,
  maxConcurrentActionsRange,
  workItemLimits,
} from './limits.js';
export { checkOutcome, type CheckStatus, type CriterionCheck, type EvidenceKind, type Outcome } from './outcome.js';
export type {
  Action,
  ActionInput,
  ActionKind,
  ActionStatus,
  Attachment,
  Attention,
  AttentionCode,
  CoordinatorFence,
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
  Revisions,
  Run,
  RunFence,
  RunStatus,
  Trouble,
  WorkEvent,
  WorkItem,
  WorkspaceMode,
} from './records.js';
export { workItemsMigrations } from './schema.js';
