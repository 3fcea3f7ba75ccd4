import { describe, expect, it } from 'vitest';
import { runCommandLine } from './command-line.js';
import type { Output } from './output.js';

function recorder(): Output & { readonly out: string[]; readonly notes: string[] } {
  const out: string[] = [];
  const notes: string[] = [];
  return {
    out,
    notes,
    line: (text) => void out.push(text),
    json: (value) => void out.push(JSON.stringify(value)),
    note: (text) => void notes.push(text),
    interactive: false,
  };
}

describe('the command line', () => {
  it.each([
    [['run', 'x', '--tokns', '5'], /--tokens/],
    [['rum', 'x'], /Did you mean run/],
    [['run', 'x', '--tokens', '5e-1'], /whole number/],
    [['run', 'x', '--tokens', '-5'], /whole number|unknown option|argument missing/i],
    [['run', 'x', '--cost', '0.0000001'], /Give dollars/],
    [['run', 'x', '--deliver', 'moon'], /Allowed choices/],
    [['local', '--port', '70000'], /0 to 65535/],
    [['run'], /missing required argument/],
    [['show'], /missing required argument/],
  ] as const)('case L07, case I01: refuses %j with exit code 2, naming what is wrong', async (words, says) => {
    const output = recorder();
    expect(await runCommandLine([...words], { output })).toBe(2);
    expect(output.notes.join('\n')).toMatch(says);
    expect(output.out).toEqual([]);
  });

  it('case I05: keeps everything but the result off stdout when it refuses', async () => {
    const output = recorder();
    expect(
      await runCommandLine(['run', 'x', '--json', '--model', 'opnai:x', '--data-dir', '/proc/stint'], { output }),
    ).toBe(2);
    expect(output.out).toEqual([]);
    expect(output.notes).toHaveLength(1);
  });
});
