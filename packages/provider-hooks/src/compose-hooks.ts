import type { ProviderError } from './errors.js';
import { HookRunner } from './hook-runner.js';
import type { HookOptions } from './model.js';
import type { FailFacts, FrozenRequest, ProviderHooks, TurnHandle, TurnResponse } from './types.js';

/** Observers are given less time than a guard: what they lose is a trace, what they cost is an answer's delay. */
const observerTimeoutMs = 5_000;

/**
 * One guard with observers beside it (tracing, metrics). The guard is asked first and alone decides; what an observer
 * throws or how long it hangs stops nothing. Two guards are not composed: what must be one transaction is one hook set.
 */
export function composeHooks<H extends TurnHandle>(
  guard: ProviderHooks<H>,
  observers: readonly ProviderHooks[],
  options: Pick<HookOptions, 'hookTimeoutMs' | 'onObserverError'> = {},
): ProviderHooks<H> {
  const runners = observers.map(
    (observer) => new HookRunner(observer, { hookTimeoutMs: observerTimeoutMs, ...options }, 'observer'),
  );
  const seen = new WeakMap<H, readonly (TurnHandle | null)[]>();
  const tell = async (
    handle: H,
    how: (runner: HookRunner<TurnHandle>, own: TurnHandle) => Promise<void>,
  ): Promise<void> => {
    const own = seen.get(handle) ?? [];
    const told = runners.map(async (runner, index) => {
      const ownHandle = own[index];
      if (ownHandle) await how(runner, ownHandle);
    });
    await Promise.all(told);
  };
  return {
    ...(guard.role ? { role: guard.role } : {}),
    async prepare(request: FrozenRequest): Promise<H | null> {
      const handle = await guard.prepare(request);
      if (isObject(handle)) seen.set(handle, await Promise.all(runners.map((runner) => runner.prepare(request))));
      return handle;
    },
    async start(handle: H): Promise<void> {
      const answer: unknown = await guard.start(handle);
      await tell(handle, (runner, own) => runner.start(own));
      return answer as undefined; // what a guard must not answer is for its caller to refuse
    },
    ...(guard.recheck ? { recheck: (handle: H) => guard.recheck?.(handle) ?? Promise.resolve() } : {}),
    ...(guard.identified || observers.some((observer) => 'identified' in observer)
      ? {
          async identified(handle: H, responseId: string): Promise<void> {
            await guard.identified?.(handle, responseId);
            await tell(handle, (runner, own) => runner.identified(own, responseId));
          },
        }
      : {}),
    async finish(handle: H, response: TurnResponse): Promise<void> {
      await guard.finish(handle, response);
      await tell(handle, (runner, own) => runner.finish(own, response));
    },
    async fail(handle: H, error: ProviderError, facts: FailFacts): Promise<void> {
      await guard.fail(handle, error, facts);
      await tell(handle, (runner, own) => runner.fail(own, error, facts));
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
