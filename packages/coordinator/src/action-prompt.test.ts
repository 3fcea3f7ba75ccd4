import { describe, expect, it } from 'vitest';
import { type ActionPromptInput, actionPrompt, actionPromptBytes, actionSystemPrompt } from './action-prompt.js';
import { utf8Bytes } from './text-bounds.js';

const input: ActionPromptInput = {
  slug: 'repair',
  kind: 'work',
  workspace: 'shared',
  objective: 'Repair sum',
  approach: 'Change one operator',
  expectedResult: 'The test passes',
  contract: {
    title: 'T',
    goal: 'Make it pass',
    acceptanceCriteria: [
      { id: 'c1', text: 'node --test passes' },
      { id: 'c2', text: 'only one file changes' },
    ],
    deliveryTarget: 'workspace_files',
    hasWorkDir: true,
  },
  dependencies: [
    {
      slug: 'inspect',
      outcome: {
        summary: 'It subtracts',
        evidence: [],
        checks: [],
        outputs: [],
        residualRisks: [],
      },
    },
  ],
};

describe('the prompt of an Action', () => {
  it('has its headings in the published order', () => {
    const text = actionPrompt(input);
    expect(text).toBe(
      [
        '# Action repair',
        'Kind: work',
        'Workspace: shared',
        '## Objective\nRepair sum',
        '## Approach\nChange one operator',
        '## Expected result\nThe test passes',
        '## Goal\nMake it pass',
        '## Acceptance criteria\n- [c1] node --test passes\n- [c2] only one file changes',
        '## Delivery target\nworkspace_files',
        '## Results of dependencies',
        `### inspect\n${JSON.stringify(input.dependencies[0]?.outcome)}`,
        '',
      ].join('\n'),
    );
    expect(actionSystemPrompt.split('\n')[0]).toBe('You execute one Action of a Stint work item.');
  });

  it('cuts results of dependencies before anything else, and keeps them JSON', () => {
    const evidence = Array.from({ length: 32 }, () => ({ kind: 'text', value: 'e'.repeat(2_000) }) as const);
    const outcome = { ...input.dependencies[0]!.outcome, summary: 's'.repeat(4_000), evidence };
    const dependencies = Array.from({ length: 12 }, (_, index) => ({
      slug: `dep-${index}`,
      outcome,
    }));
    const contract = { ...input.contract, goal: 'g'.repeat(16_000) };
    const text = actionPrompt({ ...input, contract, dependencies });
    expect(utf8Bytes(text)).toBeLessThanOrEqual(actionPromptBytes);
    expect(text).toContain('g'.repeat(16_000));
    const results = text.slice(text.indexOf('## Results')).match(/^\{.*\}$/gmu) ?? [];
    expect(results).toHaveLength(dependencies.length);
    for (const line of results) expect(JSON.parse(line)).not.toHaveProperty('evidence');
  });
});
