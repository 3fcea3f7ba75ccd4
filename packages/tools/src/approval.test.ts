import { symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type Approval,
  type ApprovalPolicy,
  type ApprovalRule,
  approvalRequest,
  createApprovalPolicy,
  decideApproval,
  defineTool,
} from './index.js';
import { matchesWildcard } from './wildcard.js';
import { randomWord, testWorkspace } from './workspace.test.helper.js';

async function decide(
  rules: readonly ApprovalRule[],
  tool: string,
  input: Record<string, unknown>,
  workspace = testWorkspace(),
): Promise<Approval> {
  const registered = workspace.registry.get(tool);
  if (registered === undefined) throw new Error(`no tool ${tool}`);
  const request = await approvalRequest(registered, input, workspace.root);
  return (await decideApproval(createApprovalPolicy({ rules }), request)).decision;
}

describe('rules', () => {
  test('without a matching rule the answer is ask', async () => {
    expect(await decide([], 'shell', { command: 'ls' })).toBe('ask');
    expect(await decide([{ decision: 'allow', tool: 'read_*' }], 'shell', { command: 'ls' })).toBe('ask');
  });

  test('the first matching rule counts, and a deny wins wherever it stands', async () => {
    const rules: ApprovalRule[] = [
      { decision: 'allow', tool: 'shell', command: 'npm test*' },
      { decision: 'ask', tool: 'shell' },
      { decision: 'deny', command: 'npm test --danger*' },
    ];
    expect(await decide(rules, 'shell', { command: 'npm test -- a' })).toBe('allow');
    expect(await decide(rules, 'shell', { command: 'make' })).toBe('ask');
    expect(await decide(rules, 'shell', { command: 'npm test --danger x' })).toBe('deny');
  });

  test('allowing a command does not allow what is chained to it; denying one looks into every part', async () => {
    const allow: ApprovalRule[] = [{ decision: 'allow', command: 'npm test*' }];
    for (const command of [
      'npm test; rm -rf x',
      'npm test && x',
      'npm test | sh',
      'npm test $(x)',
      'npm test `x`',
      'npm test > file',
      'npm test\nx',
      'npm test & x',
    ]) {
      expect([command, await decide(allow, 'shell', { command })]).toEqual([command, 'ask']);
    }
    const more = ['npm testevil', 'npm test-evil', 'npm test/../x', 'npm test:x', 'npm testevil x', 'npm  test'];
    for (const command of more) expect([command, await decide(allow, 'shell', { command })]).toEqual([command, 'ask']);
    for (const command of ['npm test', ' npm test ', 'npm test -- -u', 'npm test\tx'])
      expect([command, await decide(allow, 'shell', { command })]).toEqual([command, 'allow']);
    const deny: ApprovalRule[] = [
      { decision: 'deny', command: 'rm *' },
      { decision: 'allow', tool: 'shell' },
    ];
    for (const command of ['rm x', 'ls; rm x', 'ls && (rm x)', 'echo $(rm x)', 'true | rm x']) {
      expect([command, await decide(deny, 'shell', { command })]).toEqual([command, 'deny']);
    }
    for (const command of ['ls', 'echo rm x', 'rmdir x', 'npm run rm', 'grep -r rm .'])
      expect([command, await decide(deny, 'shell', { command })]).toEqual([command, 'allow']);
  });

  test('a deny by command sees the usual spellings of it, and an allow only the plain one', async () => {
    const deny: ApprovalRule[] = [
      { decision: 'deny', command: 'rm *' },
      { decision: 'allow', tool: 'shell' },
    ];
    const allow: ApprovalRule[] = [{ decision: 'allow', command: 'rm *' }];
    const spellings = [
      'rm\t-rf x',
      'rm   x',
      '\\rm x',
      '"rm" x',
      "r'm' x",
      '/bin/rm x',
      '../bin/rm x',
      'x=1 rm x',
      'A=1 B=2 rm x',
      'A="1 2" rm x',
      'A+=1 B[0]=1 rm x',
      '>out rm x',
      '2>/dev/null rm x',
      'coproc rm x',
    ];
    const run = [
      '! rm x',
      'if true; then rm x; fi',
      'sudo rm x',
      'sudo -u bob /bin/rm x',
      'time rm x',
      'env A=1 rm x',
      'sh -c "rm x"',
    ];
    const more = [
      'find . | xargs -n 1 rm -f',
      'nohup nice -n 5 rm x',
      'for f in *; do rm $f; done',
      'command rm x',
      '{ rm x; }',
    ];
    for (const command of [...spellings, ...run, ...more]) {
      expect([command, await decide(deny, 'shell', { command })]).toEqual([command, 'deny']);
      if (!/^rm\s/.test(command))
        expect([command, await decide(allow, 'shell', { command })]).toEqual([command, 'ask']);
    }
  });

  test('paths are judged as named and as reached through links, each of a patch, the strictest wins', async () => {
    const workspace = testWorkspace();
    await workspace.call('write_file', { path: 'keys/secret.txt', content: 'x' });
    await workspace.call('write_file', { path: 'src/a.ts', content: 'x' });
    symlinkSync('../keys/secret.txt', workspace.path('src/innocent.ts'));
    const rules: ApprovalRule[] = [
      { decision: 'deny', path: 'keys/**' },
      { decision: 'allow', path: 'src/**' },
    ];
    expect(await decide(rules, 'write_file', { path: 'src/a.ts', content: '' }, workspace)).toBe('allow');
    expect(await decide(rules, 'write_file', { path: 'src/../keys/new.txt', content: '' }, workspace)).toBe('deny');
    expect(await decide(rules, 'read_file', { path: 'src/innocent.ts' }, workspace)).toBe('deny');
    const patch = (...paths: string[]) => ({
      patch: paths.map((path) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-x\n+y\n`).join(''),
    });
    expect(await decide(rules, 'apply_patch', patch('src/a.ts'), workspace)).toBe('allow');
    expect(await decide(rules, 'apply_patch', patch('src/a.ts', 'README.md'), workspace)).toBe('ask');
    expect(await decide(rules, 'apply_patch', patch('src/a.ts', 'keys/secret.txt'), workspace)).toBe('deny');
  });

  test('a call whose facts cannot be established is denied', async () => {
    const rules: ApprovalRule[] = [{ decision: 'allow' }];
    expect(await decide(rules, 'apply_patch', { patch: 'not a patch' })).toBe('deny');
    expect(await decide(rules, 'read_file', { path: '../outside' })).toBe('deny');
  });

  test('a rule by source tells MCP tools from built-in ones, and a bad rule is refused with its number', async () => {
    const rules: ApprovalRule[] = [{ decision: 'allow', source: 'built-in' }];
    expect(await decide(rules, 'shell', { command: 'ls' })).toBe('allow');
    const foreign = defineTool({
      name: 'x',
      description: '',
      inputSchema: { type: 'object' },
      source: 'mcp:files',
      execute: () => '',
    });
    expect((await decideApproval(createApprovalPolicy({ rules }), await approvalRequest(foreign, {}))).decision).toBe(
      'ask',
    );
    expect(() => createApprovalPolicy({ rules: [{ decision: 'allow' }, { decision: 'maybe' as Approval }] })).toThrow(
      /rule 2/,
    );
  });
});

test('a `*` after a word never continues that word, wherever it stands in a pattern', () => {
  const covers = (pattern: string, text: string) => matchesWildcard(pattern, text, { byWords: true });
  expect(['git status', 'git status -s'].map((text) => covers('git status**', text))).toEqual([true, true]);
  expect(covers('git status**', 'git statusx')).toBe(false);
  expect(covers('npm run test:*', 'npm run test:unit')).toBe(true);
  expect(covers('git * status*', 'git -C sub status -s')).toBe(true);
  expect(covers('git * status*', 'git -C sub statusevil')).toBe(false);
  expect(covers('git * status*', 'git statusevil -x status')).toBe(true);
  expect(covers('git* status', 'git -x status')).toBe(true);
  expect(covers('git* status', 'gitx status')).toBe(false);
  expect(covers('*test*', 'npm test')).toBe(true);
  expect(covers('./run.sh *', './run.sh a b')).toBe(true);
  expect(matchesWildcard('rm*', 'rmdir')).toBe(true);
});

describe('a policy that fails', () => {
  test('by throwing, hanging or answering nonsense denies, and tells why', async () => {
    const word = randomWord();
    const policies: readonly ApprovalPolicy[] = [
      () => {
        throw new Error(word);
      },
      () => Promise.reject(new Error(word)),
      () => new Promise(() => {}),
      () => 'allow' as never,
      () => ({ decision: 'yes' }) as never,
      () => undefined as never,
    ];
    const tool = defineTool({ name: 'x', description: '', inputSchema: { type: 'object' }, execute: () => '' });
    const request = await approvalRequest(tool, {});
    for (const policy of policies) {
      const decided = await decideApproval(policy, request, { timeoutMs: 30 });
      expect(decided.decision).toBe('deny');
      expect(decided.reason).toMatch(new RegExp(`${word}|within 30 ms|no decision`));
    }
  });
});
