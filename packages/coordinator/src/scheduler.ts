/**
 * Turns what is ready in the store into running jobs.
 *
 * States: created -> started -> stopping -> stopped. Invariants:
 * 1. Nothing runs but what this process claimed in a transaction; claims follow no model's wish and cost no request.
 * 2. One pass runs at a time. A wake-up during a pass makes one more pass follow it, so no wake-up is lost.
 * 3. A pass recovers what dead processes left, in the order of `recover`, before it claims; at the first pass always,
 *    later once every `sweepMs`. What this process claimed and could not settle is put back at every pass.
 * 4. A pass ends when nothing more can be claimed or no slot is free. The end of a job wakes, so a full house never
 *    hides work; and a poll every `pollMs` wakes where a notification was lost.
 * 5. A source that fails is reported and takes no work from the others: each has its turn in every pass.
 * 6. From `stop` on nothing is claimed; it resolves when every job has settled what it held.
 */
import type { Job, JobSlots } from './job-slots.js';

/** One kind of claimable work with its own slots. */
export interface WorkSource {
  readonly slots: JobSlots;
  /** Claims one piece, or answers null if nothing is claimable now. */
  claim(): Promise<Job | null>;
}

export interface SchedulerOptions {
  readonly sources: readonly WorkSource[];
  /** Recovers what dead processes left. */
  recover(): Promise<unknown>;
  /** Calls the listener after commits that may have made work; answers the way to stop. */
  listen(listener: () => void): () => void;
  readonly pollMs: number;
  readonly sweepMs: number;
  /** Monotonic enough to space sweeps, ms. */
  now(): number;
  /** Told of each part of a pass that failed; the next poll tries again. */
  onError(error: unknown): void;
}

export interface Scheduler {
  start(): void;
  stop(reason: unknown): Promise<void>;
  wake(): void;
  /** Resolves when a pass found nothing to do, no job runs and no wake-up is pending. */
  idle(): Promise<void>;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const stopping = new AbortController();
  let wakeUp = signalOnce();
  let quiet = signalOnce();
  let loop: Promise<void> | null = null;
  let unlisten = (): void => undefined;
  const wake = (): void => {
    if (quiet.fired) quiet = signalOnce();
    wakeUp.fire();
  };
  const run = async (): Promise<void> => {
    const state = { sweptAt: null as number | null };
    while (!stopping.signal.aborted) {
      wakeUp = signalOnce();
      await passSafely(options, state, stopping.signal);
      if (!wakeUp.fired && options.sources.every((source) => source.slots.size === 0)) quiet.fire();
      await wokenOrAfter(wakeUp.promise, options.pollMs);
    }
  };
  return {
    wake,
    start() {
      if (loop !== null) return;
      unlisten = options.listen(wake);
      loop = run();
    },
    async stop(reason) {
      stopping.abort(reason);
      unlisten();
      for (const { slots } of options.sources) slots.abort(reason);
      wakeUp.fire();
      await loop;
      // A claim that was on its way when the stop came has become a job meanwhile.
      for (const { slots } of options.sources) slots.abort(reason);
      for (const { slots } of options.sources) await slots.settled();
      quiet.fire();
    },
    async idle() {
      while (!quiet.fired) await quiet.promise;
    },
  };
}

async function passSafely(
  options: SchedulerOptions,
  state: { sweptAt: number | null },
  signal: AbortSignal,
): Promise<void> {
  // Nothing is claimed where what dead processes left could not be looked through.
  if (!(await reported(options, () => sweepIfDue(options, state)))) return;
  for (const { slots } of options.sources) await reported(options, () => slots.giveUpFailed());
  for (const source of options.sources) await reported(options, () => fill(source, signal));
}

/** Answers false, and tells `onError`, if the step failed. */
async function reported(options: SchedulerOptions, step: () => Promise<void>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    options.onError(error);
    return false;
  }
}

async function sweepIfDue(options: SchedulerOptions, state: { sweptAt: number | null }): Promise<void> {
  const now = options.now();
  if (state.sweptAt !== null && Math.abs(now - state.sweptAt) < options.sweepMs) return;
  state.sweptAt = now;
  await options.recover();
}

async function fill(source: WorkSource, signal: AbortSignal): Promise<void> {
  while (source.slots.free > 0 && !signal.aborted) {
    const job = await source.claim();
    if (job === null) return;
    source.slots.start(job);
  }
}

interface Signal {
  readonly promise: Promise<void>;
  readonly fired: boolean;
  fire(): void;
}

function signalOnce(): Signal {
  let resolve = (): void => undefined;
  let fired = false;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return {
    promise,
    get fired() {
      return fired;
    },
    fire() {
      fired = true;
      resolve();
    },
  };
}

/** Resolves when woken, by `stop` too, or after so many ms. Its timer ends with it, however often it is woken. */
async function wokenOrAfter(woken: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([woken, passed]);
  clearTimeout(timer);
}
