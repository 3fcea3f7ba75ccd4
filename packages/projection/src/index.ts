export { addRun, noCounts, toActionDetail } from './action.js';
export { type EventSources, toEvent } from './event.js';
export { toExecutionControl, toExecutionStatistics } from './execution.js';
export { ActionFragment, type FragmentStore } from './fragments.js';
export { toGoalCounts, toGoalProgress } from './goal-progress.js';
export { jsonSize, jsonTextSize } from './json-size.js';
export { toMessagePage } from './messages.js';
export { toPlainJson } from './plain-json.js';
export type {
  AccountRecord,
  ActionCounts,
  ActionInputRecord,
  ActionRecord,
  ActionSources,
  AttentionRecord,
  ChargeRecord,
  EventRecord,
  FinalResultRecord,
  ItemRecord,
  ItemRecords,
  MessageRecord,
  OperationRecord,
  OutcomeRecord,
  OwnerRecord,
  QuestionRecord,
  RunCounts,
  RunRecord,
  RunSources,
  StopReasonRecord,
  ToolCallRecord,
  TotalsRecord,
  TurnRecord,
  TurnSources,
  UsageRecord,
  WorkItemSources,
} from './records.js';
export { createRedactor, type RedactionOptions, type Redactor } from './redact.js';
export { toRunDetail } from './run.js';
export { type ShownText, TextGate } from './texts.js';
export { toTurnDetail } from './turn-detail.js';
export { toOperationSummary, toTurnSummary } from './turn.js';
export { type DetailOptions, toWorkItemDetail } from './work-item-detail.js';
export { type ProjectionOptions, toWorkItemSummary } from './work-item-summary.js';
