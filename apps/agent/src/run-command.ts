import type { WorkItemDetail } from '@stint/contracts';
import { createInterface } from 'node:readline/promises';
import { type Application, openApplication } from './application.js';
import type { CommandContext } from './command-context.js';
import { exitCodes } from './exit-codes.js';
import { type Followed, followItem, progressLine } from './follow-item.js';
import { Interruption } from './interruption.js';
import { requirePerson } from './require-person.js';
import { resultLines, spentInWords } from './render-item.js';

interface RunOptions {
  readonly accept?: readonly string[];
  readonly dir?: string;
  readonly title?: string;
  readonly tokens?: number;
  readonly requests?: number;
  readonly cost?: number;
  readonly model?: string;
  readonly deliver?: 'response' | 'workspace_files';
  readonly onUnknown?: 'ask' | 'retry';
}

/** `stint run "<goal>"`: creates a work item, starts it and follows it to its end. */
export async function runCommand(context: CommandContext, goal = ''): Promise<number> {
  const options = context.options as CommandContext['options'] & RunOptions;
  await using application = await openApplication(context);
  await requirePerson(application.db);
  const itemId = await application.create({
    goal,
    title: options.title,
    acceptanceCriteria: options.accept ?? [],
    workDir: options.dir ?? null,
    deliveryTarget: options.deliver ?? (options.dir ? 'workspace_files' : 'response'),
    model: application.models.choose(options.model),
    onUnknownRequest: options.onUnknown ?? 'ask',
    budget: { maxTokens: options.tokens, maxRequests: options.requests, maxCostMicros: options.cost },
    start: true,
  });
  if (!context.options.json) context.output.note(`work item ${itemId}`);
  return await follow(context, application, itemId);
}

/** `stint watch ID`: follows an item, and does its work if no agent does. With `--json`, a line an event. */
export async function watchCommand(context: CommandContext, prefix = ''): Promise<number> {
  await using application = await openApplication(context);
  await requirePerson(application.db);
  const itemId = await application.reader.itemId(prefix);
  return await follow(
    context,
    application,
    itemId,
    context.options.json ? (event) => context.output.json(event) : undefined,
  );
}

async function follow(
  context: CommandContext,
  application: Application,
  itemId: string,
  onEvent?: (event: unknown) => void,
): Promise<number> {
  const { output, options } = context;
  using interruption = new Interruption(output, { next: `stint watch ${itemId}` });
  const followed = await followItem(application, {
    itemId,
    onEvent: (event, item) => (onEvent ? onEvent(event) : output.note(progressLine(event, item))),
    ...(output.interactive && !options.json
      ? { onQuestion: (item: WorkItemDetail) => askHere(application, item) }
      : {}),
    signal: interruption.signal,
  });
  await application.stopServing();
  const item = await application.reader.detail(itemId);
  const reason = item.status === 'done' ? 'done' : followed.reason; // it may have ended while it was being stopped
  if (reason === 'interrupted') output.note(`stopped; go on with: stint watch ${itemId}`);
  if (options.json) output.json(documentOf({ item, reason }));
  else conclude(context, { item, reason });
  return exitCodes[reason];
}

/** The JSON document that `run` and `watch` end with. */
export function documentOf({ item, reason }: Followed): Readonly<Record<string, unknown>> {
  return {
    id: item.id,
    status: item.status,
    exitCode: exitCodes[reason],
    reason,
    message: item.reason?.message ?? null,
    finalResult: item.finalResult,
    usage: item.control.charged,
    control: item.control,
    needs: item.needs,
  };
}

function conclude({ output }: CommandContext, { item, reason }: Followed): void {
  for (const line of resultLines(item)) output.line(line);
  if (reason !== 'interrupted' && item.reason) output.note(`${item.status}: ${item.reason.message}`);
  for (const need of item.needs) output.note(`${need.text}\n  ${need.command}`);
  output.note(`${item.status}, ${spentInWords(item.control)}`);
  if (item.control.unknown.requests > 0)
    output.note(`what is unknown is settled by the bill: stint budget show ${item.id}`);
}

/** On a terminal a question is answered where it is asked; an empty line leaves it for later. */
async function askHere(application: Application, item: WorkItemDetail): Promise<boolean> {
  const need = item.needs.find(({ questionId }) => questionId !== null);
  if (!need?.questionId) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const text = (await terminal.question(`\n${need.text}\n> `)).trim();
    if (text === '') return false;
    await application.answer({ itemId: item.id, questionId: need.questionId, text });
    return true;
  } finally {
    terminal.close();
  }
}
