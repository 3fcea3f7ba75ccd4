import type { RunStatus } from './records.js';
import { transitionTable } from './transitions.js';

export type RunTrigger =
  | 'complete'
  | 'ask'
  | 'retry_later'
  | 'defer'
  | 'fail'
  | 'lose_outcome'
  | 'interrupt'
  | 'cancel'
  | 'supersede';

const released = 'endedAt set, workspace hold freed, bound inputs pending again';

/** Every legal change of a Run's status: only running moves, and it moves once. */
export const runTransitions = transitionTable<RunStatus, RunTrigger>('Run', [
  { from: 'running', on: 'complete', to: 'completed', by: ['runner'], also: `${released}; outcome set` },
  { from: 'running', on: 'ask', to: 'waiting', by: ['runner'], also: released },
  { from: 'running', on: 'retry_later', to: 'retryable', by: ['runner'], also: released },
  { from: 'running', on: 'defer', to: 'deferred', by: ['runner'], also: released },
  { from: 'running', on: 'fail', to: 'failed', by: ['runner'], also: released },
  { from: 'running', on: 'lose_outcome', to: 'outcome_unknown', by: ['runner'], also: released },
  { from: 'running', on: 'interrupt', to: 'interrupted', by: ['recovery'], also: released },
  {
    from: 'running',
    on: 'cancel',
    to: 'cancelled',
    by: ['person'],
    also: 'endedAt set; the hold stays until its owner let go or died',
  },
  {
    from: 'running',
    on: 'supersede',
    to: 'superseded',
    by: ['coordinator'],
    also: 'endedAt set; the hold stays until its owner let go or died',
  },
]);
