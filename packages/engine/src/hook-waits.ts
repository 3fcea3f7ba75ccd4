import { EngineError } from './errors.js';
import { abortStop, hookError } from './run-stop.js';

/** How long a function that stores something may still take after an abort, in ms. */
const storeGraceMs = 5_000;

/** What one of the caller's functions has not answered in time. It may still be at work. */
export class HookLate extends EngineError {}

interface Wait {
  readonly name: string;
  readonly limitMs: number;
  /** Stores something: an abort does not make it needless, and so leaves it a few seconds. */
  readonly stores: boolean;
  deadlineMs: number;
  readonly reject: (error: Error) => void;
}

/**
 * Calls the caller's functions, and waits for none of them for ever: not beyond its limit, and not beyond an abort. A value
 * that is there at once costs nothing; all that is awaited shares one timer and one listener.
 */
export class HookWaits {
  readonly #signal: AbortSignal;
  readonly #limitMs: number;
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isListening = false;
  #isClosed = false;

  constructor(signal: AbortSignal, limitMs: number) {
    this.#signal = signal;
    this.#limitMs = limitMs;
  }

  /** Asks for something that an aborted run does not need. Throws `hook_failed` with the name, or the abort. */
  ask<T>(name: string, call: () => T | PromiseLike<T>, limitMs = this.#limitMs): T | Promise<T> {
    if (this.#signal.aborted) throw abortStop(this.#signal);
    return this.#call(name, call, limitMs, false);
  }

  /** Has something stored, which an abort does not make needless. Throws `hook_failed` with the name, `HookLate` among it. */
  store<T>(name: string, call: () => T | PromiseLike<T>): T | Promise<T> {
    return this.#call(name, call, this.#signal.aborted ? Math.min(this.#limitMs, storeGraceMs) : this.#limitMs, true);
  }

  /** The run has ended: what is still waited for keeps no process alive. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#isListening) this.#signal.removeEventListener('abort', this.#onAbort);
  }

  #call<T>(name: string, call: () => T | PromiseLike<T>, limitMs: number, stores: boolean): T | Promise<T> {
    let answer: T | PromiseLike<T>;
    try {
      answer = call();
    } catch (error) {
      throw hookError(name, error);
    }
    return isThenable(answer) ? this.#until(name, answer, limitMs, stores) : answer;
  }

  #until<T>(name: string, answer: PromiseLike<T>, limitMs: number, stores: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const wait: Wait = { name, limitMs, stores, deadlineMs: performance.now() + limitMs, reject };
      this.#waits.add(wait);
      this.#watch(wait.deadlineMs);
      answer.then(
        (value) => {
          this.#waits.delete(wait);
          resolve(value);
        },
        (error: unknown) => {
          this.#waits.delete(wait);
          reject(hookError(name, error));
        },
      );
    });
  }

  /** A timer that is due early enough stays: most of what is awaited is there long before it. */
  #watch(deadlineMs: number): void {
    if (!this.#isListening) {
      this.#isListening = true;
      this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    if (this.#timerAtMs <= deadlineMs) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timerAtMs = deadlineMs;
    this.#timer = setTimeout(this.#onTime, timerMs(deadlineMs - performance.now()));
    if (this.#isClosed) this.#timer.unref();
  }

  readonly #onTime = (): void => {
    this.#timer = null;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    for (const wait of this.#waits) {
      if (wait.deadlineMs <= nowMs) this.#giveUp(wait, lateError(wait));
      else this.#watch(wait.deadlineMs);
    }
  };

  readonly #onAbort = (): void => {
    const graceEndMs = performance.now() + storeGraceMs;
    for (const wait of this.#waits) {
      if (!wait.stores) this.#giveUp(wait, abortStop(this.#signal));
      else if (wait.deadlineMs > graceEndMs) this.#watch((wait.deadlineMs = graceEndMs));
    }
  };

  #giveUp(wait: Wait, error: Error): void {
    this.#waits.delete(wait);
    wait.reject(error);
  }
}

/** A timer beyond 2^31 - 1 ms would fire at once. */
function timerMs(ms: number): number {
  return Math.min(Math.max(1, Math.ceil(ms)), 2_147_483_647);
}

function lateError({ name, limitMs }: Wait): HookLate {
  return new HookLate('hook_failed', `${name} failed: it did not answer within ${Math.round(limitMs)} ms.`);
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
