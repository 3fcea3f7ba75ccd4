import { createHookedFetch } from './hooked-fetch.js';

const mark = Symbol.for('stint.fetchBoundary');

/**
 * Makes a provider whose requests go through the hooked fetch, and marks every model it gives: `hookModel` then puts
 * `start` at the fetch. `factory` must pass the given fetch on to the provider.
 *
 * @example hookProvider((fetch) => createOpenAICompatible({ name: 'mine', baseURL, apiKey, includeUsage: true, fetch }))
 */
export function hookProvider<P extends object>(
  factory: (fetch: typeof globalThis.fetch) => P,
  options: { readonly fetch?: typeof globalThis.fetch } = {},
): P {
  return markResults(factory(createHookedFetch(options.fetch)));
}

/** True if requests of this model go through the hooked fetch. */
export function isFetchBoundary(model: object): boolean {
  return mark in model;
}

/** The provider as it is, but that models it answers, however it is asked, carry the mark. */
function markResults<T extends object>(provider: T): T {
  return new Proxy(provider, {
    apply: (target, self: unknown, args: unknown[]) =>
      markModel(Reflect.apply(target as (...args: unknown[]) => unknown, self, args)),
    get: (target, name) => {
      const field: unknown = Reflect.get(target, name, target);
      if (typeof field !== 'function' || name === 'prototype') return field;
      return (...args: unknown[]) => markModel(Reflect.apply(field, target, args));
    },
  });
}

function markModel(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && 'doStream' in value) {
    Object.defineProperty(value, mark, { value: true });
  }
  return value;
}
