/** Half of a surrogate pair without its other half: with the flag `u` whole pairs do not match. */
const loneSurrogate = /\p{Surrogate}/u;
const loneSurrogates = /\p{Surrogate}/gu;

/**
 * The same value, with every half of a surrogate pair in its texts replaced by U+FFFD. Providers refuse a request that has
 * one, and with it every later request of the conversation. A value without any is answered as it is.
 */
export function wellFormed<T>(value: T): T {
  return (typeof value === 'string' ? wellFormedText(value) : wellFormedParts(value)) as T;
}

function wellFormedText(text: string): string {
  return loneSurrogate.test(text) ? text.replace(loneSurrogates, '\uFFFD') : text;
}

function wellFormedParts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map(wellFormed);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields = Object.entries(value);
  const made = fields.map(([name, field]): [string, unknown] => [wellFormedText(name), wellFormed(field as unknown)]);
  const isSame = made.every(([name, field], index) => name === fields[index]?.[0] && field === fields[index]?.[1]);
  return isSame ? value : Object.fromEntries(made);
}
