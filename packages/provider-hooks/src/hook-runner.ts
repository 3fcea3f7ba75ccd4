import { ProviderError } from './errors.js';
import type { HookOptions } from './model.js';
import type { FailFacts, FrozenRequest, ProviderHooks, TurnHandle, TurnResponse } from './types.js';

type HookName = 'prepare' | 'start' | 'finish' | 'fail';

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

  async finish(handle: H, response: TurnResponse): Promise<void> {
    await this.#run('finish', () => this.#hooks.finish(handle, response));
  }

  async fail(handle: H, error: ProviderError, facts: FailFacts): Promise<void> {
    await this.#run('fail', () => this.#hooks.fail(handle, error, facts));
  }

  async #run<T>(hook: HookName, call: () => Promise<T>): Promise<T | null | undefined> {
    try {
      return await withTimeout(call, this.#timeoutMs, hook);
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

function toHookError(error: unknown, hook: HookName): ProviderError {
  if (error instanceof ProviderError && error.code === 'hook_failed') return error;
  const why = error instanceof Error ? error.message : String(error);
  if (hook === 'prepare' || hook === 'start') {
    return new ProviderError('denied', `The ${hook} hook denied the request: ${why}`, { hook, cause: error });
  }
  return new ProviderError('hook_failed', `The ${hook} hook failed: ${why}`, { hook, cause: error });
}

function withTimeout<T>(call: () => Promise<T>, timeoutMs: number, hook: HookName): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new ProviderError('hook_failed', `The ${hook} hook did not answer within ${timeoutMs} ms.`, { hook }));
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
