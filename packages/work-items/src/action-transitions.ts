import type { ActionStatus } from './records.js';
import { fromEach, transitionTable } from './transitions.js';

export type ActionTrigger =
  | 'unlock'
  | 'lock'
  | 'claim'
  | 'complete'
  | 'ask'
  | 'retry_later'
  | 'exhaust'
  | 'defer'
  | 'fail'
  | 'lose_outcome'
  | 'interrupt'
  | 'hold_for_person'
  | 'continue'
  | 'restart'
  | 'close'
  | 'supersede'
  | 'cancel';

/** An Action that may still move. Failed is one of them: guidance, input or a retry moves it. */
export const unfinishedActionStatuses: readonly ActionStatus[] = ['blocked', 'ready', 'running', 'waiting', 'failed'];

const runEnds = 'its Run ends with it; resultsRevision + 1';

/** Every legal change of an Action's status. */
export const actionTransitions = transitionTable<ActionStatus, ActionTrigger>('Action', [
  {
    from: 'blocked',
    on: 'unlock',
    to: 'ready',
    by: ['system'],
    also: 'readyAt set: every dependency is completed or closed',
  },
  { from: 'ready', on: 'lock', to: 'blocked', by: ['system'], also: 'its dependencies were patched' },
  {
    from: 'ready',
    on: 'claim',
    to: 'running',
    by: ['scheduler'],
    also: 'Run inserted, leaseEpoch + 1, workspace hold',
  },
  {
    from: 'running',
    on: 'complete',
    to: 'completed',
    by: ['runner'],
    also: `${runEnds}; dependents unlocked, Coordinator woken or item done`,
  },
  { from: 'running', on: 'ask', to: 'waiting', by: ['runner'], also: `${runEnds}; question asked` },
  { from: 'running', on: 'retry_later', to: 'ready', by: ['runner'], also: `${runEnds}; notBefore set` },
  { from: 'running', on: 'exhaust', to: 'failed', by: ['runner', 'recovery'], also: `${runEnds}; Coordinator woken` },
  { from: 'running', on: 'defer', to: 'ready', by: ['runner'], also: `${runEnds}; the attempt is not spent` },
  { from: 'running', on: 'fail', to: 'failed', by: ['runner'], also: `${runEnds}; Coordinator woken` },
  {
    from: 'running',
    on: 'lose_outcome',
    to: 'waiting',
    by: ['runner'],
    also: `${runEnds}; a person resolves what is unknown`,
  },
  { from: 'running', on: 'interrupt', to: 'ready', by: ['recovery'], also: `${runEnds}; goes on from its journal` },
  {
    from: 'running',
    on: 'hold_for_person',
    to: 'waiting',
    by: ['recovery'],
    also: `${runEnds}; a person resolves or allows it`,
  },
  {
    from: 'waiting',
    on: 'continue',
    to: 'ready',
    by: ['person'],
    also: 'answer, input, resolution: the same attempt goes on',
  },
  ...fromEach<ActionStatus, ActionTrigger>(['failed'], {
    on: 'restart',
    to: 'blocked',
    by: ['person'],
    also: 'generation + 1, attempts 0; unlocked again if its dependencies are settled',
  }),
  ...fromEach<ActionStatus, ActionTrigger>(unfinishedActionStatuses, {
    on: 'close',
    to: 'closed',
    by: ['coordinator'],
    also: 'leaseEpoch + 1, running Run superseded, inputs superseded; dependents go on',
  }),
  ...fromEach<ActionStatus, ActionTrigger>(unfinishedActionStatuses, {
    on: 'supersede',
    to: 'superseded',
    by: ['coordinator'],
    also: 'leaseEpoch + 1, running Run superseded, inputs superseded',
  }),
  ...fromEach<ActionStatus, ActionTrigger>(unfinishedActionStatuses, {
    on: 'cancel',
    to: 'cancelled',
    by: ['person'],
    also: 'generation + 1, leaseEpoch + 1, running Run cancelled, inputs superseded',
  }),
]);

/** A dependency in one of these states holds nobody back. */
export function satisfiesDependents(status: ActionStatus): boolean {
  return status === 'completed' || status === 'closed';
}

/** True while an Action may still move. */
export function isUnfinished(status: ActionStatus): boolean {
  return unfinishedActionStatuses.includes(status);
}
