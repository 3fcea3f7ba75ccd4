import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lowManifest, plantWorkspace, type PlantedWorkspace } from './planted-workspace.js';
import { checkReadmes } from './readmes.mjs';

let workspace: PlantedWorkspace;
beforeEach(() => {
  workspace = plantWorkspace();
  workspace.copy('tsconfig.base.json');
  workspace.write('README.md', '# All\n\n```sh\nnpm start\n```\n');
});
afterEach(() => workspace.remove());

const readme = (code: string): void =>
  workspace.write('packages/low/README.md', `# Low\n\n\`\`\`ts\n${code}\n\`\`\`\n`);

describe('the README checker', () => {
  it('accepts an example that compiles against its own package, and leaves nothing behind', async () => {
    readme("import { used } from '@stint/low';\n\nconsole.log(used.length);");
    expect(await checkReadmes(workspace.root)).toEqual([]);
    expect(existsSync(join(workspace.root, 'packages/low/readme-check'))).toBe(false);
  });

  it('names the line of the README that does not compile', async () => {
    readme("import { used } from '@stint/low';\n\nconsole.log(used.size);");
    expect(await checkReadmes(workspace.root)).toEqual([
      expect.stringMatching(/^packages\/low\/README\.md:6: error TS2339: Property 'size' does not exist/),
    ]);
  });

  it('refuses an import of a name that the package does not export', async () => {
    readme("import { gone } from '@stint/low';\n\nconsole.log(gone);");
    expect(await checkReadmes(workspace.root)).toEqual([expect.stringContaining("no exported member 'gone'")]);
  });

  it('asks for the README of a published package, not for that of a private one', async () => {
    expect(await checkReadmes(workspace.root)).toEqual(['packages/low has no README.md']);
    workspace.write('packages/low/package.json', { ...lowManifest, private: true });
    expect(await checkReadmes(workspace.root)).toEqual([]);
  });

  it('keeps TypeScript out of the README of the whole, where nothing compiles it', async () => {
    readme('export {};');
    workspace.write('README.md', '# All\n\n```ts\nwhatever;\n```\n');
    expect(await checkReadmes(workspace.root)).toEqual([expect.stringMatching(/^README\.md:3: /)]);
  });
});
