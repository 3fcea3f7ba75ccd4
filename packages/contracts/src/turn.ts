import * as z from 'zod';
import { DTO_LIMITS } from './limits.js';
import { countSchema, idSchema, lineSchema, openEnum, reasonSchema, textSchema, timeSchema } from './scalars.js';
import { operationStatusSchema, turnStatusSchema } from './statuses.js';

/** Who a provider turn or an operation belongs to. */
export const ownerSchema = z.object({ kind: openEnum(['run', 'coordinator', 'session']), id: idSchema });
export type Owner = Readonly<z.infer<typeof ownerSchema>>;

/** Tokens of one answer. `inputTokens` without cache; `reasoningTokens` is a part of `outputTokens`. */
export const usageSchema = z.object({
  inputTokens: countSchema,
  outputTokens: countSchema,
  cacheReadTokens: countSchema,
  cacheWriteTokens: countSchema,
  reasoningTokens: countSchema,
  totalTokens: countSchema,
});
export type TurnUsage = Readonly<z.infer<typeof usageSchema>>;

/** One request to a model provider. */
export const turnSummarySchema = z.object({
  id: idSchema,
  owner: ownerSchema,
  turnNumber: countSchema,
  status: turnStatusSchema,
  model: z.string().max(DTO_LIMITS.maxIdBytes),
  startedAt: timeSchema,
  endedAt: timeSchema.nullable(),
  usage: usageSchema.nullable(),
  /** What the ledger charged: the hold while it runs or is unknown, the actual after. null = not known. */
  chargedTokens: countSchema.nullable(),
  costMicros: countSchema.nullable(),
  finishReason: z.string().max(128).nullable(),
  error: reasonSchema.nullable(),
  retryOf: idSchema.nullable(),
  /** The command that settles it when nobody knows what became of it; null if there is nothing to settle. */
  command: lineSchema.nullable(),
});
export type TurnSummary = Readonly<z.infer<typeof turnSummarySchema>>;

/** One side-effecting tool call. */
export const operationSummarySchema = z.object({
  id: idSchema,
  turnId: idSchema,
  owner: ownerSchema,
  callIndex: countSchema,
  tool: z.string().max(DTO_LIMITS.maxIdBytes),
  status: operationStatusSchema,
  startedAt: timeSchema,
  endedAt: timeSchema.nullable(),
  /** Bounded and redacted. */
  result: lineSchema.nullable(),
  command: lineSchema.nullable(),
});
export type OperationSummary = Readonly<z.infer<typeof operationSummarySchema>>;

/** One tool call as shown in a turn's detail, bounded and redacted. */
export const toolCallSchema = z.object({
  toolCallId: idSchema,
  callIndex: countSchema,
  tool: z.string().max(DTO_LIMITS.maxIdBytes),
  /** `running` has no result yet; running calls are never the ones cut. */
  status: openEnum(['running', 'completed', 'failed', 'unknown']),
  input: textSchema,
  result: textSchema.nullable(),
  /** UTF-8 bytes before any cut. */
  inputBytes: countSchema,
  resultBytes: countSchema,
  truncated: z.boolean(),
});
export type ToolCall = Readonly<z.infer<typeof toolCallSchema>>;

/** One provider turn with its text and tool calls, at most 256 KiB. */
export const turnDetailSchema = turnSummarySchema.extend({
  text: textSchema,
  textBytes: countSchema,
  toolCalls: z.array(toolCallSchema).max(DTO_LIMITS.maxToolCallsPerTurn),
  omittedToolCallCount: countSchema,
  maskedSecretCount: countSchema,
  truncated: z.boolean(),
});
export type TurnDetail = Readonly<z.infer<typeof turnDetailSchema>>;
