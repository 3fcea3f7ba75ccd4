import { expect, it } from 'vitest';
import { Interruption } from './interruption.js';

it('the first Ctrl-C says what a second one does; the second ends at once and says how to go on', () => {
  const notes: string[] = [];
  const codes: number[] = [];
  const note = (text: string): number => notes.push(text);
  const output = { line: note, json: () => undefined, note, interactive: false };
  using interruption = new Interruption(output, { next: 'stint watch 0198c2', exit: (code) => codes.push(code) });
  process.emit('SIGINT');
  expect(interruption.signal.aborted).toBe(true);
  expect(codes).toEqual([]);
  expect(notes).toEqual([expect.stringMatching(/stopping safely.*once more \(Ctrl-C\) ends it at once/)]);
  process.emit('SIGINT');
  expect(codes).toEqual([130]);
  expect(notes.at(-1)).toContain('stint watch 0198c2');
});
