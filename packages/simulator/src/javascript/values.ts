import { Unsupported } from './tokenize.js';

/**
 * What a program of the subset can hold. Nothing of the host is reachable from it: objects and functions are
 * classes of this file, and arrays are only touched through `builtin-methods.ts`.
 */
export type Value = undefined | null | boolean | number | string | Value[] | Box | Callable;

/** An object: own fields, and for an instance the class's members. */
export class Box {
  readonly fields = new Map<string, Value>();
  readonly getters = new Map<string, Callable>();
  /** The entries of a Map or the members of a Set. */
  entries: Map<Value, Value> | null = null;

  constructor(
    readonly prototype: Box | null = null,
    readonly kind: 'object' | 'error' | 'map' | 'set' = 'object',
  ) {}

  get(name: string): Value {
    const getter = this.getters.get(name);
    if (getter !== undefined) return getter.invoke(this, []);
    return this.fields.has(name) ? this.fields.get(name) : this.#inherited(name);
  }

  has(name: string): boolean {
    return this.fields.has(name) || (this.prototype?.has(name) ?? false);
  }

  #inherited(name: string): Value {
    const getter = this.prototype?.getters.get(name);
    return getter === undefined ? this.prototype?.get(name) : getter.invoke(this, []);
  }
}

/** A function: of the program, or one of ours. */
export class Callable {
  readonly fields = new Map<string, Value>();
  readonly prototype = new Box();

  constructor(
    readonly name: string,
    readonly invoke: (self: Value, args: readonly Value[]) => Value,
    readonly construct: ((args: readonly Value[]) => Value) | null = null,
  ) {}
}

/** An exception of the program itself. */
export class Thrown extends Error {
  override readonly name = 'Thrown';
  constructor(readonly value: Value) {
    super(describe(value));
  }
}

/** The program took more steps than it was given; it may never end. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps';
}

export function fail(kind: string, message: string): Thrown {
  const error = new Box(null, 'error');
  error.fields.set('name', kind).set('message', message);
  return new Thrown(error);
}

export function boxOf(fields: Readonly<Record<string, Value>>): Box {
  const box = new Box();
  for (const [name, value] of Object.entries(fields)) box.fields.set(name, value);
  return box;
}

export function callable(value: Value, what: string): Callable {
  if (value instanceof Callable) return value;
  throw fail('TypeError', `${what} is not a function`);
}

export function isObject(value: Value): value is Value[] | Box | Callable {
  return Array.isArray(value) || value instanceof Box || value instanceof Callable;
}

/** The primitive an operator works on. */
export function toPrimitive(value: Value): string | number | boolean | null | undefined {
  return isObject(value) ? toText(value) : value;
}

export function toText(value: Value): string {
  if (Array.isArray(value)) return value.map((item) => (item == null ? '' : toText(item))).join(',');
  if (value instanceof Box && value.kind === 'error')
    return `${toText(value.get('name'))}: ${toText(value.get('message'))}`;
  if (value instanceof Box) return '[object Object]';
  if (value instanceof Callable) throw new Unsupported('A function as text is not read.');
  return String(value);
}

export function toNumber(value: Value): number {
  return Number(toPrimitive(value));
}

/** Text for people; bounded. */
export function describe(value: Value): string {
  const plain = toPlain(value, 4);
  return (typeof plain === 'string' ? plain : (JSON.stringify(plain) ?? String(plain))).slice(0, 400);
}

/** A copy made of host values, down to `depth` levels. */
export function toPlain(value: Value, depth = 8): unknown {
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.map((item) => toPlain(item, depth - 1));
  if (value instanceof Callable) return `function ${value.name}`;
  if (!(value instanceof Box)) return value;
  if (value.entries !== null)
    return [...value.entries].map(([key, item]) => [toPlain(key, depth - 1), toPlain(item, depth - 1)]);
  return Object.fromEntries([...value.fields].map(([name, item]) => [name, toPlain(item, depth - 1)]));
}

/** Deep equality, as `deepStrictEqual` has it; with `==` for primitives if not strict. */
export function deepEquals(left: Value, right: Value, strict: boolean): boolean {
  if (!isObject(left) || !isObject(right)) {
    // biome-ignore lint/suspicious/noDoubleEquals: this is what the loose assertion means
    return strict ? Object.is(left, right) : left == right || (left !== left && right !== right);
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => deepEquals(item, right[index], strict));
  }
  if (left instanceof Box && right instanceof Box) return boxesEqual(left, right, strict);
  return left === right;
}

function boxesEqual(left: Box, right: Box, strict: boolean): boolean {
  if (left.kind !== right.kind || (strict && left.prototype !== right.prototype)) return false;
  if (left.entries !== null && right.entries !== null) {
    return deepEquals([...left.entries].flat(), [...right.entries].flat(), strict);
  }
  if (left.fields.size !== right.fields.size) return false;
  return [...left.fields].every(
    ([name, value]) => right.fields.has(name) && deepEquals(value, right.fields.get(name), strict),
  );
}
