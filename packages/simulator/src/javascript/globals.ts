import { makeCollection } from './builtin-methods.js';
import { iterate } from './iterate.js';
import { Scope } from './scope.js';
import { Unsupported } from './tokenize.js';
import { Box, boxOf, Callable, callable, fail, toNumber, toPlain, toText, type Value } from './values.js';

/** The globals a program of the subset may use. Anything else it names is not supported. */
export function globalScope(): Scope {
  const scope = new Scope(null, true);
  for (const [name, value] of Object.entries(globals())) scope.declare(name, value, true);
  return scope;
}

type Native = (args: readonly Value[]) => Value;

function native(name: string, apply: Native, construct: Native | null = null): Callable {
  return new Callable(name, (_, args) => apply(args), construct);
}

function withFields(value: Callable, fields: Readonly<Record<string, Value>>): Callable {
  for (const [name, field] of Object.entries(fields)) value.fields.set(name, field);
  return value;
}

function globals(): Readonly<Record<string, Value>> {
  return {
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    Math: mathObject(),
    Object: objectFunctions(),
    Array: arrayFunctions(),
    JSON: jsonObject(),
    Number: numberFunctions(),
    String: withFields(
      native('String', ([value]) => (value === undefined ? '' : toText(value))),
      {
        fromCharCode: native('fromCharCode', (codes) => String.fromCharCode(...codes.map(toNumber))),
      },
    ),
    Boolean: native('Boolean', ([value]) => Boolean(value)),
    parseInt: native('parseInt', ([text, radix]) =>
      Number.parseInt(toText(text), radix === undefined ? undefined : toNumber(radix)),
    ),
    parseFloat: native('parseFloat', ([text]) => Number.parseFloat(toText(text))),
    isNaN: native('isNaN', ([value]) => Number.isNaN(toNumber(value))),
    isFinite: native('isFinite', ([value]) => Number.isFinite(toNumber(value))),
    Map: native('Map', refuseCall, ([source]) => makeCollection('map', source)),
    Set: native('Set', refuseCall, ([source]) => makeCollection('set', source)),
    console: boxOf(
      Object.fromEntries(
        ['log', 'info', 'warn', 'error', 'debug'].map((name) => [name, native(name, () => undefined)]),
      ),
    ),
    ...errors(),
  };
}

function refuseCall(): never {
  throw new Unsupported('This constructor needs new.');
}

function errors(): Readonly<Record<string, Value>> {
  const names = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError'];
  return Object.fromEntries(
    names.map((name) => {
      const make: Native = ([message]) => {
        const error = new Box(null, 'error');
        error.fields.set('name', name).set('message', message === undefined ? '' : toText(message));
        return error;
      };
      return [name, native(name, make, make)];
    }),
  );
}

function mathObject(): Box {
  const one = [
    'abs',
    'ceil',
    'floor',
    'round',
    'trunc',
    'sign',
    'sqrt',
    'cbrt',
    'exp',
    'log',
    'log2',
    'log10',
    'sin',
    'cos',
    'tan',
  ] as const;
  const box = boxOf({ PI: Math.PI, E: Math.E, SQRT2: Math.SQRT2, LN2: Math.LN2, LN10: Math.LN10 });
  for (const name of one)
    box.fields.set(
      name,
      native(name, ([value]) => Math[name](toNumber(value))),
    );
  for (const name of ['max', 'min', 'hypot'] as const)
    box.fields.set(
      name,
      native(name, (values) => Math[name](...values.map(toNumber))),
    );
  box.fields.set(
    'pow',
    native('pow', ([base, exponent]) => toNumber(base) ** toNumber(exponent)),
  );
  return box;
}

function fieldsOf(value: Value): readonly (readonly [string, Value])[] {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item] as const);
  return value instanceof Box ? [...value.fields] : [];
}

function objectFunctions(): Callable {
  const make: Native = () => new Box();
  return withFields(native('Object', make, make), {
    keys: native('keys', ([value]) => fieldsOf(value).map(([name]) => name)),
    values: native('values', ([value]) => fieldsOf(value).map(([, field]) => field)),
    entries: native('entries', ([value]) => fieldsOf(value).map((entry) => [...entry])),
    fromEntries: native('fromEntries', ([pairs]) => {
      const box = new Box();
      for (const pair of iterate(pairs)) if (Array.isArray(pair)) box.fields.set(toText(pair[0]), pair[1]);
      return box;
    }),
    assign: native('assign', ([target, ...sources]) => {
      if (!(target instanceof Box)) throw new Unsupported('Object.assign to this is not read.');
      for (const source of sources) for (const [name, field] of fieldsOf(source)) target.fields.set(name, field);
      return target;
    }),
    freeze: native('freeze', ([value]) => value),
    hasOwn: native('hasOwn', ([value, name]) => fieldsOf(value).some(([field]) => field === toText(name))),
    is: native('is', ([left, right]) => Object.is(left, right)),
  });
}

function arrayFunctions(): Callable {
  const make: Native = (args) => {
    const [length] = args;
    return args.length === 1 && typeof length === 'number' ? Array.from<Value>({ length: bounded(length) }) : [...args];
  };
  return withFields(native('Array', make, make), {
    isArray: native('isArray', ([value]) => Array.isArray(value)),
    of: native('of', (args) => [...args]),
    from: native('from', ([source, map]) => {
      const items = itemsFrom(source);
      return map === undefined
        ? items
        : items.map((item, index) => callable(map, 'the callback').invoke(undefined, [item, index]));
    }),
  });
}

function itemsFrom(source: Value): Value[] {
  if (!(source instanceof Box) || source.entries !== null) return iterate(source);
  const length = bounded(toNumber(source.get('length')));
  return Array.from({ length }, (_, index) => source.get(String(index)));
}

function bounded(length: number): number {
  if (!(length >= 0 && length <= 100_000)) throw new Unsupported('An array of this length is not read.');
  return length;
}

function jsonObject(): Box {
  return boxOf({
    stringify: native('stringify', ([value, replacer, indent]) => {
      if (replacer !== undefined && replacer !== null) throw new Unsupported('A replacer is not read.');
      return JSON.stringify(toPlain(value, 100), null, typeof indent === 'number' ? indent : undefined);
    }),
    parse: native('parse', ([text]) => fromPlain(parseJson(toText(text)))),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail('SyntaxError', error instanceof Error ? error.message : 'not JSON');
  }
}

/** A value of the program from plain data. */
export function fromPlain(value: unknown): Value {
  if (Array.isArray(value)) return value.map(fromPlain);
  if (typeof value !== 'object' || value === null) return value as Value;
  return boxOf(Object.fromEntries(Object.entries(value).map(([name, field]) => [name, fromPlain(field)])));
}

function numberFunctions(): Callable {
  return withFields(
    native('Number', ([value]) => (value === undefined ? 0 : toNumber(value))),
    {
      isInteger: native('isInteger', ([value]) => Number.isInteger(value)),
      isSafeInteger: native('isSafeInteger', ([value]) => Number.isSafeInteger(value)),
      isFinite: native('isFinite', ([value]) => Number.isFinite(value)),
      isNaN: native('isNaN', ([value]) => Number.isNaN(value)),
      parseInt: native('parseInt', ([text, radix]) =>
        Number.parseInt(toText(text), radix === undefined ? undefined : toNumber(radix)),
      ),
      parseFloat: native('parseFloat', ([text]) => Number.parseFloat(toText(text))),
      MAX_SAFE_INTEGER: Number.MAX_SAFE_INTEGER,
      MIN_SAFE_INTEGER: Number.MIN_SAFE_INTEGER,
      EPSILON: Number.EPSILON,
    },
  );
}
