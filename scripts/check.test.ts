import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plantWorkspace, type PlantedWorkspace } from './checks/planted-workspace.js';

let workspace: PlantedWorkspace;
beforeEach(() => {
  workspace = plantWorkspace();
  workspace.copy('scripts');
  workspace.write('.changeset/config.json', {});
});
afterEach(() => workspace.remove());

const check = (...names: string[]): { status: number | null; output: string } => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(workspace.root, 'scripts/check.mjs'), ...names],
    {
      encoding: 'utf8',
    },
  );
  return { status, output: stdout + stderr };
};

describe('npm run check', () => {
  it('fails for one finding, prints it, and names the check that found it', () => {
    const { status, output } = check('changesets');
    expect(output).toMatch(/^FAIL changesets .*\n {5}@stint\/low is new/);
    expect(output).toContain('check: changesets failed');
    expect(status).toBe(1);
  });

  it('passes when nothing is found', () => {
    workspace.write('.changeset/low-first.md', '---\n"@stint/low": minor\n---\n\nWhat it brings.\n');
    expect(check('changesets')).toEqual({ status: 0, output: expect.stringMatching(/^ok {3}changesets /) });
  });

  it('takes a check that cannot do its work for a failed one, and goes on with the next', () => {
    const { status, output } = check('floors', 'changesets');
    expect(output).toMatch(/^FAIL floors .*\n {5}Error: .*floors\.json/);
    expect(output).toContain('FAIL changesets');
    expect(status).toBe(1);
  });

  it('refuses a check that it does not have', () => {
    expect(check('everything')).toEqual({
      status: 2,
      output: expect.stringContaining('no check "everything"; known: format, lint'),
    });
  });
});
