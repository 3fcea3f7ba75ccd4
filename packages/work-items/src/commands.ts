import type { Revisions, WorkItem } from './records.js';

/** The answer to a person's command. A moved fence is answered, not thrown. */
export type CommandResult =
  | { readonly applied: true /** The same command came before; nothing was done twice. */; readonly duplicate: boolean }
  | { readonly applied: false; readonly reason: 'stale'; readonly current: Revisions };

export const applied: CommandResult = Object.freeze({ applied: true, duplicate: false });
export const appliedBefore: CommandResult = Object.freeze({ applied: true, duplicate: true });

/** The fences of an item as they are now. */
export function revisionsOf(item: Revisions): Revisions {
  const { revision, planRevision, resultsRevision, coordinatorRevision } = item;
  return { revision, planRevision, resultsRevision, coordinatorRevision };
}

/** The stale answer if the person looked at another revision than the current one; null if not. */
export function refuseStale(item: WorkItem, expectedRevision: number | undefined): CommandResult | null {
  if (expectedRevision === undefined || expectedRevision === item.revision) return null;
  return { applied: false, reason: 'stale', current: revisionsOf(item) };
}
