import type { CoordinatorTurnStatus, MailboxStatus } from './records.js';
import { fromEach, transitionTable } from './transitions.js';

export type MailboxTrigger = 'claim' | 'release' | 'finish' | 'discard';

/** Every legal change of a mailbox entry. */
export const mailboxTransitions = transitionTable<MailboxStatus, MailboxTrigger>('Mailbox entry', [
  { from: 'pending', on: 'claim', to: 'claimed', by: ['scheduler'], also: 'claimEpoch + 1, owner set' },
  {
    from: 'claimed',
    on: 'release',
    to: 'pending',
    by: ['scheduler', 'recovery'],
    also: 'claimEpoch + 1, owner cleared, thinking turn failed',
  },
  { from: 'claimed', on: 'finish', to: 'done', by: ['coordinator', 'scheduler', 'recovery'], also: 'its turn ends' },
  ...fromEach<MailboxStatus, MailboxTrigger>(['pending', 'claimed'], {
    on: 'discard',
    to: 'done',
    by: ['person', 'system'],
    also: 'claimEpoch + 1: the item was cancelled or is done',
  }),
]);

export type CoordinatorTurnTrigger = 'decide' | 'fail';

/** Every legal change of a Coordinator turn: only thinking moves, and it moves once. */
export const coordinatorTurnTransitions = transitionTable<CoordinatorTurnStatus, CoordinatorTurnTrigger>(
  'Coordinator turn',
  [
    {
      from: 'thinking',
      on: 'decide',
      to: 'completed',
      by: ['coordinator'],
      also: 'coordinatorRevision + 1, decision kept, entry done',
    },
    {
      from: 'thinking',
      on: 'fail',
      to: 'failed',
      by: ['scheduler', 'recovery', 'person', 'system'],
      also: 'coordinatorRevision + 1',
    },
  ],
);
