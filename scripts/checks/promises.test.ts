import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plantWorkspace, type PlantedWorkspace } from './planted-workspace.js';
import { checkPromises } from './promises.mjs';

let workspace: PlantedWorkspace;
const plant = (find: string, file = 'packages/low/src/index.ts'): void =>
  workspace.write('promises.json', { mutations: [{ id: 'one', file, find }] });

beforeEach(() => {
  workspace = plantWorkspace();
});
afterEach(() => workspace.remove());

describe('the checker of promises', () => {
  it('accepts a text to change that stands once in its file', () => {
    plant("used = 'used'");
    expect(checkPromises(workspace.root)).toEqual([]);
  });

  it('finds one that was changed since, one that stands twice, and a file that is gone', () => {
    plant("used = 'unused'");
    expect(checkPromises(workspace.root)).toEqual([expect.stringContaining('one: the text to change stands 0 times')]);
    plant('used');
    expect(checkPromises(workspace.root)).toEqual([expect.stringContaining('stands 2 times')]);
    plant('used', 'packages/low/src/gone.ts');
    expect(checkPromises(workspace.root)).toEqual([expect.stringContaining('there is no packages/low/src/gone.ts')]);
  });
});
