import type { FinishReason } from './types.js';

const known: ReadonlySet<string> = new Set<FinishReason>([
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'interrupted',
]);

/** The finish reason of any specification: text in v2, `{ unified, raw }` in v3 and v4. What is not known is `other`. */
export function finishReasonOf(reason: unknown): FinishReason {
  const name = typeof reason === 'object' && reason !== null ? (reason as { unified?: unknown }).unified : reason;
  return typeof name === 'string' && known.has(name) ? (name as FinishReason) : 'other';
}

/** True if a finish part with this reason closes a complete answer. */
export function isCompleteReason(reason: FinishReason): boolean {
  return reason !== 'error' && reason !== 'other' && reason !== 'interrupted';
}
