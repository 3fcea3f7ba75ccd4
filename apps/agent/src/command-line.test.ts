import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  it.each([
    [['run', 'x', '--model', 'opnai:x'], 2, { code: 'usage', message: expect.stringContaining('opnai') }],
    [['run', 'x', '--tokns', '5'], 2, { code: 'usage', message: expect.stringMatching(/^unknown option '--tokns'/) }],
    [['shw', 'x'], 2, { code: 'usage', message: expect.stringContaining('shw') }],
    [['show', 'no-such-item'], 2, { code: 'usage', message: expect.stringContaining('no-such-item') }],
    [['resolve', 'a/0', '--applied'], 2, { code: 'not_found', message: expect.stringContaining('a/0') }],
    [['run', '', '--model', 'simulated'], 2, { code: 'invalid_field', message: expect.stringContaining('goal') }],
  ] as const)(
    'case I05: with --json refuses %j by one document on stdout and one line beside it',
    async (words, exitCode, fault) => {
      const output = recorder();
      const dataDirectory = mkdtempSync(join(tmpdir(), 'stint-agent-'));
      const given = [...words, '--json', '--data-dir', dataDirectory];
      expect(await runCommandLine(given, { output })).toBe(exitCode);
      expect(output.out.map((line): unknown => JSON.parse(line))).toEqual([{ ...fault, retryable: false, exitCode }]);
      expect(output.notes).toHaveLength(1);
    },
  );

  it('case I05: with --json tells a store that cannot be opened by its code, and fails', async () => {
    const output = recorder();
    expect(await runCommandLine(['list', '--json', '--data-dir', '/proc/stint'], { output })).not.toBe(0);
    expect(output.out).toHaveLength(1);
    expect(JSON.parse(output.out[0] ?? '')).toMatchObject({
      code: expect.any(String),
      message: expect.any(String),
      retryable: false,
    });
  });

  it('prints no document for what was only asked about, such as --help', async () => {
    const output = recorder();
    expect(await runCommandLine(['show', '--help', '--json'], { output })).toBe(0);
    expect(output.out).toEqual([expect.stringContaining('Usage: stint show'), expect.stringContaining('Example')]);
  });
});
