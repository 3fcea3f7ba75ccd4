import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Mutation {
  readonly id: string;
  readonly promise: number;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly test: { readonly project: string; readonly file: string; readonly name: string };
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { mutations } = JSON.parse(readFileSync(join(root, 'promises.json'), 'utf8')) as {
  mutations: readonly Mutation[];
};

const folderOf = (project: string): string =>
  ['packages', 'apps', '.'].map((group) => join(root, group, project)).find((folder) => existsSync(folder)) ?? root;

describe('promises.json', () => {
  it('breaks every promise at least once, under ids of their own', () => {
    expect(new Set(mutations.map(({ promise }) => promise))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
    expect(new Set(mutations.map(({ id }) => id)).size).toBe(mutations.length);
  });

  it.each(mutations.map((mutation) => [mutation.id, mutation] as const))(
    '%s still fits the line it breaks, and its test file is there',
    (_id, mutation) => {
      const { file, find, replace, test } = mutation;
      expect(readFileSync(join(root, file), 'utf8').split(find)).toHaveLength(2);
      expect(replace).not.toBe(find);
      expect(existsSync(join(folderOf(test.project), test.file))).toBe(true);
    },
  );
});
