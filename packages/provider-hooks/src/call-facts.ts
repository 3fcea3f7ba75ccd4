import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallFacts } from './types.js';

const current = new AsyncLocalStorage<CallFacts>();

/**
 * Runs `fn` so that every request of a hooked model inside it carries these facts. For loops that call the AI SDK's
 * own functions; `HookedModel.stream` takes the facts as an argument.
 */
export function withCallFacts<T>(facts: CallFacts, fn: () => T): T {
  return current.run(facts, fn);
}

/** The facts given by the nearest `withCallFacts`, if any. */
export function currentCallFacts(): CallFacts | undefined {
  return current.getStore();
}
