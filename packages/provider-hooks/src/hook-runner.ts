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
  async prepare(request: FrozenRequest): Promise<H | null> {
    const answer = await this.#run('prepare', () => this.#hooks.prepare(request));
    if (isHandle(answer) || (answer === null && this.#isObserver)) return answer as H | null;
    return this.#failed('prepare', `answered ${describe(answer)}; a handle with a non-empty text "id" was expected`);
  }

  /** Throws `denied` or `hook_failed`; then nothing may be sent. */
  async start(handle: H): Promise<void> {
    const answer: unknown = await this.#run('start', () => this.#hooks.start(handle));
    // A decision that is returned instead of thrown would be overlooked, and the request sent.
    if (answer !== undefined)
      this.#failed('start', `answered ${describe(answer)}; it must answer nothing, and throw to deny`);
  }

  /** Throws `denied` if the request may not go on. */
  async recheck(handle: H): Promise<void> {
    await this.#run('recheck', async () => this.#hooks.recheck?.(handle));
  }

  /** True if the hooks want to know by which id the provider keeps an answer. */
  get wantsResponseId(): boolean {
    return this.#hooks.identified !== undefined;
  }

  /** A note that cannot be taken is reported, and stops nothing: what answers is paid for. */
  async identified(handle: H, responseId: string): Promise<void> {
    try {
      await this.#run('identified', async () => this.#hooks.identified?.(handle, responseId));
    } catch (error) {
      this.#onObserverError?.(error, 'identified');
    }
  }

  async finish(handle: H, response: TurnResponse): Promise<void> {
    await this.#settle('finish', () => this.#hooks.finish(handle, response));
  }

  async fail(handle: H, error: ProviderError, facts: FailFacts): Promise<void> {
    await this.#settle('fail', () => this.#hooks.fail(handle, error, facts));
  }

  /** The end of a request is a fact: while the hook says that it stored nothing and may be called again, it is. */
  async #settle(hook: 'finish' | 'fail', call: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    for (const delayMs of [...settleDelaysMs, null]) {
      try {
        const leftMs = Math.max(1, deadline - performance.now());
        await this.#run(hook, call, leftMs);
        return;
      } catch (error) {
        if (delayMs === null || !mayRepeat(error) || performance.now() + delayMs >= deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  }

  async #run<T>(hook: HookName, call: () => Promise<T>, timeoutMs = this.#timeoutMs): Promise<T | null | undefined> {
    try {
      return await withTimeout(call, timeoutMs, hook);
    } catch (error) {
      if (this.#isObserver) {
        this.#onObserverError?.(error, hook);
        return hook === 'prepare' ? null : undefined;
      }
      throw toHookError(error, hook);
    }
  }

  #failed(hook: HookName, what: string): null {
    const error = new ProviderError('hook_failed', `The ${hook} hook ${what}. Nothing was sent.`, { hook });
    if (!this.#isObserver) throw error;
    this.#onObserverError?.(error, hook);
    return null;
  }
}

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

function withTimeout<T>(call: () => Promise<T>, timeoutMs: number, hook: HookName): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new ProviderError('hook_failed', `The ${hook} hook did not answer within ${Math.round(timeoutMs)} ms.`, {
          hook,
        }),
      );
    }, timeoutMs);
    const settle = (action: () => void): void => {
      clearTimeout(timer);
      action();
    };
    // `call` may throw before it returns a promise.
    new Promise<T>((start) => start(call())).then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error as Error)),
    );
  });
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
