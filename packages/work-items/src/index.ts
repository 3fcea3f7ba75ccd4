export { continueAction, type ContinueActionInput, retryAction, type RetryActionInput } from './action-commands.js';
export {
  actionTransitions,
  type ActionTrigger,
  isUnfinished,
  satisfiesDependents,
  unfinishedActionStatuses,
} from './action-transitions.js';
export { answerQuestion, type AnswerInput } from './answer-question.js';
export { claimAction, type ClaimActionOptions, type ClaimedAction, findActionWork } from './claim-action.js';
export { type CommandResult } from './commands.js';
export { checkContract, type CheckedContract, type ContractInput } from './contract.js';
export { beginCoordinatorTurn, type BegunTurn, failCoordinatorTurn, type TurnFailure } from './coordinator-turns.js';
export { applyPlan, askHuman, completeItem, type DecisionResult, type FenceName } from './decisions.js';
export {
  type BudgetStop,
  type DerivedStatus,
  deriveStatus,
  type StatusInput,
  withBudgetStop,
} from './derive-status.js';
export { endRun, type EndRunResult, type RunEnding, type RunReason, type Unresolved } from './end-run.js';
export { isWorkItemsError, WorkItemsError, type WorkItemsErrorCode } from './errors.js';
export { hasFreshEvents, lastBoardSeq, numberEvents, readBoardEvents, readEvents, workChannel } from './events.js';
export { checkCoordinatorFence, checkRunFence } from './fences.js';
export { type CompletionInput, type CompletionViolation } from './final-result.js';
export {
  acknowledgeInputs,
  addInput,
  type AddInputInput,
  bindInputs,
  closePendingInput,
  pendingInputs,
  unbindInputs,
} from './inputs.js';
export {
  cancelItem,
  type ItemCommand,
  noteEvent,
  pauseItem,
  requestStart,
  type ResumeCommand,
  resumeItem,
  type WakeCommand,
  wakeItem,
} from './item-commands.js';
export {
  getAction,
  getCoordinatorTurn,
  getRun,
  type ItemRecords,
  type ItemRecordsOptions,
  listActions,
  listCoordinatorTurns,
  listRunIds,
  listRuns,
  readItemRecords,
  type WorkspaceHold,
} from './item-records.js';
export {
  countItems,
  createWorkItem,
  type CreateWorkItemInput,
  findActionIds,
  findItemIds,
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
export { lockAction, lockItem } from './lock.js';
export {
  claimMailbox,
  type ClaimMailboxOptions,
  findMailboxWork,
  type FoundWork,
  type MailboxClaim,
  type StopReader,
} from './mailbox.js';
export {
  coordinatorTurnTransitions,
  type CoordinatorTurnTrigger,
  mailboxTransitions,
  type MailboxTrigger,
} from './mailbox-transitions.js';
export { postMessage, type PostMessageInput } from './messages.js';
export { assertNothingStuck } from './nothing-stuck.js';
export { checkOutcome, type CheckStatus, type CriterionCheck, type EvidenceKind, type Outcome } from './outcome.js';
export type { PlanMutation, PlannedAction, PlanNode, PlanRule, PlanViolation } from './plan-types.js';
export { listOpenQuestions } from './questions.js';
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
export { type DeadClaim, findDeadClaims, recoverClaim, resolveCoordinatorTurn } from './recover-claims.js';
export { type DeadRun, findDeadRuns, type RecoverRunFacts, recoverRun } from './recover-runs.js';
export { type DeadHold, findDeadHolds, recoverHold, releaseWorkspace } from './workspace-holds.js';
export { runTransitions, type RunTrigger } from './run-transitions.js';
export { workItemsMigrations } from './schema.js';
export type { Actor, Transition, TransitionTable } from './transitions.js';
export { type ContractChange, updateContract } from './update-contract.js';
export { type PlanValidation, validatePlan } from './validate-plan.js';
export { type UnresolvedReader, WorkItems } from './work-items.js';
