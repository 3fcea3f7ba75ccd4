import { Box, fail, type Value } from './values.js';

/** The items a spread or a `for ... of` sees. */
export function iterate(value: Value): Value[] {
  if (Array.isArray(value)) return [...value];
  if (typeof value === 'string') return Array.from(value);
  if (value instanceof Box && value.entries !== null) {
    return value.kind === 'map' ? [...value.entries].map((entry) => [...entry]) : [...value.entries.keys()];
  }
  throw fail('TypeError', 'value is not iterable');
}
