/**
 * The same value, with every half of a surrogate pair in its texts replaced by U+FFFD. Providers refuse a request that has
 * one, and with it every later request of the conversation. A value without any is answered as it is.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T;
  return isWellFormed(value) ? value : (mended(value) as T);
}

/** Most values are well formed; finding that out copies nothing. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (Object.getPrototypeOf(value) !== Object.prototype) return true;
  for (const name in value)
    if (!name.isWellFormed() || !isWellFormed((value as Record<string, unknown>)[name])) return false;
  return true;
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (isWellFormed(value)) return value;
  if (Array.isArray(value)) return value.map(mended);
  return Object.fromEntries(
    Object.entries(value as object).map(([name, field]) => [name.toWellFormed(), mended(field)]),
  );
}
