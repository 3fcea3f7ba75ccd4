import { describe, expect, it } from 'vitest';
import { actionTransitions, isUnfinished } from './action-transitions.js';
import { coordinatorTurnTransitions, mailboxTransitions } from './mailbox-transitions.js';
import { runTransitions } from './run-transitions.js';
import { type TransitionTable, transitionTable } from './transitions.js';

const tables: TransitionTable<string, string>[] = [
  actionTransitions,
  runTransitions,
  mailboxTransitions,
  coordinatorTurnTransitions,
] as unknown as TransitionTable<string, string>[];
const actors = ['person', 'coordinator', 'scheduler', 'runner', 'recovery', 'system'] as const;

describe.each(tables.map((table) => [table.record, table] as const))('the table of a %s', (_record, table) => {
  const states = [...new Set(table.rows.flatMap((row) => [row.from, row.to]))];
  const triggers = [...new Set(table.rows.map((row) => row.on))];

  it('allows its rows and nothing else', () => {
    for (const from of states) {
      for (const on of triggers) {
        for (const by of actors) {
          const row = table.rows.find((other) => other.from === from && other.on === on && other.by.includes(by));
          if (row === undefined) expect(() => table.next(from, on, by, 'x')).toThrow(/does not apply/);
          else expect(table.next(from, on, by, 'x')).toBe(row.to);
        }
      }
    }
  });

  it('says of every row what else moves', () => {
    for (const row of table.rows) expect(row.also).not.toBe('');
  });
});

describe('ended records', () => {
  it('never move: completed, closed, superseded and cancelled Actions, ended Runs and turns, done entries', () => {
    const ends = {
      Action: ['completed', 'closed', 'superseded', 'cancelled'],
      Run: [
        'completed',
        'waiting',
        'retryable',
        'deferred',
        'failed',
        'interrupted',
        'cancelled',
        'superseded',
        'outcome_unknown',
      ],
      'Mailbox entry': ['done'],
      'Coordinator turn': ['completed', 'failed'],
    };
    for (const table of tables) {
      const moving = new Set(table.rows.map((row) => row.from));
      for (const state of ends[table.record as keyof typeof ends]) expect(moving).not.toContain(state);
    }
  });

  it('case Y46: an Action is unfinished exactly if a row leads on from its status', () => {
    const moving = new Set(actionTransitions.rows.map((row) => row.from));
    const states = new Set(actionTransitions.rows.flatMap((row) => [row.from, row.to]));
    for (const state of states) expect(isUnfinished(state)).toBe(moving.has(state));
  });
});

it('two rows for one pair of state and trigger are refused', () => {
  const row = { from: 'a', on: 'go', to: 'b', by: ['person'], also: 'nothing' } as const;
  expect(() => transitionTable('Thing', [row, { ...row, to: 'a' }])).toThrow(/two rows/);
});
