import { expect, test } from 'vitest';
import { createRedactor } from './redact.js';
import { TextGate } from './texts.js';

const makeGate = (): TextGate => new TextGate(createRedactor({ workspaceRoot: '/home/ann/app' }));

test('a secret across the bound leaves no beginning of it, wherever the bound falls', () => {
  const secret = `sk-${Math.random().toString(36).slice(2).padEnd(24, '7')}`;
  const text = `the key is ${secret} and more words follow here`;
  for (let maxBytes = 1; maxBytes < text.length; maxBytes += 1) {
    const { text: shown, truncated } = makeGate().show(text, maxBytes);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maxBytes);
    expect(shown, `bound ${maxBytes}`).not.toContain(secret.slice(0, 6));
    if (maxBytes < 20) expect(truncated).toBe(true);
  }
});

test('a path across the bound leaves no part of it', () => {
  const text = 'see /home/bob/private/notes.txt and then some';
  for (let maxBytes = 1; maxBytes < text.length; maxBytes += 1) {
    expect(makeGate().show(text, maxBytes).text).not.toContain('/home');
  }
});

test('what is short enough is shown whole and not counted as cut', () => {
  const gate = makeGate();
  expect(gate.show('漢字', 6)).toEqual({ text: '漢字', truncated: false });
  expect(gate.cutCount).toBe(0);
  expect(gate.show('漢字', 5)).toEqual({ text: '漢', truncated: true });
  expect(gate.cutCount).toBe(1);
});

test('a fork counts from 0', () => {
  const gate = makeGate();
  gate.line('password: hunter2x');
  const fork = gate.fork();
  fork.line('/home/bob/x');
  expect([gate.maskedCount, fork.maskedCount]).toEqual([1, 1]);
});
