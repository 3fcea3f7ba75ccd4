/** Why a deadline fired. */
export type DeadlineCause = 'timeout' | 'aborted';

/** One signal for "stop now", from the caller's signal and from the clock. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Resolves when the deadline fires; never rejects. */
  readonly fired: Promise<DeadlineCause>;
  /** Starts the limit again, never past the absolute limit. */
  extend(): void;
  /** Why it fired, if it did. */
  cause(): DeadlineCause | undefined;
  /** The limit that fired, ms. */
  limitMs(): number;
  dispose(): void;
}

/** Limits of a call in ms; <= 0 means none. */
export interface DeadlineOptions {
  readonly timeoutMs: number;
  readonly absoluteTimeoutMs: number;
  readonly signal: AbortSignal;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Starts the clock. `dispose` must be called. */
export function startDeadline(options: DeadlineOptions): Deadline {
  let controller: AbortController | undefined; // made when its signal is looked at: many tools look at none
  let reason: unknown;
  let cause: DeadlineCause | undefined;
  let limitMs = 0;
  let idle: NodeJS.Timeout | undefined;
  let tell: (cause: DeadlineCause) => void = () => {};
  const fired = new Promise<DeadlineCause>((resolve) => {
    tell = resolve;
  });
  const fire = (why: DeadlineCause, told: unknown, limit: number): void => {
    if (cause !== undefined) return;
    cause = why;
    limitMs = limit;
    reason = told;
    controller?.abort(told);
    tell(why);
  };
  const timeUp = (limit: number) => () =>
    fire('timeout', new DOMException(`No result within ${limit} ms`, 'TimeoutError'), limit);
  const onAbort = (): void => fire('aborted', options.signal.reason, 0);
  const extend = (): void => {
    if (options.timeoutMs <= 0 || cause !== undefined) return;
    clearTimeout(idle);
    idle = setTimeout(timeUp(options.timeoutMs), Math.min(options.timeoutMs, LONGEST_TIMER_MS));
  };
  const absolute = options.absoluteTimeoutMs;
  const total = absolute > 0 ? setTimeout(timeUp(absolute), Math.min(absolute, LONGEST_TIMER_MS)) : undefined;
  options.signal.addEventListener('abort', onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  extend();
  return {
    get signal() {
      controller ??= new AbortController();
      if (cause !== undefined && !controller.signal.aborted) controller.abort(reason);
      return controller.signal;
    },
    fired,
    extend,
    cause: () => cause,
    limitMs: () => limitMs,
    dispose() {
      clearTimeout(idle);
      clearTimeout(total);
      options.signal.removeEventListener('abort', onAbort);
    },
  };
}
