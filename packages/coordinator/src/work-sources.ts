import { claimAction, claimMailbox, type ClaimedAction, releaseWorkspace } from '@stint/work-items';
import { budgetStopOf } from './budget-stop.js';
import { openTurn, runCoordinatorTurn } from './coordinator-turn.js';
import { errorFacts } from './error-facts.js';
import { putRunBack } from './finish-run.js';
import { createJobSlots, type Job } from './job-slots.js';
import type { Services } from './options.js';
import { runAction } from './run-action.js';
import type { WorkSource } from './scheduler.js';

/** Ready Actions as jobs, one slot for each Run. `onEnd` is called when a slot is free again. */
export function actionSource(services: Services, onEnd: () => void): WorkSource {
  const { db, machine, maxConcurrentActions } = services;
  const options = { ...claimScope(services), maxConcurrentActions, ...(machine !== undefined && { machine }) };
  return {
    slots: createJobSlots(maxConcurrentActions, endReporter(services, onEnd)),
    async claim() {
      const claimed = await db.write((ctx) => claimAction(ctx, options));
      return claimed === null ? null : actionJob(services, claimed);
    },
  };
}

function actionJob(services: Services, claimed: ClaimedAction): Job {
  const { fence } = claimed;
  return {
    id: fence.runId,
    run: (signal) => runAction(services, claimed, signal),
    async giveUp() {
      await services.db.write((ctx) => putRunBack(ctx, fence));
      await services.db.write((ctx) => releaseWorkspace(ctx, fence.runId));
    },
  };
}

/** Mailbox entries as jobs, one Coordinator turn for each. */
export function mailboxSource(services: Services, onEnd: () => void): WorkSource {
  const options = claimScope(services);
  return {
    slots: createJobSlots(services.maxCoordinatorTurns, endReporter(services, onEnd)),
    async claim() {
      const opening = await services.db.write(function* (ctx) {
        const claim = yield* claimMailbox(ctx, options);
        return claim === null ? null : yield* openTurn(ctx, claim);
      });
      return opening === null ? null : runCoordinatorTurn(services, opening);
    },
  };
}

function claimScope({ itemIds }: Services) {
  return { stopOf: budgetStopOf, ...(itemIds !== undefined && { itemIds }) };
}

function endReporter({ log }: Services, onEnd: () => void): (job: Job, error: unknown) => void {
  return (job, error) => {
    if (error !== null)
      log({ level: 'error', message: 'Work ended with an error of the store', jobId: job.id, ...errorFacts(error) });
    onEnd();
  };
}
