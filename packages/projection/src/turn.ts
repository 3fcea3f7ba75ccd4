import {
  DTO_LIMITS,
  type OperationSummary,
  operationStatusSchema,
  ownerSchema,
  type TurnSummary,
  type TurnUsage,
  turnStatusSchema,
} from '@stint/contracts';
import type { ChargeRecord, OperationRecord, TurnRecord, UsageRecord } from './records.js';
import type { TextGate } from './texts.js';

/** One provider turn in a list. */
export function toTurnSummary(turn: TurnRecord, gate: TextGate, charge?: ChargeRecord): TurnSummary {
  return {
    id: turn.id,
    owner: ownerSchema.parse(turn.owner),
    turnNumber: turn.turnNumber,
    status: turnStatusSchema.parse(turn.status),
    model: gate.show(turn.model, DTO_LIMITS.maxIdBytes).text,
    startedAt: turn.createdAt,
    endedAt: turn.endedAt,
    usage: toUsage(turn.response?.usage ?? turn.usage),
    chargedTokens: charge?.tokens ?? null,
    costMicros: charge?.costMicros ?? null,
    finishReason: turn.response?.finishReason ?? null,
    error: turn.error === null ? null : { code: turn.error.code, message: gate.line(turn.error.message) },
    retryOf: turn.retryOf,
    command: turn.status === 'unknown' ? `stint resolve ${turn.id} --retry` : null,
  };
}

function toUsage(usage: UsageRecord | null): TurnUsage | null {
  if (usage === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, totalTokens } = usage;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, totalTokens };
}

/** One side-effecting tool call in a list. */
export function toOperationSummary(operation: OperationRecord, gate: TextGate): OperationSummary {
  return {
    id: operation.id,
    turnId: operation.turnId,
    owner: ownerSchema.parse(operation.owner),
    callIndex: operation.callIndex,
    tool: gate.show(operation.tool, DTO_LIMITS.maxIdBytes).text,
    status: operationStatusSchema.parse(operation.status),
    startedAt: operation.createdAt,
    endedAt: operation.endedAt,
    result: operation.lateResult === null ? null : gate.line(operation.lateResult),
    command: operation.status === 'unknown' ? `stint resolve ${operation.id} --applied` : null,
  };
}
