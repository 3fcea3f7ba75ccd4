import { accountOf } from '@stint/coordinator';
import { countByOwner, listOperations, listTurns, type TurnOwner } from '@stint/journal';
import { readCharges, runTotals, snapshotAccount } from '@stint/ledger';
import type { ActionSources, RunSources } from '@stint/projection';
import { DTO_LIMITS } from '@stint/contracts';
import type { Context, Transaction } from '@stint/storage';
import { listRuns, readItemRecords, type Run } from '@stint/work-items';

export interface FoundAction {
  readonly sources: ActionSources;
  /** Where its tools work: paths inside are shown relative to it. */
  readonly workDir: string | null;
}

/** All that the DTO of one Action is made from: its newest Runs with their turns and operations. Undefined if there is no such Action. */
export function* readActionSources(
  ctx: Context,
  itemId: string,
  actionId: string,
): Transaction<FoundAction | undefined> {
  const records = yield* readItemRecords(ctx, itemId, { messageLimit: 0, runs: 'newest' });
  const action = records?.actions.find(({ id }) => id === actionId);
  if (records === undefined || action === undefined) return undefined;
  const all = yield* listRuns(ctx, actionId);
  const newest = all.slice(-DTO_LIMITS.maxRunsPerAction).toReversed();
  const runs: RunSources[] = [];
  for (const run of newest) runs.push(yield* readRunSources(ctx, itemId, run));
  const { subjects } = yield* snapshotAccount(ctx, accountOf(itemId));
  const subject = subjects.find((one) => one.subject === actionId);
  const sources: ActionSources = {
    itemId,
    action,
    runs,
    unreadRunCount: all.length - newest.length,
    question: records.openQuestions.find((question) => question.actionId === actionId) ?? null,
    pendingInputs: records.openInputs.filter((input) => input.actionId === actionId),
    ...(subject ? { subject } : {}),
  };
  return { sources, workDir: records.item.workDir };
}

function* readRunSources(ctx: Context, itemId: string, run: Run): Transaction<RunSources> {
  const owner: TurnOwner = { kind: 'run', id: run.id };
  const turns = yield* listTurns(ctx, owner);
  const { requests = 0, tokens = 0 } = (yield* runTotals(ctx, accountOf(itemId), [run.id])).get(run.id) ?? {};
  const { loops = 0, toolCalls = 0, failedToolCalls = 0 } = (yield* countByOwner(ctx, [owner])).get(run.id) ?? {};
  return {
    run,
    turns,
    operations: yield* listOperations(ctx, owner),
    counts: { requests, tokens, loops, toolCalls, failedToolCalls },
    charges: yield* readCharges(
      ctx,
      turns.map(({ id }) => id),
    ),
  };
}
