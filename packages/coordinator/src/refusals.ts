import type { RefusalReason } from '@stint/ledger';

/**
 * What a refusal of the ledger means for the work that asked.
 * - `stopped`: the account is stopped; a person resumes it, until then nothing is claimed
 * - `passing`: it may pass by itself, with time or when others settle
 * - `exhausted`: the attempts at this Action are used up
 * - `own_limit`: this Run, this kind or this model has reached a limit of its own; waiting does not help
 */
export type RefusalMeaning = 'stopped' | 'passing' | 'exhausted' | 'own_limit';

const passingCodes: ReadonlySet<string> = new Set([
  'backing_off',
  'concurrency_exhausted',
  'window_exhausted',
  'ledger_unavailable',
]);

/** Classifies a refusal; an unknown one counts as a limit that waiting does not help, so that somebody is told. */
export function meaningOf({ code, stopped, scope, heldByOthers }: RefusalReason): RefusalMeaning {
  if (stopped === true) return 'stopped';
  if (code === 'attempts_exhausted') return 'exhausted';
  if (scope === 'kind') return 'own_limit';
  return passingCodes.has(code) || heldByOthers === true ? 'passing' : 'own_limit';
}
