import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkArchitecture } from './architecture.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stint-architecture-'));
  mkdirSync(join(root, 'packages/low/src'), { recursive: true });
  writeFileSync(
    join(root, 'packages/low/src/call.ts'),
    'export function* first(): void {}\nclass Box {\n  async second(): Promise<void> {}\n}\n',
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const findings = (text: string): string[] => {
  writeFileSync(join(root, 'ARCHITECTURE.md'), text);
  return checkArchitecture(root);
};

describe('the architecture checker', () => {
  it('accepts files, functions and methods that exist', () => {
    expect(
      findings('`packages/low/src/call.ts` `packages/low/src/call.ts#first` `packages/low/src/call.ts#second`'),
    ).toEqual([]);
  });

  it('refuses a file that is gone, a function that is gone, and a document that names nothing', () => {
    expect(findings('`packages/low/src/gone.ts#first`')).toEqual([
      expect.stringContaining('gone.ts, which does not exist'),
    ]);
    expect(findings('`packages/low/src/call.ts#third`')).toEqual([expect.stringContaining('declares no third')]);
    expect(findings('nothing')).toEqual([expect.stringContaining('names no file')]);
  });
});
