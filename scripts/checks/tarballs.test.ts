import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lowManifest, plantWorkspace, type PlantedWorkspace } from './planted-workspace.js';
import { checkFiles, checkManifest, checkTarballs } from './tarballs.mjs';

let workspace: PlantedWorkspace;
beforeEach(() => {
  workspace = plantWorkspace();
  workspace.write('packages/hidden/package.json', { ...lowManifest, name: '@stint/hidden', private: true });
});
afterEach(() => workspace.remove());

describe('the check of a packed manifest', () => {
  it('case U01: refuses every range that only this workspace understands', () => {
    for (const range of ['workspace:*', 'catalog:', 'link:../low', 'file:../low']) {
      for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
        expect(checkManifest(workspace.root, { [field]: { some: range } })).toEqual([expect.stringContaining(range)]);
      }
    }
    expect(checkManifest(workspace.root, { dependencies: { some: '^1.0.0', '@stint/low': '0.0.0' } })).toEqual([]);
  });

  it('case U07: refuses a dependency on a private sibling', () => {
    const findings = checkManifest(workspace.root, { dependencies: { '@stint/hidden': '0.0.0' } });
    expect(findings).toEqual([expect.stringContaining('"@stint/hidden", which is private')]);
  });

  it('case U11: refuses a sibling as a peer, whose minor versions would be major ones of the dependent', () => {
    const findings = checkManifest(workspace.root, { peerDependencies: { '@stint/low': '^0.1.0' } });
    expect(findings).toEqual([expect.stringContaining('"@stint/low" is a peer')]);
  });
});

describe('the check of packed files', () => {
  const always = ['README.md', 'LICENSE', 'package.json'];
  const low = (): string => `${workspace.root}/packages/low`;

  it('accepts what was built, and asks for README and LICENSE', () => {
    expect(checkFiles([...always, 'dist/index.js', 'dist/index.d.ts'], low())).toEqual([]);
    expect(checkFiles(['package.json'], low())).toEqual([
      'README.md is not in the tarball',
      'LICENSE is not in the tarball',
    ]);
  });

  it('refuses tests, sources, and what was built from a source that is gone', () => {
    for (const [file, says] of [
      ['dist/index.test.js', 'is there for tests only'],
      ['dist/serve.test.helper.d.ts', 'is there for tests only'],
      ['fixtures/sample.json', 'is there for tests only'],
      ['src/index.ts', 'is a source'],
      ['dist/gone.js', 'was built from a source that is gone'],
    ] as const) {
      expect(checkFiles([...always, file], low()).join()).toContain(`${file} ${says}`);
    }
  });
});

describe('the check of packed exports', () => {
  beforeEach(() => {
    workspace.copy('package.json');
    workspace.copy('LICENSE');
    workspace.write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n');
    workspace.write('packages/low/README.md', '# Low\n');
    workspace.write('packages/low/dist/index.js', 'export {};\n');
    workspace.write('packages/low/dist/index.d.ts', 'export {};\n');
    publish({ '.': { types: './dist/index.d.ts', default: './dist/index.js' } });
  });

  const publish = (exports: object): void =>
    workspace.write('packages/low/package.json', { ...lowManifest, license: 'Apache-2.0', exports, files: ['dist'] });

  it('is silent about a sound package', async () => {
    expect(await checkTarballs(workspace.root)).toEqual([]);
  });

  it('finds an export that is not in the tarball', async () => {
    publish({ './gone': { types: './dist/gone.d.ts', default: './dist/gone.js' } });
    expect((await checkTarballs(workspace.root)).join()).toContain('./dist/gone.js but the file does not exist');
  });

  it('case U09: finds declarations that point at a file that is not there', async () => {
    workspace.write('packages/low/dist/index.d.ts', "export * from './gone.js';\n");
    expect((await checkTarballs(workspace.root)).join()).toContain('Internal resolution error');
  });
});
