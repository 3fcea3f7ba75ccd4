import type { CommandResult, OperationInput, OperationName, OperationOutput, Reason } from '@stint/contracts';
import type { ChangeResult, ResumeResult } from '@stint/ledger';
import type { CommandResult as ItemResult } from '@stint/work-items';
import type { Application } from './application.js';

/** Operations that answer with the item as it then is. */
export type SteeringName = {
  readonly [N in OperationName]: OperationOutput<N> extends CommandResult ? N : never;
}[OperationName];

export type SteerRequest = {
  readonly [N in SteeringName]: { readonly operation: N; readonly input: OperationInput<N> };
}[SteeringName];

/** Carries out one command of a person, from the terminal and from the page alike. What came too late changes nothing and is answered as `conflict`. */
export async function steer(application: Application, request: SteerRequest): Promise<CommandResult> {
  const { itemId, conflict } = await carryOut(application, request);
  return { item: await application.reader.detail(itemId), conflict };
}

interface Outcome {
  readonly itemId: string;
  readonly conflict: Reason | null;
}

async function carryOut(application: Application, request: SteerRequest): Promise<Outcome> {
  const { commands } = application;
  switch (request.operation) {
    case 'create':
      return { itemId: await create(application, request.input), conflict: null };
    case 'start':
    case 'pause':
    case 'resume':
    case 'cancel':
      return outcome(request.input.itemId, await commands[request.operation](request.input));
    case 'retry_action':
      return outcome(request.input.itemId, await commands.retry(request.input));
    case 'answer_question':
      return outcome(request.input.itemId, await commands.answer(request.input));
    case 'post_message':
      return outcome(request.input.itemId, await commands.postMessage(request.input));
    case 'extend_budget':
      return extended(request.input.itemId, await commands.extendBudget(extensionOf(request.input)));
    case 'resume_budget':
      return resumed(
        request.input.itemId,
        await commands.resumeBudget({ itemId: request.input.itemId, revision: request.input.expectedBudgetRevision }),
      );
    case 'resolve_operation':
      return { itemId: await commands.resolveOperation(request.input), conflict: null };
    case 'resolve_turn':
      return {
        itemId: await commands.resolveTurn({ turnId: request.input.turnId, finding: request.input.resolution }),
        conflict: null,
      };
  }
}

async function create(application: Application, input: OperationInput<'create'>): Promise<string> {
  return await application.create({
    ...input,
    model: application.models.choose(input.model),
    budget: input.budget ?? {},
  });
}

function extensionOf({ itemId, expectedBudgetRevision, additions }: OperationInput<'extend_budget'>) {
  const given = Object.entries(additions).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return { itemId, revision: expectedBudgetRevision, additions: Object.fromEntries(given) };
}

const outcome = (itemId: string, result: ItemResult): Outcome => ({
  itemId,
  conflict: result.applied ? null : { code: 'stale', message: 'The item has changed meanwhile; this is how it is now' },
});

const extended = (itemId: string, result: ChangeResult): Outcome => ({
  itemId,
  conflict: result.changed
    ? null
    : { code: 'revision_conflict', message: 'The budget has changed meanwhile; this is how it is now' },
});

const resumed = (itemId: string, result: ResumeResult): Outcome => ({
  itemId,
  conflict: result.resumed ? null : { code: result.reason.code, message: result.reason.message },
});
