import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFloors } from './floors.mjs';

let root: string;

const plant = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stint-floors-'));
  plant('floors.json', JSON.stringify({ low: { floor: 0, mayImport: [] }, high: { floor: 1, mayImport: ['low'] } }));
  plant('packages/low/package.json', JSON.stringify({ name: '@stint/low' }));
  plant(
    'packages/high/package.json',
    JSON.stringify({ name: '@stint/high', dependencies: { '@stint/low': 'workspace:*' } }),
  );
  plant('packages/low/src/index.ts', 'export const low = 1;\n');
  plant('packages/high/src/index.ts', "import { low } from '@stint/low';\nexport const high = low;\n");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the floors checker', () => {
  it('finds nothing in a tree whose imports go down', () => {
    expect(checkFloors(root)).toEqual([]);
  });

  it.each([
    ['a value', "import { high } from '@stint/high';\nexport const up = high;\n"],
    ['a type', "import type { High } from '@stint/high';\nexport type Up = High;\n"],
    ['a type in place', "export type Up = import('@stint/high').High;\n"],
    ['a dynamic import', "export const up = () => import('@stint/high');\n"],
    ['a re-export', "export { high } from '@stint/high';\n"],
  ])('refuses an upward import of %s, naming file and line', (_kind, text) => {
    plant('packages/low/src/up.ts', text);
    expect(checkFloors(root)).toEqual([
      expect.stringMatching(/^packages\/low\/src\/up\.ts:1: import of @stint\/high \(floor 1\).*goes up/),
    ]);
  });

  it('refuses a table that lets a package import its own floor or a higher one', () => {
    plant(
      'floors.json',
      JSON.stringify({ low: { floor: 0, mayImport: ['high'] }, high: { floor: 1, mayImport: ['low'] } }),
    );
    expect(checkFloors(root)).toEqual([expect.stringContaining('low (floor 0) may not list high (floor 1)')]);
  });

  it('refuses a circle of files, types included, and names its members', () => {
    plant('packages/low/src/a.ts', "import type { B } from './b.js';\nexport type A = B | 1;\n");
    plant('packages/low/src/b.ts', "import type { A } from './a.js';\nexport type B = A | 2;\n");
    expect(checkFloors(root)).toEqual([
      expect.stringMatching(
        /circle: packages\/low\/src\/a\.ts -> packages\/low\/src\/b\.ts -> packages\/low\/src\/a\.ts/,
      ),
    ]);
  });

  it('refuses a relative import that leaves the package', () => {
    plant('packages/high/src/escape.ts', "export { low } from '../../low/src/index.js';\n");
    expect(checkFloors(root)).toEqual([expect.stringContaining('leaves the package')]);
  });

  it('refuses a library that package.json does not declare', () => {
    plant('packages/low/src/lib.ts', "import { z } from 'zod';\nexport const schema = z.string();\n");
    expect(checkFloors(root)).toEqual([expect.stringContaining('"zod" is not declared in low')]);
  });

  it('refuses a package without a row', () => {
    plant('packages/new/package.json', JSON.stringify({ name: '@stint/new' }));
    expect(() => checkFloors(root)).toThrow(/no row for "new"/);
  });
});
