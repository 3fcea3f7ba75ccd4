import { isStoreError, isStoreUnavailable } from '@stint/storage';
import {
  claimAction,
  claimMailbox,
  type ClaimedAction,
  findActionWork,
  findMailboxWork,
  type FoundWork,
  releaseWorkspace,
} from '@stint/work-items';
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
      const claimed = await claimFirst(
        services,
        (passOver) => db.read((ctx) => findActionWork(ctx, options, passOver)),
        ({ itemId }) => db.write((ctx) => claimAction(ctx, { ...options, itemIds: [itemId] })),
      );
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
  const { db } = services;
  const options = claimScope(services);
  return {
    slots: createJobSlots(services.maxCoordinatorTurns, endReporter(services, onEnd)),
    async claim() {
      const opening = await claimFirst(
        services,
        (passOver) => db.read((ctx) => findMailboxWork(ctx, options, passOver)),
        ({ itemId }) =>
          db.write(function* (ctx) {
            const claim = yield* claimMailbox(ctx, { ...options, itemIds: [itemId] });
            return claim === null ? null : yield* openTurn(ctx, claim);
          }),
      );
      return opening === null ? null : runCoordinatorTurn(services, opening);
    },
  };
}

/**
 * Opens a write only for work that was seen free. What another process took in between is passed over, and the look goes
 * on behind it; so is what throws, as of a damaged row, which is logged. A store that fails as a whole ends the look.
 */
async function claimFirst<T>(
  { log }: Services,
  look: (passOver: ReadonlySet<string>) => Promise<FoundWork | null>,
  claim: (found: FoundWork) => Promise<T | null>,
): Promise<T | null> {
  const passedOver = new Set<string>();
  for (let found = await look(passedOver); found !== null; found = await look(passedOver)) {
    try {
      const claimed = await claim(found);
      if (claimed !== null) return claimed;
    } catch (error) {
      if (isStoreUnavailable(error) || (isStoreError(error) && error.retryable)) throw error;
      log({ level: 'error', message: 'Could not claim work of an item', ...found, ...errorFacts(error) });
    }
    passedOver.add(found.id);
  }
  return null;
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
