export {
  approvalRequest,
  createApprovalPolicy,
  decideApproval,
  type Approval,
  type ApprovalDecision,
  type ApprovalPolicy,
  type ApprovalPolicyOptions,
  type ApprovalRequest,
  type ApprovalRule,
} from './approval.js';
export { SETTLE_GRACE_MS, type CallContext, type CallFacts } from './call.js';
export { connectMcp, type McpConnection, type McpConnectionOptions } from './connect-mcp.js';
export { ToolError, isToolError, type ErrorEffect, type ToolErrorOptions } from './errors.js';
export type { FetchOptions } from './fetch-url.js';
export { isToolLike, toTool, type AiSdkTool, type McpShapedTool, type ToolLike } from './foreign-tools.js';
export { fromMcp, type McpClient } from './from-mcp.js';
export {
  loadTools,
  type LoadedModule,
  type LoadedTools,
  type LoadProblem,
  type LoadToolsOptions,
} from './load-tools.js';
export type { McpServerAddress } from './mcp-link.js';
export type { McpToolOptions, McpTools, RefusedMcpTool } from './mcp-tools.js';
export { createOutputStore, isOutputHandle, type OutputStore } from './output-store.js';
export type { ProcessRecord } from './process-record.js';
export { endProcesses, type EndReport } from './process-tree.js';
export {
  createRegistry,
  type PreparedCall,
  type RegistryOptions,
  type ToolDescription,
  type ToolRegistry,
  type ToolSource,
} from './registry.js';
export { reply, type ToolReply } from './reply.js';
export type { ToolResult } from './result.js';
export { inputJsonSchema } from './schema.js';
export { serveTools, type ServeToolsOptions, type ToolServer } from './serve-tools.js';
export { scrubEnvironment, type Environment } from './shell-environment.js';
export type { ShellOptions } from './shell.js';
export type { TodoItem, TodoOptions } from './todo-write.js';
export {
  annotationsOf,
  defineTool,
  isToolName,
  type ApprovalFacts,
  type InputFact,
  type InputOf,
  type InputSchema,
  type JsonSchema,
  type SideEffectScope,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolDefinition,
  type ToolProgress,
  type WorkspaceFacts,
} from './tool.js';
export { resolveInside } from './workspace.js';
export { workspaceTools, type WorkspaceToolsOptions } from './workspace-tools.js';
