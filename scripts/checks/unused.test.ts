import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lowManifest, plantWorkspace, type PlantedWorkspace } from './planted-workspace.js';
import { checkUnused } from './unused.mjs';

let workspace: PlantedWorkspace;
beforeEach(() => {
  workspace = plantWorkspace();
  workspace.copy('knip.json');
  workspace.write('package.json', { name: 'planted', private: true, type: 'module' });
  workspace.write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n');
  workspace.write('packages/low/src/index.ts', "export { used } from './shelf.js';\n");
  workspace.write('packages/low/src/shelf.ts', "export const used = 'used';\n");
});
afterEach(() => workspace.remove());

describe('the check for what nobody uses', () => {
  it('is silent when everything is used', async () => {
    expect(await checkUnused(workspace.root)).toEqual([]);
  });

  it('finds an export, a type, a file and a dependency that nobody uses', async () => {
    workspace.write(
      'packages/low/src/shelf.ts',
      "export const used = 'used';\nexport const deadExport = 1;\nexport interface DeadType {\n  readonly a: 1;\n}\n",
    );
    workspace.write('packages/low/src/dead-file.ts', 'export const alone = 1;\n');
    workspace.write('packages/low/package.json', { ...lowManifest, dependencies: { 'dead-dependency': '1.0.0' } });
    const [report] = await checkUnused(workspace.root);
    for (const planted of ['deadExport', 'DeadType', 'dead-file.ts', 'dead-dependency'])
      expect(report).toContain(planted);
  });
});
