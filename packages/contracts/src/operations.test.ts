import { expect, test } from 'vitest';
import { CONTRACT_LIMITS } from './limits.js';
import { isOperationName, operations } from './operations.js';

const create = {
  clientMessageId: 'm1',
  goal: 'Make the failing test pass',
  acceptanceCriteria: ['node --test passes'],
  workDir: '/home/me/app',
  deliveryTarget: 'workspace_files',
  start: true,
} as const;

test('only the named operations are in the list, not what objects inherit', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'delete', '']) expect(isOperationName(name)).toBe(false);
  for (const name of Object.keys(operations)) expect(isOperationName(name)).toBe(true);
});

test('an unknown key is refused in the input of every operation', () => {
  for (const [name, { input }] of Object.entries(operations)) {
    const result = input.safeParse({ surprise: 1 });
    expect(result.success, name).toBe(false);
    expect(JSON.stringify(result.error?.issues), name).toContain('surprise');
  }
});

test('every command is for a person and answers with the item and the conflict, if any', () => {
  for (const [name, operation] of Object.entries(operations)) {
    expect(operation.whoMay, name).toBe(operation.role === 'command' ? 'person' : 'owner');
    if (operation.role === 'command') expect(operation.output, name).toBe(operations.start.output);
  }
});

test('the bounds of a contract count bytes, not characters', () => {
  const fits = 'é'.repeat(CONTRACT_LIMITS.maxCriterionBytes / 2);
  const schema = operations.create.input;
  expect(schema.safeParse({ ...create, acceptanceCriteria: [fits] }).success).toBe(true);
  expect(schema.safeParse({ ...create, acceptanceCriteria: [`${fits}x`] }).success).toBe(false);
  const many = Array.from({ length: CONTRACT_LIMITS.maxCriteria + 1 }, () => 'x');
  expect(schema.safeParse({ ...create, acceptanceCriteria: many }).success).toBe(false);
});

test('a goal of white space is refused', () => {
  expect(operations.create.input.safeParse({ ...create, goal: ' \n' }).success).toBe(false);
});

test('a delivery that nobody offers yet is refused on the way in', () => {
  expect(operations.create.input.safeParse({ ...create, deliveryTarget: 'merge' }).success).toBe(false);
});

test('an extension adds whole positive numbers to at least one known limit', () => {
  const extend = (additions: unknown) =>
    operations.extend_budget.input.safeParse({ itemId: 'i', expectedBudgetRevision: 0, additions }).success;
  expect(extend({ maxTokens: 1 })).toBe(true);
  for (const bad of [
    {},
    { maxTokens: 0 },
    { maxTokens: -1 },
    { maxTokens: 1.5 },
    { maxToken: 5 },
    { maxTokens: 2 ** 53 },
  ]) {
    expect(extend(bad), JSON.stringify(bad)).toBe(false);
  }
});
