/** A piece of claimed work that runs until it has settled everything it holds. */
export interface Job {
  /** Id of the Run or Coordinator turn, for the log. */
  readonly id: string;
  /** Runs to the end; an aborted signal makes it settle and return soon. Rejects only with what the store threw. */
  run(signal: AbortSignal): Promise<void>;
  /** After `run` rejected: puts the claim back, so that it does not stay claimed by a living process for ever. */
  giveUp(): Promise<void>;
}

/** A bounded set of running jobs. */
export interface JobSlots {
  readonly free: number;
  readonly size: number;
  start(job: Job): void;
  /** Resolves once no job runs; at once if none does. */
  settled(): Promise<void>;
  /** Aborts every running job with this reason. */
  abort(reason: unknown): void;
  /** Puts back what failed before it could settle. Tries every job, then rejects with the first error; call again. */
  giveUpFailed(): Promise<void>;
}

/** @param onEnd called after each job's end, when its slot is free again */
export function createJobSlots(count: number, onEnd: (job: Job, error: unknown) => void): JobSlots {
  const running = new Map<Job, { readonly promise: Promise<void>; readonly controller: AbortController }>();
  const failed = new Set<Job>();
  const finish = (job: Job, error: unknown): void => {
    running.delete(job);
    if (error !== null) failed.add(job);
    onEnd(job, error);
  };
  return {
    get free() {
      return count - running.size;
    },
    get size() {
      return running.size;
    },
    start(job) {
      const controller = new AbortController();
      const promise = job.run(controller.signal).then(
        () => finish(job, null),
        (error: unknown) => finish(job, error),
      );
      running.set(job, { promise, controller });
    },
    async settled() {
      while (running.size > 0) await Promise.all([...running.values()].map((entry) => entry.promise));
    },
    async giveUpFailed() {
      const errors: unknown[] = [];
      for (const job of failed) {
        try {
          await job.giveUp();
          failed.delete(job);
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
    abort(reason) {
      for (const { controller } of running.values()) controller.abort(reason);
    },
  };
}
