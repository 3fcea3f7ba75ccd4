import { describe, expect, it } from 'vitest';
import { deriveStatus, type StatusInput, withBudgetStop } from './derive-status.js';
import type { ActionStatus, Attention } from './records.js';

const item: StatusInput['item'] = {
  id: 'i1',
  startedAt: 1,
  cancelledAt: null,
  finalResult: null,
  paused: false,
  claimsHeld: false,
  coordinatorTrouble: null,
};
const attention: Attention = { code: 'exhausted', message: 'No attempts left', command: 'stint retry i1/a', ref: null };
const result = {
  summary: '',
  criteria: [],
  outputs: [],
  responses: [],
  residualRisks: [],
  completedBy: 'gate' as const,
};

function derive(change: Partial<StatusInput> = {}, itemChange: Partial<StatusInput['item']> = {}) {
  const input = { actions: [], thinking: false, openMailboxCount: 0, openQuestions: [], ...change };
  return deriveStatus({ ...input, item: { ...item, ...itemChange } });
}

const action = (status: ActionStatus) => ({ id: 'i1/a', status, attention: null });
const question = { id: 'q1', actionId: null, text: 'Which?' };

describe('the status of an item', () => {
  it('is what was decided, whatever else is open', () => {
    const open = { actions: [action('running')], thinking: true };
    expect(derive(open, { finalResult: result }).status).toBe('done');
    expect(derive(open, { cancelledAt: 5 }).status).toBe('cancelled');
    expect(derive(open, { startedAt: null }).status).toBe('draft');
  });

  it('is running while a Run or a Coordinator turn is under way, paused or not', () => {
    expect(derive({ actions: [action('running')] }).status).toBe('running');
    expect(derive({ thinking: true }, { paused: true }).status).toBe('running');
  });

  it('is ready when something will move by itself, although a person was asked', () => {
    expect(derive({ actions: [action('ready')], openQuestions: [question] }).status).toBe('ready');
    expect(derive({ openMailboxCount: 1, openQuestions: [question] }).status).toBe('ready');
  });

  it('is not ready while a changed contract holds the claims', () => {
    expect(derive({ actions: [action('ready')] }, { claimsHeld: true }).status).toBe('needs_attention');
  });

  it('is waiting when a person was asked, with the command that answers', () => {
    const { status, attention: asked } = derive({ openQuestions: [question, { ...question, id: 'q2' }] });
    expect(status).toBe('waiting');
    expect(asked).toEqual({ code: 'question', message: 'Which?', command: 'stint answer i1 "your answer"', ref: 'q1' });
  });

  it.each(['resource_limit', 'exhausted', 'provider', 'refused_decision', 'coordinator_failed'] as const)(
    'after %s of the Coordinator is freed by a command about the item, which has no Action to retry',
    (code) => {
      const coordinatorTrouble = { code, message: 'No', ref: null };
      expect(derive({}, { coordinatorTrouble }).attention?.command).toBe('stint resume i1');
    },
  );

  it('needs attention otherwise, and tells the first reason with its command', () => {
    const waiting = { ...action('waiting'), attention: { ...attention, code: 'unknown_operation' as const } };
    const failed = { ...action('failed'), attention };
    const trouble = { code: 'provider' as const, message: 'The key was refused', ref: null };
    const codes = [
      derive({ actions: [waiting, failed] }, { coordinatorTrouble: trouble }),
      derive({ actions: [failed] }, { coordinatorTrouble: trouble }),
      derive({ actions: [failed] }),
      derive({ actions: [action('blocked')] }),
      derive({ openMailboxCount: 1 }, { paused: true }),
    ].map((derived) => [derived.status, derived.attention?.code, derived.attention?.command !== '']);
    expect(codes).toEqual([
      ['needs_attention', 'unknown_operation', true],
      ['needs_attention', 'provider', true],
      ['needs_attention', 'exhausted', true],
      ['needs_attention', 'idle', true],
      ['needs_attention', 'paused', true],
    ]);
  });
});

describe('a budget stop', () => {
  const stop = { code: 'tokens_exhausted', message: 'All 5 000 tokens are used', account: 'item:i1' };

  it('shows on an item that would go on by itself', () => {
    expect(withBudgetStop({ id: 'i1', status: 'ready', attention: null }, stop)).toEqual({
      status: 'needs_attention',
      attention: {
        code: 'budget',
        message: 'All 5 000 tokens are used',
        command: 'stint budget resume i1',
        ref: 'item:i1',
      },
    });
  });

  it.each(['done', 'cancelled', 'draft', 'running', 'waiting'] as const)(
    'leaves an item that is %s as it is',
    (status) => {
      expect(withBudgetStop({ id: 'i1', status, attention: null }, stop).status).toBe(status);
      expect(withBudgetStop({ id: 'i1', status, attention: null }, null).status).toBe(status);
    },
  );
});
