import type { AttentionCode } from './records.js';

interface Subject {
  readonly itemId: string;
  readonly actionId: string | null;
  readonly ref: string | null;
}

/**
 * The command that frees what stands still. It works when pasted; where a person has a choice it is the careful one
 * (an effect taken as applied is looked at again, one taken as absent is done a second time).
 */
export function freeingCommand(code: AttentionCode, { itemId, actionId, ref }: Subject): string {
  switch (code) {
    case 'question':
      return `stint answer ${actionId ?? itemId} "your answer"`;
    case 'unknown_operation':
      return `stint resolve ${ref ?? itemId} --applied`;
    case 'unknown_turn':
      return `stint resolve ${ref ?? itemId} --retry`;
    case 'budget':
      return `stint budget resume ${itemId}`;
    case 'interrupted_delivery':
    case 'failed_action':
    case 'exhausted':
    case 'resource_limit':
    case 'provider':
    case 'refused_decision':
    case 'coordinator_failed':
    case 'paused':
    case 'idle':
      return actionId === null ? `stint resume ${itemId}` : `stint retry ${actionId}`;
  }
}
