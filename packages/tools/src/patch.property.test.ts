import { randomInt } from 'node:crypto';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffOf, mayLeadTo, oldLines, type PlayedPatch, playedPatch } from './patch-play.test.helper.js';
import { isToolError } from './errors.js';
import { type FilePatch, patchedBytes, readPatch } from './patch-plan.js';
import { testWorkspace, treeHash } from './workspace.test.helper.js';

const seed = randomInt(2 ** 31);

/** A hunk without a line to find its place by goes where its number says. */
const isPlaced = ({ hunks }: PlayedPatch): boolean => hunks.every((hunk) => oldLines(hunk).length > 0);

function judge(patch: PlayedPatch, got: string): void {
  if (mayLeadTo(patch, got)) return;
  const [before, shown, after] = [patch.before.join(''), diffOf('f', patch), got].map((text) => JSON.stringify(text));
  expect.fail(`${before} with ${shown} became ${after}`);
}

test(`patches of several hunks, with and without lines around them, do what they show where it stands, or nothing (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const workspace = testWorkspace();
  const all = dirname(workspace.root);
  const applied = { exact: 0, elsewhere: 0, refused: 0 };
  const files = fc.array(playedPatch, { minLength: 1, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(files, async (patches) => {
      patches.forEach(({ before }, at) => workspace.write(`f${at}`, before.join('')));
      for (const at of patches.keys()) await workspace.call('read_file', { path: `f${at}` });
      const untouched = treeHash(all);
      const result = await workspace.call('apply_patch', {
        patch: patches.map((each, at) => diffOf(`f${at}`, each)).join(''),
      });
      if (!result.ok) {
        expect([result.errorEffect, treeHash(all)]).toEqual(['none', untouched]);
        expect(patches.every(({ shift }) => shift === 0)).toBe(false);
        expect(patches.length === 1 && patches[0]?.hunks.length === 1 && isPlaced(patches[0])).toBe(false);
        applied.refused += 1;
        return;
      }
      patches.forEach((each, at) => {
        const got = workspace.text(`f${at}`);
        applied[each.shift === 0 ? 'exact' : 'elsewhere'] += 1;
        judge(each, got);
      });
    }),
    { numRuns: 400, seed, endOnFailure: true },
  );
  expect(applied.exact).toBeGreaterThan(60);
  expect(applied.elsewhere).toBeGreaterThan(20);
});

test(`the same for many more, without files (seed ${seed})`, () => {
  const property = fc.property(playedPatch, (patch) => {
    const [file] = readPatch(diffOf('f', patch));
    const patched = () => patchedBytes(Buffer.from(patch.before.join('')), file as FilePatch).toString();
    const mustFit = patch.shift === 0 || (patch.hunks.length === 1 && isPlaced(patch));
    if (mustFit) return judge(patch, patched());
    try {
      judge(patch, patched());
    } catch (error) {
      if (!isToolError(error)) throw error;
    }
  });
  fc.assert(property, { numRuns: 20_000, seed, endOnFailure: true });
});
