import { findRepairs } from '../repair/find-repairs.js';
import type { Answer, ScenarioRequest } from '../scenario.js';
import type { ActionPrompt } from './action-prompt.js';
import { explore } from './explore.js';
import { submitCompleted, submitStuck } from './outcome.js';

/** An Action that only looks: lists, reads, and says which files matter and what it thinks of them. */
export function inspectAction(request: ScenarioRequest, prompt: ActionPrompt): Answer {
  const seen = explore(request);
  if (seen.state === 'looking') return { reasoning: seen.thought, toolCalls: seen.calls };
  if (seen.state === 'stuck') return submitStuck(prompt, seen.reason);
  const files = [...seen.sources.keys(), ...seen.tests.keys()];
  const evidence = files.map((value) => ({ kind: 'file' as const, value }));
  return submitCompleted(prompt, {
    reasoning: `I have read ${files.length} files; that is enough to say what is there.`,
    summary: `${listed('Sources', seen.sources)} ${listed('Tests', seen.tests)} ${suspicion(seen)}`,
    evidence: evidence.length > 0 ? evidence : [{ kind: 'text', value: 'The directory has no JavaScript files.' }],
    check: { status: 'deferred', evidence: 'Nothing was changed yet; this is judged afterwards.' },
  });
}

function listed(what: string, files: ReadonlyMap<string, string>): string {
  return `${what}: ${[...files.keys()].join(', ') || 'none'}.`;
}

function suspicion(workspace: Parameters<typeof findRepairs>[0]): string {
  if (workspace.sources.size === 0 || workspace.tests.size === 0) return 'There is no test to compare a source with.';
  const { repairs, evaluated, alreadyPasses } = findRepairs(workspace);
  if (!evaluated) return 'I cannot tell by reading what is wrong; the tests have to be run.';
  if (alreadyPasses) return 'As I read them, the assertions hold.';
  const [first] = repairs;
  if (first === undefined) return 'An assertion does not hold, and I see no small change that mends it.';
  const line = workspace.sources.get(first.path)?.slice(0, first.start).split('\n').length;
  return `An assertion does not hold; line ${line} of ${first.path} looks wrong.`;
}
