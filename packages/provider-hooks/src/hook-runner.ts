import { ProviderError } from './errors.js';
import type { HookOptions } from './model.js';
import type { FailFacts, FrozenRequest, HookName, ProviderHooks, TurnHandle, TurnResponse } from './types.js';

/** Calls hooks with their time limit. Guards fail closed, with a `ProviderError` that names the hook; observers never fail. */
export class HookRunner<H extends TurnHandle> {
  readonly #hooks: ProviderHooks<H>;
  readonly #isObserver: boolean;
  readonly #timeoutMs: number;
  readonly #onObserverError: HookOptions['onObserverError'];

  constructor(hooks: ProviderHooks<H>, options: HookOptions, role: ProviderHooks['role'] = hooks.role) {
    this.#hooks = hooks;
    this.#isObserver = role === 'observer';
    this.#timeoutMs = options.hookTimeoutMs ?? 30_000;
    this.#onObserverError = options.onObserverError;
  }

  /** The handle; null only from an observer. Throws `denied` or `hook_failed`. */
  prepare(request: FrozenRequest): Promise<H | null> {
    const call = (): Promise<H | null> => this.#hooks.prepare(request);
    return this.#run('prepare', { call, check: this.#checkHandle }) as Promise<H | null>;
  }

  readonly #checkHandle = (answer: unknown): string | null =>
    isHandle(answer) || (answer === null && this.#isObserver)
      ? null
      : `answered ${describe(answer)}; a handle with a non-empty text "id" was expected`;

  /** Throws `denied` or `hook_failed`; then nothing may be sent. */
  start(handle: H): Promise<void> {
    return this.#run('start', { call: () => this.#hooks.start(handle), check: checkNothing }) as Promise<void>;
  }

  /** Throws `denied` if the request may not go on. */
  async recheck(handle: H): Promise<void> {
    await this.#run('recheck', { call: async () => this.#hooks.recheck?.(handle) });
  }

  /** True if the hooks want to know by which id the provider keeps an answer. */
  get wantsResponseId(): boolean {
    return this.#hooks.identified !== undefined;
  }

  /** A note that cannot be taken is reported, and stops nothing: what answers is paid for. */
  async identified(handle: H, responseId: string): Promise<void> {
    try {
      await this.#run('identified', { call: async () => this.#hooks.identified?.(handle, responseId) });
    } catch (error) {
      this.#tell(error, 'identified');
    }
  }

  finish(handle: H, response: TurnResponse): Promise<void> {
    return this.#settle('finish', () => this.#hooks.finish(handle, response));
  }

  fail(handle: H, error: ProviderError, facts: FailFacts): Promise<void> {
    return this.#settle('fail', () => this.#hooks.fail(handle, error, facts));
  }

  /** The end of a request is a fact: while the hook says that it stored nothing and may be called again, it is. */
  #settle(hook: 'finish' | 'fail', call: () => Promise<void>): Promise<void> {
    const startedMs = performance.now();
    return this.#run(hook, { call }).then(nothing, (error) => this.#settleAgain(hook, call, error, startedMs));
  }

  async #settleAgain(hook: HookName, call: () => Promise<void>, first: unknown, startedMs: number): Promise<void> {
    let error = first;
    for (const delayMs of settleDelaysMs) {
      const leftMs = startedMs + this.#timeoutMs - delayMs - performance.now();
      if (!mayRepeat(error) || leftMs <= 0) break;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      try {
        await this.#run(hook, { call }, Math.max(1, leftMs));
        return;
      } catch (again) {
        error = again;
      }
    }
    throw error;
  }

  /** Calls a hook with its time limit: one promise, since each request has three of them. */
  #run<T>(hook: HookName, { call, check }: HookCall<T>, timeoutMs = this.#timeoutMs): Promise<T | null | undefined> {
    return new Promise<T | null | undefined>((resolve, reject) => {
      let isOver = false;
      const fail = (error: unknown): void => {
        if (isOver) return; // what comes after its time is not told
        isOver = true;
        clearTimeout(timer);
        if (!this.#isObserver) return reject(toHookError(error, hook));
        this.#tell(error, hook);
        resolve(hook === 'prepare' ? null : undefined);
      };
      const take = (value: T): void => {
        const wrong = check?.(value) ?? null;
        if (wrong !== null) return fail(answerError(hook, wrong));
        isOver = true;
        clearTimeout(timer);
        resolve(value);
      };
      const timer = setTimeout(() => fail(lateError(hook, timeoutMs)), timeoutMs);
      try {
        const answer: T | Promise<T> = call(); // JavaScript may answer without a promise, or throw before there is one
        if (answer instanceof Promise) answer.then(take, fail);
        else Promise.resolve(answer).then(take, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Whoever listens for the errors of observers stops nothing, either. */
  #tell(error: unknown, hook: HookName): void {
    try {
      this.#onObserverError?.(error, hook);
    } catch (thrown) {
      process.emitWarning(`onObserverError threw: ${String(thrown)}`, { code: 'STINT_OBSERVER' });
    }
  }
}

/** How to call a hook, and what is wrong with its answer; null if nothing is. */
interface HookCall<T> {
  readonly call: () => Promise<T>;
  readonly check?: (answer: unknown) => string | null;
}

/** A decision that is returned instead of thrown would be overlooked, and the request sent. */
function checkNothing(answer: unknown): string | null {
  return answer === undefined ? null : `answered ${describe(answer)}; it must answer nothing, and throw to deny`;
}

function nothing(): void {}

/** Waits between the calls of a hook that could not store the end of a request. */
const settleDelaysMs: readonly number[] = [50, 200, 800];

/** True for an error by which the hook says that nothing was stored and the same call may succeed. */
function mayRepeat(error: unknown): boolean {
  const cause = (error as { cause?: unknown }).cause;
  return typeof cause === 'object' && cause !== null && (cause as { retryable?: unknown }).retryable === true;
}

function toHookError(error: unknown, hook: HookName): ProviderError {
  if (error instanceof ProviderError && error.code === 'hook_failed') return error;
  const why = error instanceof Error ? error.message : String(error);
  if (hook === 'prepare' || hook === 'start' || hook === 'recheck') {
    return new ProviderError('denied', `The ${hook} hook denied the request: ${why}`, { hook, cause: error });
  }
  const left = hook === 'identified' ? '' : ' The request has ended; that it did is not stored.';
  return new ProviderError('hook_failed', `The ${hook} hook failed: ${why}${left}`, { hook, cause: error });
}

function answerError(hook: HookName, what: string): ProviderError {
  return new ProviderError('hook_failed', `The ${hook} hook ${what}. Nothing was sent.`, { hook });
}

function lateError(hook: HookName, timeoutMs: number): ProviderError {
  const message = `The ${hook} hook did not answer within ${Math.round(timeoutMs)} ms.`;
  return new ProviderError('hook_failed', message, { hook });
}

function isHandle(value: unknown): value is TurnHandle {
  if (typeof value !== 'object' || value === null) return false;
  const { id } = value as { id?: unknown };
  return typeof id === 'string' && id !== '';
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? `an object with the keys [${Object.keys(value).join(', ')}]` : `a ${typeof value}`;
}
