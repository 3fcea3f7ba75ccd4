import { describe, expect, it } from 'vitest';
import {
  coordinatorSnapshot,
  coordinatorSystemPrompt,
  type SnapshotInput,
  snapshotBytes,
} from './coordinator-prompt.js';
import type { PlanAction } from './plan-view.js';
import { utf8Bytes } from './text-bounds.js';

function finished(index: number, textBytes: number, criterionIds: readonly string[]): PlanAction {
  return {
    slug: `action-${index}`,
    kind: 'work',
    status: 'completed',
    objective: 'o'.repeat(textBytes),
    dependencies: index === 0 ? [] : [`action-${index - 1}`],
    workspaceMode: 'read',
    checkpoint: false,
    note: null,
    result: {
      runId: `run-${index}`,
      summary: 's'.repeat(textBytes),
      outputs: [],
      checks: criterionIds.map((criterionId) => ({ criterionId, status: 'passed', evidence: 'seen' })),
    },
  };
}
const criteria = Array.from({ length: 24 }, (_, index) => ({ id: `c${index + 1}`, text: 't'.repeat(768) }));
const full: SnapshotInput = {
  trigger: { kind: 'message', text: 'go on' },
  contract: {
    title: 'T',
    goal: 'g'.repeat(16_000),
    acceptanceCriteria: criteria,
    deliveryTarget: 'response',
    hasWorkDir: true,
  },
  plan: Array.from({ length: 190 }, (_, index) =>
    finished(
      index,
      1_000,
      criteria.map((criterion) => criterion.id),
    ),
  ),
  conversation: Array.from({ length: 300 }, (_, at) => ({
    from: 'person',
    text: `message ${at} ${'m'.repeat(500)}`,
    at,
  })),
  budget: { requestsLeft: 10, tokensLeft: 1_000, costMicrosLeft: null },
};
interface Shown {
  actions: {
    id: string;
    status: string;
    result?: { runId: string; checks: { criterionId: string; status: string }[] };
  }[];
  contract: unknown;
  conversation: { text: string }[];
}
const parse = (text: string): Shown => JSON.parse(text) as Shown;

describe('the snapshot shown to the Coordinator', () => {
  it('stays within its bound for the largest contract and plan', () => {
    expect(utf8Bytes(coordinatorSnapshot(full))).toBeLessThanOrEqual(snapshotBytes);
  });

  it('keeps everything that a completion must name, however much is cut (case Y47)', () => {
    const shown = parse(coordinatorSnapshot(full));
    expect(shown.contract).toEqual(full.contract);
    expect(shown.actions).toHaveLength(full.plan.length);
    for (const { id } of criteria) {
      const evidence = shown.actions.filter((a) =>
        a.result?.checks.some((c) => c.criterionId === id && c.status === 'passed'),
      );
      expect(evidence.map((action) => action.result?.runId)).toContain('run-189');
    }
  });

  it('shows unfinished Actions first and short plans whole', () => {
    const open: PlanAction = { ...finished(1, 40, []), slug: 'open', status: 'ready', result: null };
    const shown = parse(coordinatorSnapshot({ ...full, plan: [finished(0, 40, ['c1']), open] }));
    expect(shown.actions.map((action) => action.id)).toEqual(['open', 'action-0']);
    expect(shown.actions[1]).toMatchObject({ objective: 'o'.repeat(40), result: { summary: 's'.repeat(40) } });
  });

  it('keeps the newest part of the conversation in its order', () => {
    const { conversation } = parse(coordinatorSnapshot({ ...full, plan: [] }));
    expect(conversation.at(-1)?.text).toMatch(/^message 299 /);
    expect(conversation.at(-2)?.text).toMatch(/^message 298 /);
    expect(conversation.length).toBeLessThan(300);
  });

  it('opens with the line that names its reader', () => {
    expect(coordinatorSystemPrompt.split('\n')[0]).toBe('You are the Coordinator of a Stint work item.');
  });
});
