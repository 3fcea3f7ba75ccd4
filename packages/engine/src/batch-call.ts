import type { PreparedCall, ToolResult } from '@stint/tools';
import type { CallInHistory } from './tool-calls.js';
import type { EngineToolCall } from './types.js';

/** A call of the batch on its way to its one result. */
export interface BatchCall {
  readonly turn: string;
  readonly inHistory: CallInHistory;
  readonly call: EngineToolCall;
  /** Ready to run, or the result that it has without running. */
  readonly ready: { readonly call: PreparedCall } | { readonly refused: ToolResult; readonly error?: Error };
  readonly isParallel: boolean;
}

/** What one call came to. */
export interface Ended {
  readonly result: ToolResult;
  readonly ran: boolean;
  /** A function of the caller's failed beside the tool: the run ends after this batch has its results. */
  readonly error?: Error;
}
