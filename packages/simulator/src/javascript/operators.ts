import { Unsupported } from './tokenize.js';
import { Box, Callable, isObject, toNumber, toPrimitive, toText, type Value } from './values.js';

const longestText = 1_000_000;

/** A binary operator on two values. @throws Unsupported for an operator that is not read */
export function applyBinary(operator: string, left: Value, right: Value): Value {
  const apply = binaries[operator];
  if (apply === undefined) throw new Unsupported(`The operator ${operator} is not read.`);
  return apply(left, right);
}

const binaries: Readonly<Record<string, (left: Value, right: Value) => Value>> = {
  '+': add,
  '-': (left, right) => toNumber(left) - toNumber(right),
  '*': (left, right) => toNumber(left) * toNumber(right),
  '/': (left, right) => toNumber(left) / toNumber(right),
  '%': (left, right) => toNumber(left) % toNumber(right),
  '**': (left, right) => toNumber(left) ** toNumber(right),
  '&': (left, right) => toNumber(left) & toNumber(right),
  '|': (left, right) => toNumber(left) | toNumber(right),
  '^': (left, right) => toNumber(left) ^ toNumber(right),
  '<<': (left, right) => toNumber(left) << toNumber(right),
  '>>': (left, right) => toNumber(left) >> toNumber(right),
  '>>>': (left, right) => toNumber(left) >>> toNumber(right),
  '===': (left, right) => left === right,
  '!==': (left, right) => left !== right,
  '==': looselyEqual,
  '!=': (left, right) => !looselyEqual(left, right),
  '<': (left, right) => ordered(left, right, (a, b) => a < b),
  '>': (left, right) => ordered(left, right, (a, b) => a > b),
  '<=': (left, right) => ordered(left, right, (a, b) => a <= b),
  '>=': (left, right) => ordered(left, right, (a, b) => a >= b),
  in: (left, right) => right instanceof Box && right.has(toText(left)),
  instanceof: (left, right) => left instanceof Box && right instanceof Callable && isInstance(left, right),
};

function add(left: Value, right: Value): Value {
  const [a, b] = [toPrimitive(left), toPrimitive(right)];
  if (typeof a !== 'string' && typeof b !== 'string') return Number(a) + Number(b);
  const joined = String(a) + String(b);
  if (joined.length > longestText) throw new Unsupported('The text grows too long.');
  return joined;
}

function looselyEqual(left: Value, right: Value): boolean {
  if (isObject(left) && isObject(right)) return left === right;
  // biome-ignore lint/suspicious/noDoubleEquals: the program asked for this comparison
  return toPrimitive(left) == toPrimitive(right);
}

function ordered(left: Value, right: Value, compare: (a: string | number, b: string | number) => boolean): boolean {
  const [a, b] = [toPrimitive(left), toPrimitive(right)];
  return typeof a === 'string' && typeof b === 'string' ? compare(a, b) : compare(Number(a), Number(b));
}

function isInstance(value: Box, of: Callable): boolean {
  if (value.kind === 'error') return of.name === 'Error' || of.name === value.get('name');
  for (let box = value.prototype; box !== null; box = box.prototype) if (box === of.prototype) return true;
  return false;
}

/** A prefix operator on a value. */
export function applyUnary(operator: string, operand: Value): Value {
  switch (operator) {
    case '!':
      return !operand;
    case '-':
      return -toNumber(operand);
    case '+':
      return toNumber(operand);
    case '~':
      return ~toNumber(operand);
    case 'void':
      return undefined;
    case 'typeof':
      return typeName(operand);
    default:
      throw new Unsupported(`The operator ${operator} is not read.`);
  }
}

function typeName(value: Value): string {
  if (value instanceof Callable) return 'function';
  return typeof value;
}
