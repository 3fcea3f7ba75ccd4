import { checkOutcome as checkStored } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { checkOutcome, handedOver, type OutcomeDuty } from './outcome.js';

const duty: OutcomeDuty = { kind: 'work', criterionIds: ['c1', 'c2'], deliveryTarget: 'response' };
const passed = (criterionId: string) => ({ criterionId, status: 'passed', evidence: 'node --test: 3 passed' });
const base = { status: 'completed', summary: 'Repaired', evidence: [{ kind: 'test', value: 'node --test: 3 passed' }] };
const reason = (input: unknown, over: Partial<OutcomeDuty> = {}): string => {
  const checked = checkOutcome(input, { ...duty, ...over });
  return checked.ok ? 'ok' : checked.reason;
};

describe('submit_outcome', () => {
  it('accepts a completed piece of work with evidence', () => {
    expect(reason({ ...base, checks: [passed('c1')] })).toBe('ok');
  });

  it('refuses to be completed without evidence (case Y38)', () => {
    expect(reason({ ...base, evidence: [] })).toContain('evidence');
    expect(reason({ ...base, checks: [{ criterionId: 'c1', status: 'passed', evidence: ' ' }] })).toContain(
      'without evidence',
    );
  });

  it('refuses checks of criteria that do not exist or are given twice', () => {
    expect(reason({ ...base, checks: [passed('c7')] })).toContain('c7');
    expect(reason({ ...base, checks: [passed('c1'), passed('c1')] })).toContain('twice');
  });

  it('demands every criterion and the delivery from a deliver Action', () => {
    const deliver = { kind: 'deliver' } as const;
    expect(reason({ ...base, checks: [passed('c1')] }, deliver)).toContain('missing: c2');
    const checks = [passed('c1'), passed('c2')];
    expect(reason({ ...base, checks }, deliver)).toContain('delivery target is response');
    expect(reason({ ...base, checks, outputs: [{ kind: 'response', value: 'Done' }] }, deliver)).toBe('ok');
  });

  it('asks a person only when waiting, and then always', () => {
    expect(reason({ ...base, status: 'waiting' })).toContain('question');
    expect(reason({ ...base, question: 'May I?' })).toContain('only a waiting outcome');
    expect(reason({ ...base, status: 'waiting', question: 'May I?' })).toBe('ok');
  });

  it('demands every criterion from a review', () => {
    expect(reason({ ...base, checks: [passed('c1')] }, { kind: 'review' })).toContain('missing: c2');
  });

  it('refuses references that leave the workspace or are not what they claim (case Y49)', () => {
    expect(reason({ ...base, evidence: [{ kind: 'file', value: '../x' }] })).toContain('leaves the workspace');
    expect(reason({ ...base, evidence: [{ kind: 'link', value: 'javascript:alert(1)' }] })).toContain('http');
    expect(reason({ ...base, outputs: [{ kind: 'workspace_files', value: '/etc/passwd' }] })).toContain('workspace');
  });

  it('names the field of a malformed argument', () => {
    expect(reason({ ...base, summary: '' })).toContain('summary');
    expect(reason({ ...base, extra: 1 })).toContain('extra');
    expect(reason('text')).toContain('document');
  });

  it('refuses whatever the records would refuse, so that every accepted outcome can be stored', () => {
    const long = { ...passed('c1'), evidence: 'ä'.repeat(1_500) };
    expect(reason({ ...base, checks: [long] })).toContain('outcome.checks[0].evidence');
    expect(reason({ ...base, evidence: [{ kind: 'link', value: 'https://x.example/a b' }] })).not.toBe('ok');
    expect(reason({ ...base, evidence: [{ kind: 'link', value: ' https://x.example' }] })).not.toBe('ok');
    const values = [
      ' /etc/passwd',
      'a b',
      '漢'.repeat(700),
      'x',
      'https://u:p@x.example',
      'deadbeef',
      '..',
      'a\u0000b',
      'a/../../b',
    ];
    for (const kind of ['text', 'file', 'test', 'link', 'pr', 'commit'] as const)
      for (const value of values) {
        const checked = checkOutcome({ ...base, evidence: [{ kind, value }] }, duty);
        if (checked.ok) expect(() => checkStored(handedOver(checked.outcome)), `${kind} ${value}`).not.toThrow();
      }
  });
});
