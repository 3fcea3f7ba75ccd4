import type { WorkItemDetail } from '@stint/contracts';

/** What the command leaves with; the same words stand in the JSON result as `reason`. */
export const exitCodes = Object.freeze({
  done: 0,
  /** stint itself failed. */
  error: 1,
  /** Usage or configuration. */
  usage: 2,
  /** A person is asked: a question, an approval, an outcome nobody knows. */
  person_asked: 3,
  cancelled: 4,
  budget_stopped: 5,
  provider: 6,
  interrupted: 130,
});
export type ExitReason = keyof typeof exitCodes;

const budgetCodes = new Set(['budget', 'resource_limit']);

/** Why following an item ends, or null while it still moves. */
export function exitReasonOf(item: Pick<WorkItemDetail, 'status' | 'reason'>): ExitReason | null {
  switch (item.status) {
    case 'done':
      return 'done';
    case 'cancelled':
      return 'cancelled';
    case 'waiting':
      return 'person_asked';
    case 'needs_attention':
      return attentionReason(item.reason?.code ?? '');
    case 'draft':
      return 'person_asked';
    default:
      return null;
  }
}

function attentionReason(code: string): ExitReason {
  if (budgetCodes.has(code)) return 'budget_stopped';
  return code === 'provider' ? 'provider' : 'person_asked';
}
