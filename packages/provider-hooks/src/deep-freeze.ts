/**
 * The same value, frozen through and through: what is frozen already is given back as it is, plain objects and arrays
 * are copied, everything else (bytes, URLs, functions) is kept by reference.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(deepFreeze)) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) {
    const field = copy[key];
    if (typeof field === 'object' && field !== null) copy[key] = deepFreeze(field);
  }
  return Object.freeze(copy) as T;
}
