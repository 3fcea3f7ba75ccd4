export { EngineError, isEngineError } from './errors.js';
export type { EngineErrorCode } from './errors.js';
export type {
  CompactRequest,
  Compaction,
  EngineEvent,
  EngineOptions,
  EnginePorts,
  EngineTool,
  EngineToolCall,
  EngineToolContext,
  EngineToolResult,
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
} from './types.js';
