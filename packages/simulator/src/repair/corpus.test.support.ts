/** Small right programs with tests that hold; a slip put into one of them is to be found and mended. */
export interface Program {
  readonly source: string;
  readonly test: string;
}

const head = `import test, { describe, it } from 'node:test';
import assert from 'node:assert/strict';
`;

export const corpus: readonly Program[] = [
  {
    source: `export function total(items) {
  return items.reduce((sum, { price, qty = 1 }) => sum + price * qty, 0);
}
export const isFree = (amount, limit = 50) => amount >= limit;
export function shipping(amount) {
  if (isFree(amount)) return 0;
  return amount < 20 ? 5.9 : 3.5;
}
`,
    test: `${head}import { isFree, shipping, total } from '../src/program.js';
test('total', () => {
  assert.equal(total([{ price: 10, qty: 2 }, { price: 5 }]), 25);
});
test('shipping', () => {
  assert.equal(isFree(50), true);
  assert.equal(isFree(49), false);
  assert.equal(shipping(60), 0);
  assert.equal(shipping(19), 5.9);
  assert.equal(shipping(20), 3.5);
});
`,
  },
  {
    source: `export const slug = (title) => title.trim().toLowerCase().replace(/[^a-z0-9]+/g, '-');
export function initials(name) {
  return name.split(' ').map((part) => part[0].toUpperCase()).join('.') + '.';
}
export function plural(count, word) {
  return count === 1 ? \`\${count} \${word}\` : \`\${count} \${word}s\`;
}
`,
    test: `${head}import { initials, plural, slug } from '../src/program.js';
describe('texts', () => {
  it('makes slugs', () => assert.equal(slug('  Hello  Big World'), 'hello-big-world'));
  it('makes initials', () => assert.strictEqual(initials('ada king lovelace'), 'A.K.L.'));
  it('makes plurals', () => {
    assert.equal(plural(1, 'cat'), '1 cat');
    assert.equal(plural(3, 'cat'), '3 cats');
  });
});
`,
  },
  {
    source: `export class Stack {
  items = [];
  push(item) {
    this.items.push(item);
    return this.items.length;
  }
  pop() {
    if (this.items.length === 0) throw new Error('empty');
    return this.items.pop();
  }
}
export function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
export function chunk(items, size) {
  const chunks = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
`,
    test: `${head}import { chunk, fib, Stack } from '../src/program.js';
test('stack', () => {
  const stack = new Stack();
  assert.equal(stack.push('a'), 1);
  assert.equal(stack.pop(), 'a');
  assert.throws(() => stack.pop(), /empty/);
});
test('numbers', () => {
  assert.equal(fib(9), 34);
  assert.deepStrictEqual(chunk([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);
});
`,
  },
  {
    source: `const TAX = { low: 0.07, high: 0.19 };
export function gross(net, kind) {
  const rate = TAX[kind];
  if (rate === undefined) throw new RangeError('kind');
  return Number((net * (1 + rate)).toFixed(2));
}
export function grade(points) {
  switch (true) {
    case points >= 90:
      return 'A';
    case points >= 75:
      return 'B';
    default:
      return 'C';
  }
}
export const celsius = (fahrenheit) => ((fahrenheit - 32) * 5) / 9;
`,
    test: `${head}import { celsius, grade, gross } from '../src/program.js';
test('gross', () => {
  assert.equal(gross(100, 'low'), 107);
  assert.equal(gross(10, 'high'), 11.9);
});
test('grade', () => {
  assert.deepEqual([90, 89, 75, 74].map((points) => grade(points)), ['A', 'B', 'B', 'C']);
});
test('celsius', async () => {
  assert.equal(await celsius(212), 100);
  assert.equal(celsius(32), 0);
});
`,
  },
];
