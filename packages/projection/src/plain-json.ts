const MAX_DEPTH = 32;

/**
 * Makes any value plain JSON data. Never throws.
 *
 * | value | becomes |
 * | --- | --- |
 * | bigint | decimal text |
 * | NaN, infinities, undefined, functions and symbols in a list | null |
 * | -0 | 0 |
 * | Date | ISO text; an invalid one null |
 * | Map | a list of [key, value] |
 * | Set | a list |
 * | Error | { name, message, code?, cause? } |
 * | bytes (a typed array or buffer) | `[N bytes]` |
 * | an object inside itself | `[circular]` |
 * | deeper than 32 levels | `[too deep]` |
 * | a property that throws when read | `[unreadable]` |
 */
export function toPlainJson(value: unknown): unknown {
  return plain(value, []);
}

function plain(value: unknown, parents: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value + 0 || 0 : null;
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? null : plainObject(value, parents);
    default:
      return null;
  }
}

function plainObject(value: object, parents: readonly object[]): unknown {
  if (parents.includes(value)) return '[circular]';
  if (parents.length >= MAX_DEPTH) return '[too deep]';
  const inside = [...parents, value];
  if (Array.isArray(value)) return Array.from(value, (one: unknown) => plain(one, inside));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Map) return [...value].map(([key, one]) => [plain(key, inside), plain(one, inside)]);
  if (value instanceof Set) return [...value].map((one) => plain(one, inside));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return value instanceof Error ? plainError(value, inside) : plainFields(value, inside);
}

function plainError(error: Error, inside: readonly object[]): unknown {
  const fields: Record<string, unknown> = { name: error.name, message: error.message };
  if ('code' in error) fields['code'] = plain(error.code, inside);
  if (error.cause !== undefined) fields['cause'] = plain(error.cause, inside);
  return fields;
}

function plainFields(value: object, inside: readonly object[]): unknown {
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const field = readField(value, key);
    if (field !== undefined && typeof field !== 'function' && typeof field !== 'symbol') {
      entries.push([key, plain(field, inside)]);
    }
  }
  return Object.fromEntries(entries);
}

function readField(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    // A getter of a foreign object failed: what it would have said is not ours to know, and the rest is still shown.
    return '[unreadable]';
  }
}
