import { isUnfinished, satisfiesDependents } from './action-transitions.js';
import { deriveStatus } from './derive-status.js';
import { WorkItemsError } from './errors.js';
import { isEnded } from './items.js';
import type { ItemRecords } from './item-records.js';
import type { Action } from './records.js';

/**
 * Throws `invariant_broken`, naming all that is wrong, unless the item moves, has ended, or a person is asked with the
 * command that frees it. Pure: give it the records of one snapshot.
 */
export function assertNothingStuck(records: ItemRecords): void {
  const found = [
    ...statusFaults(records),
    ...records.actions.flatMap((action) => actionFaults(records, action)),
    ...runFaults(records),
  ];
  if (found.length === 0) return;
  throw new WorkItemsError('invariant_broken', `Work item ${records.item.id}: ${found.join('; ')}`);
}

function statusFaults(records: ItemRecords): readonly string[] {
  const { item } = records;
  const derived = deriveStatus({
    item,
    actions: records.actions,
    thinking: records.thinkingTurn !== null,
    openMailboxCount: records.openMailbox.length,
    openQuestions: records.openQuestions,
  });
  const faults: string[] = [];
  if (derived.status !== item.status) faults.push(`stored as ${item.status}, derived ${derived.status}`);
  const asks = item.status === 'waiting' || item.status === 'needs_attention';
  if (asks !== (item.attention !== null))
    faults.push(`is ${item.status} with attention ${item.attention?.code ?? 'none'}`);
  if (item.attention !== null && item.attention.command === '') faults.push('asks a person without a command');
  if (item.status === 'done' && item.finalResult === null) faults.push('is done without a final result');
  if (isEnded(item) && openCount(records) > 0) faults.push(`has ended with ${openCount(records)} things open`);
  return faults;
}

function openCount(records: ItemRecords): number {
  return (
    records.actions.filter((action) => isUnfinished(action.status)).length +
    records.openMailbox.length +
    records.openQuestions.length +
    (records.thinkingTurn === null ? 0 : 1) +
    (records.item.cancelledAt === null ? 0 : records.openInputs.length)
  );
}

function actionFaults({ actions, openQuestions }: ItemRecords, action: Action): readonly string[] {
  const settled = new Set(actions.filter((other) => satisfiesDependents(other.status)).map((other) => other.slug));
  const free = action.dependencies.every((slug) => settled.has(slug));
  const faults: string[] = [];
  if (action.status === 'blocked' && free) faults.push(`${action.slug} is blocked by nothing`);
  if (action.status === 'ready' && !free) faults.push(`${action.slug} is ready before its dependencies`);
  if (action.status === 'ready' && action.readyAt === null) faults.push(`${action.slug} is ready without an age`);
  if (action.status === 'waiting' || action.status === 'failed') {
    if ((action.attention?.command ?? '') === '') faults.push(`${action.slug} is ${action.status} without a command`);
  }
  if (action.status === 'waiting' && action.attention?.code === 'question') {
    if (!openQuestions.some((question) => question.actionId === action.id)) faults.push(`${action.slug} asks nothing`);
  }
  return faults;
}

function runFaults({ actions, runs, holds }: ItemRecords): readonly string[] {
  const faults: string[] = [];
  for (const action of actions) {
    const running = runs.filter((run) => run.actionId === action.id && run.status === 'running');
    const expected = action.status === 'running' ? 1 : 0;
    if (running.length !== expected)
      faults.push(`${action.slug} is ${action.status} with ${running.length} running Runs`);
    if (expected === 1 && running[0]?.id !== action.currentRunId) faults.push(`${action.slug} names another Run`);
  }
  for (const hold of holds) {
    if (!runs.some((run) => run.id === hold.runId)) faults.push(`${hold.workspaceKey} is held by no Run of this item`);
  }
  return faults;
}
