import { randomUUID } from 'node:crypto';
import type { CommandResult, WorkItemDetail } from '@stint/contracts';
import type { TurnFinding } from '@stint/coordinator';
import { type Application, openApplication } from './application.js';
import type { CommandContext } from './command-context.js';
import { exitCodes } from './exit-codes.js';
import { CommandFailure, usageFailure } from './failure.js';
import { requirePerson } from './require-person.js';
import { steer } from './steering.js';

type ItemCommandName = 'start' | 'pause' | 'resume' | 'cancel';

/** `stint start | pause | resume | cancel ID`. */
const itemCommand =
  (name: ItemCommandName) =>
  (context: CommandContext, prefix = ''): Promise<number> =>
    command(context, async (application) => {
      const { id, revisions } = await application.reader.detail(await application.reader.itemId(prefix));
      return await steer(application, { operation: name, input: { itemId: id, expectedRevision: revisions.revision } });
    });

export const startCommand = itemCommand('start');
export const pauseCommand = itemCommand('pause');
export const resumeCommand = itemCommand('resume');
export const cancelCommand = itemCommand('cancel');

/** `stint message ID TEXT`. */
export const messageCommand = (context: CommandContext, prefix = '', text = ''): Promise<number> =>
  command(context, async (application) => {
    const itemId = await application.reader.itemId(prefix);
    return await steer(application, {
      operation: 'post_message',
      input: { itemId, text, clientMessageId: randomUUID() },
    });
  });

/** `stint answer ID TEXT`: ID is an item, or an Action of it that asks. */
export const answerCommand = (context: CommandContext, place = '', text = ''): Promise<number> =>
  command(context, async (application) => {
    const [prefix = '', slug] = place.split('/');
    const item = await application.reader.detail(await application.reader.itemId(prefix));
    const need = askedOf(item, slug, context.options['question']);
    const input = {
      itemId: item.id,
      questionId: need.questionId,
      actionId: need.actionId,
      text,
      clientMessageId: randomUUID(),
    };
    return await steer(application, { operation: 'answer_question', input });
  });

function askedOf(
  item: WorkItemDetail,
  slug: string | undefined,
  questionId: unknown,
): { questionId: string; actionId: string | null } {
  const asked = item.needs.flatMap(({ questionId: id, actionId, text }) =>
    id === null ? [] : [{ questionId: id, actionId, text }],
  );
  const fitting = asked.filter(
    (question) =>
      (!slug || question.actionId === `${item.id}/${slug}`) &&
      (typeof questionId !== 'string' || question.questionId === questionId),
  );
  const [only] = fitting;
  if (only && fitting.length === 1) return only;
  if (!only)
    throw usageFailure(
      `${item.id}${slug ? `/${slug}` : ''} asks nothing at the moment. \`stint show ${item.id}\` tells what it needs.`,
    );
  throw usageFailure(
    `${fitting.length} questions are open; say which: ${fitting.map((question) => `--question ${question.questionId}`).join(', ')}`,
  );
}

/** `stint retry ITEM/slug`. */
export const retryCommand = (context: CommandContext, place = ''): Promise<number> =>
  command(context, async (application) => {
    const [prefix = '', slug = ''] = place.split('/');
    const item = await application.reader.detail(await application.reader.itemId(prefix));
    const action = item.actions.find((one) => one.slug === slug);
    if (!action)
      throw usageFailure(
        `${item.id} has no Action "${slug}". Write ITEM/slug; it has: ${item.actions.map((one) => one.slug).join(', ') || 'none yet'}`,
      );
    return await steer(application, {
      operation: 'retry_action',
      input: { itemId: item.id, actionId: action.id, expectedGeneration: action.generation },
    });
  });

/** `stint resolve ID`: an operation (`TURN/index`) or a turn. */
export const resolveCommand = (context: CommandContext, id = ''): Promise<number> =>
  command(context, async (application) => {
    const { applied, effect, retry, usage, notBilled } = context.options as Readonly<Record<string, unknown>>;
    const itemId = id.includes('/')
      ? await application.commands.resolveOperation({
          operationId: id,
          effect: effectOf(applied === true, effect === false),
        })
      : await application.commands.resolveTurn({
          turnId: id,
          finding: findingOf(retry === true, usage, notBilled === true),
        });
    return { item: await application.reader.detail(itemId), conflict: null };
  });

function effectOf(applied: boolean, noEffect: boolean): 'applied' | 'no_effect' {
  if (applied !== noEffect) return applied ? 'applied' : 'no_effect';
  throw usageFailure(
    'Say what became of the operation: --applied if it took effect, or --no-effect if it changed nothing.',
  );
}

function findingOf(retry: boolean, usage: unknown, notBilled: boolean): TurnFinding {
  const [input = '', output = ''] = typeof usage === 'string' ? usage.split(',') : [];
  const billed = /^\d+$/.test(input) && /^\d+$/.test(output);
  if (Number(retry) + Number(usage !== undefined) + Number(notBilled) !== 1 || (usage !== undefined && !billed))
    throw usageFailure(
      'Say what became of the turn (an operation has a / in its id): --retry (the unknown one stays charged), --usage IN,OUT by the bill, or --not-billed.',
    );
  if (billed) return { kind: 'usage', inputTokens: Number(input), outputTokens: Number(output) };
  return retry ? { kind: 'retry' } : { kind: 'not_billed' };
}

/** Carries out one command of a person and says where the item stands. */
async function command(
  context: CommandContext,
  carryOut: (application: Application) => Promise<CommandResult>,
): Promise<number> {
  const { output, options } = context;
  await using application = await openApplication(context);
  await requirePerson(application.db);
  const { item, conflict } = await carryOut(application);
  if (conflict)
    throw new CommandFailure(
      'usage',
      `Nothing was changed: ${conflict.message}. Look again with \`stint show ${item.id}\`.`,
    );
  if (options.json) output.json(item);
  else output.line(`${item.id} ${item.status}${item.reason ? `: ${item.reason.message}` : ''}`);
  return exitCodes.done;
}
