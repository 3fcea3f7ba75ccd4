import { describe, expect, it } from 'vitest';
import { referenceProblem, type ReferenceKind } from './safe-reference.js';

const refused: readonly (readonly [ReferenceKind, string])[] = [
  ['file', '../secrets.txt'],
  ['file', 'src/../../secrets.txt'],
  ['file', '/etc/passwd'],
  ['file', '~/.ssh/id_rsa'],
  ['file', 'C:\\windows\\system.ini'],
  ['file', 'https://example.com/a.txt'],
  ['file', 'javascript:alert(1)'],
  ['file', 'a\u0000b'],
  ['link', 'javascript:alert(1)'],
  ['link', 'data:text/html,hello'],
  ['link', 'file:///etc/passwd'],
  ['link', 'src/main.ts'],
  ['link', 'https://name:secret@example.com/'],
  ['pr', 'https://example.com/owner/name/pull/12/%2e%2e/admin'],
  ['pr', 'https://example.com/owner/name/pull/12?token=1'],
  ['pr', 'https://example.com/owner/name/pull/12#x'],
  ['pr', 'https://example.com/owner/name/issues/12'],
  ['pr', '#3'],
  ['commit', 'main'],
  ['commit', 'abc123; rm -rf /'],
  ['text', '   '],
];
const accepted: readonly (readonly [ReferenceKind, string])[] = [
  ['file', 'src/sum.js'],
  ['file', 'a..b/c.txt'],
  ['link', 'https://example.com/page?x=1#y'],
  ['pr', 'https://example.com/owner/name/pull/12'],
  ['pr', 'https://example.com/group/sub/name/merge_requests/7'],
  ['commit', '48185a1'],
  ['test', 'node --test: 3 passed'],
];

describe('a reference that a model hands over', () => {
  it.each(refused)('is refused when the %s is %j (case Y49)', (kind, value) => {
    expect(referenceProblem(kind, value)).toBeTypeOf('string');
  });

  it.each(accepted)('is accepted when the %s is %j', (kind, value) => {
    expect(referenceProblem(kind, value)).toBeNull();
  });
});
