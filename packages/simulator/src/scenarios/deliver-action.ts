import { findRepairs } from '../repair/find-repairs.js';
import type { Answer, ScenarioRequest } from '../scenario.js';
import type { ActionPrompt } from './action-prompt.js';
import { explore } from './explore.js';
import { submitCompleted, submitStuck } from './outcome.js';
import { outputsOf } from './repair-action.js';

/**
 * The Action that judges and hands over. It has no shell: it reads the changed files, compares them with what the
 * other Actions said, and cites their test run.
 */
export function deliverAction(request: ScenarioRequest, prompt: ActionPrompt): Answer {
  if (prompt.deliveryTarget === 'pull_request' || prompt.deliveryTarget === 'merge') {
    return submitStuck(prompt, `I cannot hand over a ${prompt.deliveryTarget}: I have no tool for it.`);
  }
  const claim = claimOf(prompt);
  const seen = explore(request, claim.files);
  if (seen.state === 'looking') return { reasoning: 'I read what was changed.', toolCalls: seen.calls };
  if (seen.state === 'stuck') return submitStuck(prompt, seen.reason);
  const files = new Map([...seen.sources, ...seen.tests]);
  const missing = claim.changes.find(({ path, line }) => !(files.get(path) ?? '').includes(line));
  if (missing !== undefined) return submitStuck(prompt, `${missing.path} does not hold the change I was told of.`);
  const shown = claim.testRun ?? holdsAsRead(seen);
  if (shown === null) return submitStuck(prompt, 'nothing I was given shows that the criteria are met.');
  return submitCompleted(prompt, {
    reasoning: 'The change is in the file and the tests were seen to pass; every criterion is met.',
    summary: `Verified every criterion. ${claim.summary || `${shown}.`}`,
    evidence: [
      ...claim.files.map((value) => ({ kind: 'file' as const, value })),
      { kind: claim.testRun === null ? 'text' : 'test', value: shown },
    ],
    check: { status: 'passed', evidence: shown },
    outputs: outputsOf(prompt, claim.files, claim.summary || shown),
  });
}

interface Claim {
  /** Files that were changed; empty if none were. */
  readonly files: readonly string[];
  /** What each changed file must now hold. */
  readonly changes: readonly { readonly path: string; readonly line: string }[];
  readonly testRun: string | null;
  readonly summary: string;
}

/** What the dependencies say they did. */
function claimOf({ dependencies }: ActionPrompt): Claim {
  const files = dependencies.flatMap(({ outputs }) => outputs.filter(({ kind }) => kind === 'workspace_files'));
  const told = dependencies.flatMap(({ evidence }) => evidence);
  const testRun = told.findLast(({ kind, value }) => kind === 'test' && value.endsWith(' 0 failed'))?.value ?? null;
  const changes = told.flatMap(({ kind, value }) => (kind === 'text' ? changeOf(value) : []));
  const summary = dependencies.findLast((dependency) => dependency.summary !== '')?.summary ?? '';
  return { files: [...new Set(files.map(({ value }) => value))], changes, testRun, summary };
}

function changeOf(value: string): readonly { readonly path: string; readonly line: string }[] {
  const [, path, line] = /^(.+?): ".*" became (".*")$/s.exec(value) ?? [];
  if (path === undefined || line === undefined) return [];
  return [{ path, line: String(JSON.parse(line)) }];
}

/** Without a test run to cite, the assertions are followed by reading. */
function holdsAsRead(seen: Parameters<typeof findRepairs>[0]): string | null {
  return findRepairs(seen).alreadyPasses ? 'As I read sources and tests, every assertion holds' : null;
}
