import { iterate } from './iterate.js';
import { matchText, RegexBox, replaceText } from './regex.js';
import { Unsupported } from './tokenize.js';
import { Box, Callable, callable, isObject, toNumber, toText, type Value } from './values.js';

type Methods<T> = Readonly<Record<string, (self: T, args: readonly Value[]) => Value>>;

const longest = 100_000;

function integer(value: Value, byDefault: number): number {
  return value === undefined ? byDefault : Math.trunc(toNumber(value));
}

function bounded(count: number): number {
  if (count > longest) throw new Unsupported('The result is too long to be read.');
  return count;
}

/** The text of an argument that must be one. */
function plain(value: Value): string {
  if (isObject(value)) throw new Unsupported('This argument is not read.');
  return toText(value);
}

function splitText(self: string, by: Value, limit: number): Value {
  if (by === undefined) return [self];
  return by instanceof RegexBox ? self.split(by.on(self), limit) : self.split(plain(by), limit);
}

export const stringMethods: Methods<string> = {
  at: (self, [index]) => self.at(integer(index, 0)),
  charAt: (self, [index]) => self.charAt(integer(index, 0)),
  charCodeAt: (self, [index]) => self.charCodeAt(integer(index, 0)),
  codePointAt: (self, [index]) => self.codePointAt(integer(index, 0)),
  concat: (self, args) => self + args.map(toText).join(''),
  endsWith: (self, [text]) => self.endsWith(plain(text)),
  includes: (self, [text]) => self.includes(plain(text)),
  indexOf: (self, [text, from]) => self.indexOf(plain(text), integer(from, 0)),
  lastIndexOf: (self, [text]) => self.lastIndexOf(plain(text)),
  localeCompare: (self, [other]) => self.localeCompare(plain(other)),
  padEnd: (self, [length, fill]) => self.padEnd(bounded(integer(length, 0)), fill === undefined ? ' ' : plain(fill)),
  padStart: (self, [length, fill]) =>
    self.padStart(bounded(integer(length, 0)), fill === undefined ? ' ' : plain(fill)),
  repeat: (self, [count]) =>
    self.repeat(bounded(integer(count, 0) * Math.max(1, self.length)) / Math.max(1, self.length)),
  match: (self, [pattern]) => matchText(self, pattern),
  replace: (self, args) => replaceText(self, args, false),
  replaceAll: (self, args) => replaceText(self, args, true),
  slice: (self, [start, end]) => self.slice(integer(start, 0), integer(end, self.length)),
  split: (self, [by, limit]) => splitText(self, by, integer(limit, longest)),
  startsWith: (self, [text]) => self.startsWith(plain(text)),
  substring: (self, [start, end]) => self.substring(integer(start, 0), integer(end, self.length)),
  toLowerCase: (self) => self.toLowerCase(),
  toString: (self: string) => self,
  toUpperCase: (self) => self.toUpperCase(),
  trim: (self) => self.trim(),
  trimEnd: (self) => self.trimEnd(),
  trimStart: (self) => self.trimStart(),
  valueOf: (self: string) => self,
};

export const numberMethods: Methods<Value> = {
  toFixed: (self, [digits]) => toNumber(self).toFixed(Math.min(100, Math.max(0, integer(digits, 0)))),
  toString: (self: Value, [radix]: readonly Value[]) =>
    typeof self === 'number' ? self.toString(integer(radix, 10)) : toText(self),
  valueOf: (self: Value) => self,
};

/** Calls a callback of an array method the way the language does. */
function each<T>(self: Value[], callback: Value, use: (returned: () => Value, item: Value, index: number) => T): T[] {
  const called = callable(callback, 'the callback');
  return [...self].map((item, index) => use(() => called.invoke(undefined, [item, index, self]), item, index));
}

function reduce(self: readonly Value[], [callback, ...initial]: readonly Value[]): Value {
  const called = callable(callback, 'the callback');
  const items = [...self.entries()];
  const first = initial.length > 0 ? initial[0] : items.shift()?.[1];
  return items.reduce<Value>(
    (sum, [index, item]) => called.invoke(undefined, [sum, item, index, self as Value[]]),
    first,
  );
}

function find(self: Value[], callback: Value, fromEnd = false): number {
  const called = callable(callback, 'the callback');
  const test = (item: Value, index: number) => Boolean(called.invoke(undefined, [item, index, self]));
  return fromEnd ? self.findLastIndex(test) : self.findIndex(test);
}

function flatten(items: readonly Value[], depth: number): Value[] {
  return items.flatMap((item) => (Array.isArray(item) && depth > 0 ? flatten(item, depth - 1) : [item]));
}

function sorted(self: readonly Value[], compare: Value): Value[] {
  if (compare === undefined)
    return [...self].sort((a, b) => (toText(a) < toText(b) ? -1 : toText(a) > toText(b) ? 1 : 0));
  const called = callable(compare, 'the comparison');
  return [...self].sort((a, b) => toNumber(called.invoke(undefined, [a, b])));
}

export const arrayMethods: Methods<Value[]> = {
  at: (self, [index]) => self.at(integer(index, 0)),
  concat: (self, args) => [...self, ...args.flatMap((item) => (Array.isArray(item) ? item : [item]))],
  entries: (self) => [...self.entries()].map((entry) => [...entry]),
  every: (self, [callback]) => find(self, negated(callback)) === -1,
  fill: (self, [value, start, end]) => self.fill(value, integer(start, 0), integer(end, self.length)),
  filter: (self, [callback]) => each(self, callback, (keep, item) => (keep() ? [item] : [])).flat(1) as Value[],
  find: (self, [callback]) => self[find(self, callback)],
  findIndex: (self, [callback]) => find(self, callback),
  findLast: (self, [callback]) => self[find(self, callback, true)],
  findLastIndex: (self, [callback]) => find(self, callback, true),
  flat: (self, [depth]) => flatten(self, integer(depth, 1)),
  flatMap: (self, [callback]) =>
    flatten(
      each(self, callback, (returned) => returned()),
      1,
    ),
  forEach: (self, [callback]) => void each(self, callback, (returned) => returned()),
  includes: (self, [item]) => self.includes(item),
  indexOf: (self, [item]) => self.indexOf(item),
  join: (self, [by]) =>
    self.map((item) => (item == null ? '' : toText(item))).join(by === undefined ? ',' : toText(by)),
  keys: (self) => [...self.keys()],
  lastIndexOf: (self, [item]) => self.lastIndexOf(item),
  map: (self, [callback]) => each(self, callback, (returned) => returned()),
  pop: (self) => self.pop(),
  push: (self, items) => self.push(...items),
  reduce: (self, args) => reduce(self, args),
  reduceRight: (self, args) => reduce([...self].reverse(), args),
  reverse: (self) => self.reverse(),
  shift: (self) => self.shift(),
  slice: (self, [start, end]) => self.slice(integer(start, 0), integer(end, self.length)),
  some: (self, [callback]) => find(self, callback) !== -1,
  sort: (self, [compare]) => self.splice(0, self.length, ...sorted(self, compare)) && self,
  splice: (self, [start, count, ...items]) => self.splice(integer(start, 0), integer(count, self.length), ...items),
  toReversed: (self) => [...self].reverse(),
  toSorted: (self, [compare]) => sorted(self, compare),
  toString: (self: Value[]) => toText(self),
  unshift: (self, items) => self.unshift(...items),
  values: (self) => [...self],
};

function negated(callback: Value): Value {
  const called = callable(callback, 'the callback');
  return new Callable(called.name, (self, args) => !called.invoke(self, args));
}

function entriesOf(self: Box): Map<Value, Value> {
  if (self.entries === null) throw new Unsupported('This object is no collection.');
  return self.entries;
}

export const collectionMethods: Methods<Box> = {
  add: (self, [item]) => {
    entriesOf(self).set(item, item);
    return self;
  },
  clear: (self) => entriesOf(self).clear() as undefined,
  delete: (self, [key]) => entriesOf(self).delete(key),
  entries: (self) => [...entriesOf(self)].map((entry) => [...entry]),
  forEach: (self, [callback]) => {
    const called = callable(callback, 'the callback');
    for (const [key, value] of Array.from(entriesOf(self))) called.invoke(undefined, [value, key, self]);
    return undefined;
  },
  get: (self, [key]) => entriesOf(self).get(key),
  has: (self, [key]) => entriesOf(self).has(key),
  keys: (self) => [...entriesOf(self).keys()],
  set: (self, [key, value]) => {
    entriesOf(self).set(key, value);
    return self;
  },
  values: (self) => [...entriesOf(self).values()],
};

/** A Map (from pairs) or a Set (from items). */
export function makeCollection(kind: 'map' | 'set', source: Value): Box {
  const box = new Box(null, kind);
  const items = source === undefined || source === null ? [] : iterate(source);
  box.entries = new Map(
    items.map((item) => (kind === 'map' && Array.isArray(item) ? [item[0], item[1]] : [item, item])),
  );
  return box;
}
