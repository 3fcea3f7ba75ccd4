import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkChangesets } from './changesets.mjs';
import { lowManifest, plantWorkspace, type PlantedWorkspace } from './planted-workspace.js';

let workspace: PlantedWorkspace;
beforeEach(() => {
  workspace = plantWorkspace();
  workspace.write('.changeset/README.md', '---\n"@stint/low": minor\n---\n');
});
afterEach(() => workspace.remove());

describe('the changeset checker', () => {
  it('finds a published package that nothing announces, whatever the folder explains', () => {
    expect(checkChangesets(workspace.root)).toEqual([expect.stringContaining('@stint/low is new')]);
  });

  it('accepts a changeset that names it, and a package that was released before', () => {
    workspace.write('.changeset/low-first.md', '---\n"@stint/low": minor\n---\n\nWhat it brings.\n');
    workspace.write('packages/old/package.json', { ...lowManifest, name: '@stint/old' });
    workspace.write('packages/old/CHANGELOG.md', '# @stint/old\n');
    expect(checkChangesets(workspace.root)).toEqual([]);
  });

  it('does not take a mention for a changeset', () => {
    workspace.write(
      '.changeset/low-first.md',
      '---\n"@stint/lower": minor\n---\n\nLike "@stint/low": minor, but lower.\n',
    );
    expect(checkChangesets(workspace.root)).toEqual([expect.stringContaining('@stint/low is new')]);
  });
});
