export type { PastAnswersOf } from './past-answers-of.js';
export { actionPrompt, actionPromptBytes, type ActionPromptInput } from './action-prompt.js';
export { accountOf } from './account.js';
export {
  type BudgetChange,
  type Commands,
  type CommandsOptions,
  createCommands,
  type CreateItem,
  defaultItemLimits,
  type TurnFinding,
} from './commands.js';
export { budgetStopIn, budgetStopOf, hasRoomAgain, personStops } from './budget-stop.js';
export {
  type ConversationEntry,
  coordinatorSnapshot,
  type SnapshotInput,
  snapshotBytes,
  type Trigger,
} from './coordinator-prompt.js';
export { type Coordinator, type CoordinatorStatus, createCoordinator } from './create-coordinator.js';
export { type Decision, decisionSchema, parseDecision, type ParsedDecision } from './decision.js';
export { CoordinatorError, type CoordinatorErrorCode, isCoordinatorError } from './errors.js';
export type { CoordinatorOptions, LogLine, ModelRequest, RunProgress, ToolsRequest } from './options.js';
export { type CheckedOutcome, checkOutcome, type Outcome, type OutcomeDuty, outcomeSchema } from './outcome.js';
export type { PlanAction, PlanContract, PlanResult } from './plan-view.js';
export { type Hold, type Pricing, pricingBy } from './pricing.js';
export type { Recovered } from './recover.js';
export { type ReferenceKind, referenceProblem } from './safe-reference.js';
export { shownStopIn, withStandingStop } from './shown-stop.js';
export { openUnknowns, unknownsOfRun } from './unknowns.js';
export { createTurnHooks, TurnDenied, type TurnBudget, type TurnHooksOptions, type TurnInputs } from './turn-hooks.js';
