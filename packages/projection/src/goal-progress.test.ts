import { goalProgressSchema } from '@stint/contracts';
import { expect, test } from 'vitest';
import { toGoalCounts, toGoalProgress } from './goal-progress.js';
import type { ActionRecord, OutcomeRecord } from './records.js';
import { createRedactor } from './redact.js';
import { ITEM_ID, sampleAction, sampleItem } from './sources.test.helper.js';
import { TextGate } from './texts.js';

const gate = (): TextGate => new TextGate(createRedactor({ workspaceRoot: null }));

function progressOf(actions: readonly ActionRecord[], item = sampleItem()) {
  return toGoalProgress({ item, actions, runs: [] }, gate());
}

function judged(status: string, outputs: OutcomeRecord['outputs'] = []): OutcomeRecord {
  return {
    summary: 's',
    evidence: [],
    checks: [{ criterionId: 'c1', status, evidence: `says ${status}` }],
    outputs,
    residualRisks: [],
  };
}

function action(slug: string, at: number, outcome: OutcomeRecord, status = 'completed') {
  return sampleAction(slug, { status, outcome, outcomeRunId: `run-${slug}`, updatedAt: at });
}

test('without criteria there is no goal progress', () => {
  const item = sampleItem({ acceptanceCriteria: [] });
  expect(toGoalProgress({ item, actions: [], runs: [] }, gate())).toBeNull();
  expect(toGoalCounts(item, [])).toBeNull();
});

test('criteria not passed come first and the counts are true', () => {
  const progress = progressOf([action('a', 1, judged('passed'))]);
  expect(progress?.criteria.map(({ id, status }) => [id, status])).toEqual([
    ['c2', 'unmet'],
    ['c1', 'passed'],
  ]);
  expect(progress).toMatchObject({
    completed: 1,
    total: 2,
    remaining: 1,
    remainingCriteria: ['c2'],
    contractRevision: 1,
  });
  expect(progress?.evidenceRunIds).toEqual(['run-a']);
  expect(goalProgressSchema.parse(progress)).toEqual(progress);
});

test('the latest judgement counts and the Runs that disagree are named', () => {
  const actions = [action('late', 9, judged('failed')), action('early', 1, judged('passed'))];
  const c1 = progressOf(actions)?.criteria.find(({ id }) => id === 'c1');
  expect(c1).toMatchObject({
    status: 'failed',
    evidenceRunIds: ['run-late'],
    conflictingRunIds: ['run-early'],
    evidence: 'says failed',
  });
});

test('a deferred check judges nothing and a superseded Action no longer speaks', () => {
  const actions = [action('a', 1, judged('deferred')), action('b', 2, judged('passed'), 'superseded')];
  expect(toGoalCounts(sampleItem(), actions)).toEqual({ completed: 0, total: 2, remaining: 2 });
});

test('what a person can free with an answer stands before what failed', () => {
  const attention = { code: 'x', message: 'key sk-abcdefghij0123456789 is wrong', command: '', ref: null };
  const actions = [
    sampleAction('broken', { status: 'failed', attention }),
    sampleAction('asks', { status: 'waiting' }),
  ];
  expect(progressOf(actions)?.blockers).toEqual([
    { actionId: `${ITEM_ID}/asks`, kind: 'waiting', reason: '' },
    { actionId: `${ITEM_ID}/broken`, kind: 'failed', reason: 'key [secret] is wrong' },
  ]);
});

test('delivery passes when a deliver Action hands over what was asked for', () => {
  const deliver = (kind: string) => ({
    ...action('gate', 1, judged('passed', [{ kind, value: 'x' }])),
    kind: 'deliver',
  });
  const statusWith = (kind: string) => progressOf([deliver(kind)])?.delivery;
  expect(statusWith('workspace_files')).toEqual({
    target: 'workspace_files',
    status: 'passed',
    evidenceRunIds: ['run-gate'],
  });
  expect(statusWith('response')?.status).toBe('unmet');
});

test('a criterion that the final result calls passed shows the evidence that a Run gave for it', () => {
  const finalResult = {
    summary: 's',
    criteria: [{ id: 'c1', text: 'x', evidenceRunIds: ['run-silent', 'run-a'] }],
    outputs: [],
    responses: [],
    residualRisks: [],
  };
  const silent = { ...judged('passed'), checks: [{ criterionId: 'c1', status: 'passed', evidence: '' }] };
  const actions = [action('a', 1, judged('passed')), action('silent', 2, silent)];
  const c1 = progressOf(actions, sampleItem({ finalResult }))?.criteria.find(({ id }) => id === 'c1');
  expect(c1).toMatchObject({ status: 'passed', evidence: 'says passed', evidenceRunIds: ['run-a', 'run-silent'] });
});
