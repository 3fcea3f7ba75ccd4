import { arrayMethods, collectionMethods, numberMethods, stringMethods } from './builtin-methods.js';
import { iterate } from './iterate.js';
import { RegexBox, regexMember } from './regex.js';
import { Unsupported } from './tokenize.js';
import { Box, Callable, fail, toText, type Value } from './values.js';

const longestArray = 100_000;

/** Reads a property. @throws Thrown for one of null or undefined, Unsupported for a built-in that is not there */
export function getMember(object: Value, key: Value): Value {
  if (object === null || object === undefined) throw fail('TypeError', `Cannot read properties of ${object}`);
  if (typeof object === 'string') return stringMember(object, key);
  if (Array.isArray(object)) return arrayMember(object, key);
  if (object instanceof RegexBox) return regexMember(object, toText(key));
  if (object instanceof Box) return boxMember(object, key);
  if (object instanceof Callable) return callableMember(object, toText(key));
  return builtIn(numberMethods, toText(key), object);
}

/** Writes a property. */
export function setMember(object: Value, key: Value, value: Value): void {
  if (object instanceof Box || object instanceof Callable) object.fields.set(toText(key), value);
  else if (Array.isArray(object) && key === 'length') object.length = Math.min(Number(value), object.length);
  else if (Array.isArray(object)) object[indexOf(key)] = value;
  else throw fail('TypeError', `Cannot set properties of ${String(object)}`);
}

function stringMember(text: string, key: Value): Value {
  if (key === 'length') return text.length;
  if (typeof key === 'number' || /^\d+$/.test(toText(key))) return text[Number(key)];
  return builtIn(stringMethods, toText(key), text);
}

function arrayMember(items: readonly Value[], key: Value): Value {
  if (key === 'length') return items.length;
  if (typeof key === 'number' || /^-?\d+$/.test(toText(key))) return items[Number(key)];
  return builtIn(arrayMethods, toText(key), items as Value[]);
}

function boxMember(box: Box, key: Value): Value {
  const name = toText(key);
  if (box.entries !== null && name === 'size') return box.entries.size;
  if (box.entries !== null && !box.has(name)) return builtIn(collectionMethods, name, box);
  if (name === 'hasOwnProperty' && !box.has(name))
    return new Callable(name, (_, [field]) => box.fields.has(toText(field)));
  if (name === 'toString' && !box.has(name)) return new Callable(name, () => toText(box));
  return box.get(name);
}

function callableMember(called: Callable, name: string): Value {
  if (called.fields.has(name)) return called.fields.get(name);
  if (name === 'prototype') return called.prototype;
  if (name === 'name') return called.name;
  if (name === 'call') return new Callable(name, (_, [self, ...args]) => called.invoke(self, args));
  if (name === 'apply') return new Callable(name, (_, [self, args]) => called.invoke(self, iterate(args ?? [])));
  if (name === 'bind')
    return new Callable(
      name,
      (_, [self, ...bound]) => new Callable(called.name, (__, args) => called.invoke(self, [...bound, ...args])),
    );
  throw new Unsupported(`The property ${called.name}.${name} is not read.`);
}

function builtIn<T extends Value>(
  methods: Readonly<Record<string, (self: T, args: readonly Value[]) => Value>>,
  name: string,
  self: T,
): Value {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method === undefined && hasMethod(self, name))
    throw new Unsupported(`The method ${name} of a ${typeof self} is not read.`);
  if (method === undefined) return undefined;
  return new Callable(name, (_, args) => method(self, args));
}

/** True if the language has a property of that name there, so that its absence here proves nothing. */
function hasMethod(self: Value, name: string): boolean {
  const prototype = Array.isArray(self) ? Array.prototype : Object.getPrototypeOf(Object(self));
  return name in prototype;
}

function indexOf(key: Value): number {
  const index = Number(key);
  if (!Number.isInteger(index) || index < 0 || index > longestArray)
    throw new Unsupported('This array index is not read.');
  return index;
}
