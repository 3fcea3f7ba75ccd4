import type { OperationInput, WorkItemDetail } from '@stint/contracts';
import { openApplication } from './application.js';
import type { CommandContext } from './command-context.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure, usageFailure } from './failure.js';
import { budgetLines } from './render-item.js';
import { requirePerson } from './require-person.js';
import { steer } from './steering.js';

/** `stint budget show ID`: the figures, and each request that nobody knows the end of with the command that settles it by the provider's bill. */
export async function showBudgetCommand(context: CommandContext, prefix = ''): Promise<number> {
  const { output, options } = context;
  await using application = await openApplication(context);
  const itemId = await application.reader.itemId(prefix);
  const { control, needs } = await application.reader.detail(itemId);
  const unknownRequests = await application.reader.unknownRequests(itemId);
  if (options.json) {
    output.json({ ...control, unknownRequests });
    return exitCodes.done;
  }
  output.line(budgetLines(control).join('\n'));
  for (const { command } of needs.filter(isOfBudget)) output.note(`to go on: ${command}`);
  for (const { id, model, tokens, command } of unknownRequests)
    output.line(`unknown: ${tokens} tokens held for ${model}, request ${id}\n  ${command}`);
  return exitCodes.done;
}

/** `stint budget extend ID`: adds to limits; the item goes on after `stint budget resume`, or at once with `--resume`. */
export async function extendBudgetCommand(context: CommandContext, prefix = ''): Promise<number> {
  const additions = additionsOf(context.options);
  const resumes = context.options['resume'] === true;
  return await change(context, prefix, [
    (itemId, expectedBudgetRevision) => ({
      operation: 'extend_budget',
      input: { itemId, expectedBudgetRevision, additions },
    }),
    ...(resumes ? [resumeRequest] : []),
  ]);
}

/** `stint budget resume ID`. */
export const resumeBudgetCommand = (context: CommandContext, prefix = ''): Promise<number> =>
  change(context, prefix, [resumeRequest]);

type RequestMaker = (itemId: string, revision: number) => BudgetRequest;

const resumeRequest: RequestMaker = (itemId, expectedBudgetRevision) => ({
  operation: 'resume_budget',
  input: { itemId, expectedBudgetRevision },
});

type Additions = OperationInput<'extend_budget'>['additions'];

const flags = {
  tokens: 'maxTokens',
  requests: 'maxRequests',
  cost: 'maxCostMicros',
  runRequests: 'maxRunRequests',
  attempts: 'maxAttempts',
  failures: 'maxConsecutiveFailures',
} as const satisfies Readonly<Record<string, keyof Additions>>;

function additionsOf(options: CommandContext['options']): Additions {
  const given = Object.entries(flags).flatMap(([flag, limit]) =>
    typeof options[flag] === 'number' && options[flag] > 0 ? [[limit, options[flag]]] : [],
  );
  if (given.length === 0)
    throw usageFailure(
      'Say what to add: --tokens N, --requests N, --cost USD, --run-requests N, --attempts N or --failures N, above 0.',
    );
  return Object.fromEntries(given) as Additions;
}

type BudgetRequest = Extract<Parameters<typeof steer>[1], { operation: 'extend_budget' | 'resume_budget' }>;

/** Gives the commands one after the other, each on the revision that the one before left. */
async function change(context: CommandContext, prefix: string, makers: readonly RequestMaker[]): Promise<number> {
  const { output, options } = context;
  await using application = await openApplication(context);
  await requirePerson(application.db);
  let item = await application.reader.detail(await application.reader.itemId(prefix));
  for (const [index, make] of makers.entries()) {
    const { item: after, conflict } = await steer(application, make(item.id, item.control.revision));
    if (conflict)
      throw new CommandFailure(
        'usage',
        `${index === 0 ? 'Nothing was changed' : 'The budget was extended, but not resumed'}: ${conflict.message}`,
      );
    item = after;
  }
  if (options.json) output.json(item.control);
  else output.line(budgetLines(item.control).join('\n'));
  for (const { command } of item.needs.filter(isOfBudget)) output.note(`to go on: ${command}`);
  return exitCodes.done;
}

/** A budget stop, or failures in a row, which stop the budget too. */
const isOfBudget = ({ kind, command }: WorkItemDetail['needs'][number]): boolean =>
  kind === 'budget' || command.startsWith('stint budget ');
