import { describe, expect, it } from 'vitest';
import { checkContract, type ContractInput } from './contract.js';
import { workItemLimits as limits } from './limits.js';
import { checkOutcome, type Outcome } from './outcome.js';
import { outcomeOf } from './testing-harness.js';
import { cutText } from './text.js';

const text = (bytes: number) => 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2);
const file = (sizeBytes: number) => ({ id: 'f', name: 'f.txt', mediaType: 'text/plain', sizeBytes });

describe('a contract', () => {
  it('gets its defaults and ids for its criteria', () => {
    const contract = checkContract({ goal: '  Mend it\nSoon', acceptanceCriteria: ['a', 'b'] });
    expect(contract.title).toBe('Mend it');
    expect(contract.acceptanceCriteria.map((criterion) => criterion.id)).toEqual(['c1', 'c2']);
    expect(contract).toMatchObject({ deliveryTarget: null, onUnknownRequest: 'ask', maxAttempts: 3 });
  });

  it.each([
    ['goal', (bytes: number) => ({ goal: text(bytes) }), limits.goalBytes],
    ['title', (bytes: number) => ({ title: text(bytes) }), limits.titleBytes],
    ['acceptanceCriteria[0]', (bytes: number) => ({ acceptanceCriteria: [text(bytes)] }), limits.criterionBytes],
    ['attachments[0]', (bytes: number) => ({ attachments: [file(bytes)] }), limits.attachmentBytes],
    [
      'acceptanceCriteria',
      (count: number) => ({ acceptanceCriteria: Array<string>(count).fill('x') }),
      limits.criteriaCount,
    ],
    [
      'attachments',
      (count: number) => ({ attachments: Array.from({ length: count }, () => file(1)) }),
      limits.attachmentCount,
    ],
  ])('keeps %s up to its bound and refuses one more', (field, make, bound) => {
    const contract = (size: number): ContractInput => ({ goal: 'Mend it', ...make(size) });
    expect(() => checkContract(contract(bound))).not.toThrow();
    expect(() => checkContract(contract(bound + 1))).toThrow(expect.objectContaining({ code: 'invalid_field', field }));
  });

  it('refuses an empty goal, a directory without its key, and attachments that are too much together', () => {
    expect(() => checkContract({ goal: ' \n' })).toThrow(/goal: is empty/);
    expect(() => checkContract({ goal: 'x', workDir: '/repo' })).toThrow(/workspaceKey/);
    const sizes = Array.from({ length: 6 }, () => file(limits.attachmentBytes));
    expect(() => checkContract({ goal: 'x', attachments: sizes })).toThrow(/together/);
  });
});

describe('an outcome', () => {
  const withEvidence = (kind: Outcome['evidence'][number]['kind'], value: string) => () =>
    checkOutcome(outcomeOf({ evidence: [{ kind, value }] }));

  it.each([
    ['file', '../outside.txt'],
    ['file', '/etc/passwd'],
    ['file', 'a/../../b'],
    ['file', 'C:\\x'],
    ['file', '~/x'],
    ['link', 'javascript:alert(1)'],
    ['link', 'https://user:word@example.com/'],
    ['pr', 'https://example.com/pr/1 and more'],
    ['commit', 'main'],
  ] as const)('case Y49: refuses the %s %s as evidence', (kind, value) => {
    expect(withEvidence(kind, value)).toThrow(expect.objectContaining({ code: 'invalid_field' }));
  });

  it('takes references that stay where they should', () => {
    expect(withEvidence('file', 'src/a..b.ts')).not.toThrow();
    expect(withEvidence('pr', 'https://example.com/org/repo/pull/7')).not.toThrow();
    expect(withEvidence('commit', '48185a1')).not.toThrow();
  });

  it('refuses a passed check without evidence and a criterion that is checked twice', () => {
    const passed = { criterionId: 'c1', status: 'passed', evidence: 'seen' } as const;
    expect(() => checkOutcome(outcomeOf({ checks: [{ ...passed, evidence: ' ' }] }))).toThrow(/evidence/);
    expect(() => checkOutcome(outcomeOf({ checks: [passed, passed] }))).toThrow(/twice/);
  });
});

it('text is cut at a character boundary, within its bytes', () => {
  for (let bytes = 4; bytes < 20; bytes += 1) {
    const cut = cutText('日本語のテキスト', bytes);
    expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(bytes);
    expect(cut).not.toContain('�');
  }
});
