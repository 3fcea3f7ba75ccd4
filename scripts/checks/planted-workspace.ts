/** A small workspace in a temporary folder, in which a test plants what a check has to find. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface PlantedWorkspace {
  readonly root: string;
  /** @param path from the root @param content text, or a value that is written as JSON */
  write(path: string, content: unknown): void;
  /** Takes a file or a folder of this repository over as it is. */
  copy(path: string): void;
  remove(): void;
}

/** It has the tools of this repository, and a published package `@stint/low` whose index exports `used`. */
export function plantWorkspace(): PlantedWorkspace {
  const root = mkdtempSync(join(tmpdir(), 'stint-planted-'));
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  const write = (path: string, content: unknown): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  };
  write('packages/low/package.json', lowManifest);
  write('packages/low/src/index.ts', "export const used = 'used';\n");
  return {
    root,
    write,
    copy: (path) => cpSync(join(repository, path), join(root, path), { recursive: true }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export const lowManifest = {
  name: '@stint/low',
  version: '0.0.0',
  type: 'module',
  exports: { '.': { types: './src/index.ts', default: './src/index.ts' } },
};
