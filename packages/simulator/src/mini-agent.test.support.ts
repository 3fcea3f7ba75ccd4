import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { actionLine } from './scenarios/action-prompt.js';
import { coordinatorLine } from './scenarios/coordinator-prompt.js';

/** What a model was told and what it answered, as chat completions carry it. */
export type WireMessage = Readonly<Record<string, unknown>>;

export interface Item {
  readonly url: string;
  readonly model: string;
  readonly root: string | null;
  readonly goal: string;
  readonly deliveryTarget: string;
  /** Replaces a tool's result, to see what the model makes of it. */
  readonly tamper?: (tool: string, result: string) => string;
}

interface Planned {
  readonly id: string;
  readonly kind: string;
  readonly workspaceMode: string;
  readonly dependencies: readonly string[];
  readonly objective: string;
}

export interface ActionResult extends Planned {
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly messages: readonly WireMessage[];
}

/** A loop as small as can be that plays the rest of Stint: plans once, runs every Action in order, one tool after another. */
export async function runItem(item: Item): Promise<readonly ActionResult[]> {
  const decision = JSON.parse(await coordinate(item, { kind: 'started' }, [])) as { mutations: { action: Planned }[] };
  const results: ActionResult[] = [];
  for (const { action } of decision.mutations) {
    results.push(await runAction(item, action, results));
    if (results.at(-1)?.outcome['status'] !== 'completed') break;
  }
  return results;
}

/** One Coordinator turn; returns the text of the decision. */
export async function coordinate(item: Item, trigger: unknown, actions: readonly unknown[]): Promise<string> {
  const { goal, deliveryTarget, root } = item;
  const contract = { title: goal, goal, acceptanceCriteria: criteria, deliveryTarget, hasWorkDir: root !== null };
  const snapshot = { trigger, contract, actions, conversation: [], budget: {} };
  const messages = [
    { role: 'system', content: `${coordinatorLine}\nAnswer with one JSON document.` },
    { role: 'user', content: JSON.stringify(snapshot) },
  ];
  return String((await ask(item, messages, []))['content']);
}

const criteria = [
  { id: 'c1', text: 'node --test passes' },
  { id: 'c2', text: 'only what is needed was changed' },
];

export async function runAction(item: Item, action: Planned, done: readonly ActionResult[]): Promise<ActionResult> {
  const tools = toolsFor(item, action);
  const messages: WireMessage[] = [
    { role: 'system', content: `${actionLine}\nUse your tools.` },
    { role: 'user', content: actionPrompt(item, action, done) },
  ];
  for (let turn = 0; turn < 40; turn += 1) {
    const answer = await ask(item, messages, tools);
    messages.push(answer);
    for (const call of (answer['tool_calls'] ?? []) as {
      id: string;
      function: { name: string; arguments: string };
    }[]) {
      const input = JSON.parse(call.function.arguments) as Record<string, string>;
      if (call.function.name === 'submit_outcome') return { ...action, outcome: input, messages };
      const result = await runTool(item, call.function.name, input);
      messages.push({
        role: 'tool',
        tool_call_id: call.id,
        content: item.tamper?.(call.function.name, result) ?? result,
      });
    }
  }
  throw new Error(`Action ${action.id} never submitted an outcome.`);
}

async function ask(item: Item, messages: readonly WireMessage[], tools: readonly string[]): Promise<WireMessage> {
  const offered = tools.map((name) => ({
    type: 'function',
    function: { name, description: name, parameters: { type: 'object' } },
  }));
  const body = JSON.stringify({ model: item.model, messages, tools: offered });
  const response = await fetch(`${item.url}/chat/completions`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  const answer = (await response.json()) as { choices: { message: WireMessage }[]; error?: { message: string } };
  const message = answer.choices?.[0]?.message;
  if (message === undefined) throw new Error(`No answer: ${answer.error?.message}`);
  return message;
}

function toolsFor(item: Item, action: Planned): readonly string[] {
  const own = ['submit_outcome', 'ask_human'];
  if (item.root === null) return own;
  const reading = ['read_file', 'list_directory'];
  return action.workspaceMode === 'shared'
    ? [...reading, 'write_file', 'edit_file', 'shell', ...own]
    : [...reading, ...own];
}

function actionPrompt(item: Item, action: Planned, done: readonly ActionResult[]): string {
  const results = done
    .filter(({ id }) => action.dependencies.includes(id))
    .map(({ id, outcome }) => `### ${id}\n${JSON.stringify({ runId: `run-${id}`, ...outcome })}`);
  return [
    `# Action ${action.id}`,
    `Kind: ${action.kind}`,
    `Workspace: ${item.root === null ? 'none' : action.workspaceMode}`,
    `## Objective\n${action.objective}`,
    '## Approach\nAs planned.',
    '## Expected result\nAs planned.',
    `## Goal\n${item.goal}`,
    `## Acceptance criteria\n${criteria.map(({ id, text }) => `- [${id}] ${text}`).join('\n')}`,
    `## Delivery target\n${item.deliveryTarget}`,
    ...(results.length > 0 ? [`## Results of dependencies\n${results.join('\n')}`] : []),
    '',
  ].join('\n');
}

async function runTool(item: Item, name: string, input: Readonly<Record<string, string>>): Promise<string> {
  const root = item.root ?? '';
  const path = join(root, input['path'] ?? '.');
  if (name === 'list_directory') return listDirectory(path);
  if (name === 'read_file') return readFile(path, 'utf8');
  if (name === 'edit_file') return editFile(path, input);
  if (name === 'shell') return runShell(root, input['command'] ?? '');
  throw new Error(`The simulated model called ${name}, which was not offered.`);
}

async function listDirectory(path: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true });
  const lines = entries.map(async (entry) =>
    entry.isDirectory() ? `${entry.name}/` : `${entry.name}  ${(await stat(join(path, entry.name))).size}`,
  );
  return (await Promise.all(lines)).sort().join('\n') || '(empty)';
}

async function editFile(
  path: string,
  { oldText = '', newText = '' }: Readonly<Record<string, string>>,
): Promise<string> {
  const before = await readFile(path, 'utf8');
  if (before.split(oldText).length !== 2) return `oldText does not stand in "${path}".`;
  await writeFile(
    path,
    before.replace(oldText, () => newText),
  );
  return `Replaced 1 occurrence in ${path} (line 1).`;
}

/** Runs a command the way an agent does: without the variables of the test runner it is started from. */
export function runShell(root: string, command: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      '/bin/sh',
      ['-c', command],
      { cwd: root, env: { PATH: process.env['PATH'] ?? '' } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve(`exit code ${code} after 1 ms\n${stdout}${stderr}`);
      },
    );
  });
}
