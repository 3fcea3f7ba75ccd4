import { expect, test } from 'vitest';
import { deepFreeze } from './deep-freeze.js';
import { RequestFreezer } from './freeze-request.js';
import { promptOf } from './recorder.test.helper.js';

test('plain values are copied and frozen through and through, the original stays as it was', () => {
  const original = { a: [{ b: 1 }], c: null };
  const frozen = deepFreeze(original);
  expect(frozen).toEqual(original);
  expect(frozen.a[0]).not.toBe(original.a[0]);
  expect(() => Object.assign(frozen.a[0] as object, { b: 2 })).toThrow(TypeError);
  original.a[0] = { b: 3 };
  expect(frozen.a[0]).toEqual({ b: 1 });
});

test('what is frozen is given back as it is; bytes and addresses are kept', () => {
  const frozen = Object.freeze({ a: 1 });
  expect(deepFreeze(frozen)).toBe(frozen);
  const bytes = new Uint8Array([1, 2]);
  const address = new URL('https://x.test');
  expect(deepFreeze({ bytes, address })).toEqual({ bytes, address });
});

test('case E15: nothing inside a frozen request changes with what it was made of', () => {
  const settings = { providerOptions: { p: { effort: 'low' } } };
  const prompt = promptOf('first');
  const request = new RequestFreezer('p', 'm').freeze({ prompt, tools: [], settings, stream: true, facts: {} });
  settings.providerOptions.p.effort = 'high';
  for (const message of prompt) Object.assign(message, { content: [{ type: 'text', text: 'smuggled' }] });
  expect(JSON.stringify(request)).not.toMatch(/high|smuggled/);
});

test('the hash of a prompt that grew is that of the same prompt made anew, and bytes are part of it', () => {
  const make = (freezer: RequestFreezer, prompt: ReturnType<typeof promptOf>): string =>
    freezer.freeze({ prompt, tools: [], settings: {}, stream: true, facts: {} }).hash;
  const grown = new RequestFreezer('p', 'm');
  const messages = ['a', 'b', 'c'].flatMap((text) => promptOf(text)).map(deepFreeze);
  for (let length = 1; length <= 3; length += 1) {
    const prompt = messages.slice(0, length);
    expect(make(grown, prompt)).toBe(make(new RequestFreezer('p', 'm'), structuredClone(prompt)));
  }
  const fileOf = (byte: number) => [
    { role: 'user' as const, content: [{ type: 'file' as const, data: new Uint8Array([byte]), mediaType: 'x/y' }] },
  ];
  expect(make(new RequestFreezer('p', 'm'), fileOf(1))).not.toBe(make(new RequestFreezer('p', 'm'), fileOf(2)));
});
