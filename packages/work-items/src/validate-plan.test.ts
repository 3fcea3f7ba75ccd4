import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanMutation, PlanNode } from './plan-types.js';
import { add, planned, threeSteps } from './testing-harness.js';
import { validatePlan } from './validate-plan.js';

function rulesOf(mutations: readonly PlanMutation[], actions: readonly PlanNode[] = [], hasWorkDir = true): string[] {
  const { violations } = validatePlan({ actions, mutations, hasWorkDir, asked: false });
  return violations.map((violation) => violation.rule);
}

function node(slug: string, rest: Partial<PlanNode> = {}): PlanNode {
  return { slug, kind: 'work', status: 'ready', dependencies: [], workspaceMode: 'read', checkpoint: false, ...rest };
}

const gate = (...dependencies: string[]) => add('end', { kind: 'deliver', dependencies });
const standing = [node('a'), node('end', { kind: 'deliver', status: 'blocked', dependencies: ['a'] })];

describe('a plan', () => {
  it('that leads over steps to one gate is accepted', () => {
    expect(rulesOf(threeSteps)).toEqual([]);
  });

  it('may begin with checkpoints alone, whose settling brings the rest', () => {
    expect(rulesOf([add('research', { checkpoint: true })])).toEqual([]);
  });

  it('names each broken rule and the Action it is about', () => {
    const { violations } = validatePlan({
      actions: [],
      mutations: [add('a', { objective: ' TBD. ' }), gate('a', 'ghost')],
      hasWorkDir: true,
      asked: false,
    });
    expect(violations).toEqual([
      { rule: 'specific_text', action: 'a', message: expect.stringContaining('objective') },
      { rule: 'unknown_dependency', action: 'end', message: expect.stringContaining('"ghost"') },
    ]);
  });

  it.each([
    ['slug_format', [add('Bad Slug!'), gate('bad slug!')]],
    ['slug_used', [add('a'), add('a'), gate('a')]],
    ['dependency_twice', [add('a'), gate('a', 'a')]],
    ['unknown_dependency', [add('a'), gate('a', '')]],
    ['cycle', [add('a', { dependencies: ['b'] }), add('b', { dependencies: ['a'] }), gate('b')]],
    ['final_gate', [add('a'), add('b', { kind: 'deliver' })]],
    ['final_gate', [add('a')]],
    ['final_gate', [add('a', { kind: 'deliver' }), gate('a')]],
    ['review_without_work', [add('a'), add('end', { kind: 'review', dependencies: ['a'] })]],
  ] satisfies [string, PlanMutation[]][])('that breaks %s is refused', (rule, mutations) => {
    expect(rulesOf(mutations)).toContain(rule);
  });

  it('may not edit where the item has no directory', () => {
    const mutations = [add('edit', { workspaceMode: 'shared' }), gate('edit')];
    expect(rulesOf(mutations, [], false)).toEqual(['shared_without_directory']);
    expect(rulesOf(mutations)).toEqual([]);
  });

  it('case Y56: compares slugs in canonical form, and never takes a name of the past', () => {
    expect(rulesOf([add(' Inspect '), gate('INSPECT')])).toEqual([]);
    const past = [node('inspect', { status: 'completed' }), ...standing];
    expect(rulesOf([{ op: 'replace', id: 'a', action: planned(' INSPECT') }], past)).toContain('slug_used');
  });

  it('case Y58: limits what is added, not what is closed', () => {
    const names = Array.from({ length: 9 }, (_, index) => `step-${index + 1}`);
    const old = [
      ...names.map((name) => node(name)),
      node('end', { kind: 'deliver', status: 'blocked', dependencies: names }),
    ];
    const closings = names.slice(1).map((id): PlanMutation => ({ op: 'close', id, reason: 'Not needed' }));
    expect(rulesOf(closings, old)).toEqual([]);
    expect(rulesOf([...names.map((name) => add(name)), gate(...names)])).toEqual(['too_many_added']);
    expect(rulesOf([...names.slice(0, 7).map((name) => add(name)), gate(...names.slice(0, 7))])).toEqual([]);
  });

  it('holds at most 64 unfinished Actions and 200 in all', () => {
    const many = (count: number, status: PlanNode['status']) =>
      Array.from({ length: count }, (_, index) => node(`old-${index + 1}`, { status }));
    const to = (count: number) => gate(...Array.from({ length: count }, (_, index) => `old-${index + 1}`));
    expect(rulesOf([to(63)], many(63, 'ready'))).toEqual([]);
    expect(rulesOf([to(64)], many(64, 'ready'))).toEqual(['too_many_unfinished']);
    expect(rulesOf([gate()], many(199, 'completed'))).toEqual([]);
    expect(rulesOf([gate()], many(200, 'completed'))).toEqual(['too_many_actions']);
  });

  it('leaves alone what is finished, and the dependencies of what has begun', () => {
    const finished = [node('done', { status: 'completed' }), ...standing];
    expect(rulesOf([{ op: 'close', id: 'done', reason: 'x' }], finished)).toEqual(['action_finished']);
    const begun = [node('a', { status: 'running' }), ...standing.slice(1)];
    expect(rulesOf([{ op: 'patch_dependencies', id: 'a', dependencies: [] }], begun)).toEqual(['action_finished']);
    expect(rulesOf([{ op: 'close', id: 'ghost', reason: 'x' }], standing)).toEqual(['unknown_action']);
    const twice: PlanMutation[] = [
      { op: 'patch_dependencies', id: 'end', dependencies: ['a'] },
      { op: 'patch_dependencies', id: 'end', dependencies: ['a'] },
    ];
    expect(rulesOf(twice, standing)).toEqual(['changed_twice']);
  });

  it('points dependents at a replacement, and asks for a patch after a supersede', () => {
    const { plan, violations } = validatePlan({
      actions: standing,
      mutations: [{ op: 'replace', id: 'a', action: planned('b') }],
      hasWorkDir: true,
      asked: false,
    });
    expect(violations).toEqual([]);
    expect(plan.find((action) => action.slug === 'end')?.dependencies).toEqual(['b']);
    expect(rulesOf([{ op: 'supersede', id: 'a', reason: 'x' }], standing)).toContain('dead_dependency');
  });

  it('refuses a decision after which nothing moves and nobody is asked', () => {
    const closeAll: PlanMutation[] = ['a', 'end'].map((id) => ({ op: 'close', id, reason: 'Given up' }));
    expect(rulesOf(closeAll, standing)).toEqual(['nothing_moves']);
    const { violations } = validatePlan({ actions: standing, mutations: closeAll, hasWorkDir: true, asked: true });
    expect(violations).toEqual([]);
    expect(rulesOf([], standing)).toEqual([]);
    expect(rulesOf([], [])).toEqual(['nothing_moves']);
  });

  it('accepts every graph that leads to one gate, and refuses it with one edge turned back', () => {
    const graph = fc
      .integer({ min: 2, max: 7 })
      .chain((size) => fc.tuple(fc.constant(size), fc.array(fc.boolean(), { minLength: 49, maxLength: 49 })));
    fc.assert(
      fc.property(graph, ([size, edges]) => {
        const names = Array.from({ length: size }, (_, index) => `n-${index}`);
        const before = (index: number) => names.filter((_, other) => other < index && edges[index * 7 + other]);
        const steps = names.map((name, index) => add(name, { dependencies: before(index) }));
        expect(rulesOf([...steps, gate(...names)])).toEqual([]);
        const circle = steps.map((step, index) =>
          index === 0
            ? add('n-0', { dependencies: [`n-${size - 1}`] })
            : index === size - 1
              ? add(`n-${index}`, { dependencies: ['n-0'] })
              : step,
        );
        expect(rulesOf([...circle, gate(...names)])).toContain('cycle');
      }),
      { numRuns: 100 },
    );
  });
});
