export { EngineError, isEngineError } from './errors.js';
export type { EngineErrorCode } from './errors.js';
export { outputOf } from './output-of.js';
export { createRunControl, type RunControl } from './run-control.js';
export { runEngine } from './run-engine.js';
export { repairHistory } from './repair-history.js';
export type {
  CompactRequest,
  Compaction,
  EngineEvent,
  EngineOptions,
  EnginePorts,
  EngineToolCall,
  EngineTools,
  LimitOptions,
  OperationEffect,
  OperationOutcome,
  OutputSpec,
  PendingInput,
  ResumedOperation,
  ResumeState,
  RetryOptions,
  RunEnd,
  RunEndReason,
  ToolCallContext,
} from './types.js';
