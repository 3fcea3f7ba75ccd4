import { workChannel } from '@stint/work-items';
import { errorFacts } from './error-facts.js';
import { type CoordinatorOptions, resolveOptions } from './options.js';
import { pricingBy } from './pricing.js';
import { recover, type Recovered } from './recover.js';
import { createScheduler } from './scheduler.js';
import { actionSource, mailboxSource } from './work-sources.js';

/** What a coordinator does at this moment. */
export interface CoordinatorStatus {
  readonly running: boolean;
  /** Runs that this process executes. */
  readonly activeRuns: number;
  /** Coordinator turns that this process is thinking about. */
  readonly activeTurns: number;
}

/** Serves work items: recovers, plans, schedules, runs and completes. Any number of processes may serve one store. */
export interface Coordinator extends AsyncDisposable {
  /** Begins to serve: recovery first, then claims. */
  start(): void;
  /** Claims nothing more, aborts what runs and puts it back so that it goes on later; resolves when all is settled. */
  stop(): Promise<void>;
  /** Looks for work now. Needed only where no notification can come. */
  wake(): void;
  /** Resolves when nothing can be claimed and nothing runs. Work that waits for a time or a person does not count. */
  idle(): Promise<void>;
  /** Recovers what dead processes left, without claiming anything. */
  recover(): Promise<Recovered>;
  status(): CoordinatorStatus;
}

/**
 * Makes a coordinator. Nothing is read, written or timed until `start`.
 * @throws CoordinatorError `invalid_option`
 */
export function createCoordinator(options: CoordinatorOptions): Coordinator {
  const services = resolveOptions(options, { pricing: pricingBy() });
  const { db, log, pricing, pastAnswersOf } = services;
  const asking = pastAnswersOf && { pastAnswersOf, pricing, running: new Map<string, number>() };
  const state = { running: false };
  const onEnd = (): void => scheduler.wake();
  const turns = mailboxSource(services, onEnd);
  const runs = actionSource(services, onEnd);
  const scheduler = createScheduler({
    sources: [turns, runs],
    recover: () => recover({ db, log, asking }),
    listen: (listener) => db.listen(workChannel, listener),
    pollMs: services.pollMs,
    sweepMs: services.sweepMs,
    now: () => performance.now(),
    onError: (error) => log({ level: 'error', message: 'A pass over the work failed', ...errorFacts(error) }),
  });
  const stop = async (): Promise<void> => {
    state.running = false;
    await scheduler.stop(new DOMException('The coordinator is stopping.', 'AbortError'));
  };
  return {
    start() {
      state.running = true;
      scheduler.start();
    },
    stop,
    wake: () => scheduler.wake(),
    idle: () => scheduler.idle(),
    recover: () => recover({ db, log, asking }),
    status: () => ({ running: state.running, activeRuns: runs.slots.size, activeTurns: turns.slots.size }),
    [Symbol.asyncDispose]: stop,
  };
}
