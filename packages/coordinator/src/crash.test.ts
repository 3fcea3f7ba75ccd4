import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectHonestBooks, resolveAsked, serveOn, serveUntilKilled } from './killing.test.helper.js';
import { openBench, summary } from './work-bench.test.helper.js';

let undisturbed = 0;

beforeAll(async () => {
  await using bench = await openBench();
  const itemId = await bench.item();
  expect((await serveOn(bench, itemId)).item.status).toBe('done');
  undisturbed = bench.simulator.requests().length;
});

/**
 * The right end of a kill at each point, and how many requests more than undisturbed the server sees. `unaided`: done
 * without anyone. `unknown_turn`: the request may have been paid, a person says to send it again. `unknown_operation`:
 * the tool may have acted, a person says whether it did; the model may then look once more.
 */
const table: readonly (readonly [string, number, 'unaided' | 'unknown_turn' | 'unknown_operation', number])[] = [
  ['turn:prepared', 1, 'unaided', 0],
  ['turn:started', 1, 'unknown_turn', 0],
  ['turn:streaming', 1, 'unknown_turn', 1],
  ['turn:answered', 1, 'unknown_turn', 1],
  ['turn:finished', 1, 'unaided', 0],
  ['turn:started', 2, 'unknown_turn', 0],
  ['turn:finished', 2, 'unaided', 0],
  ['tool:before', 1, 'unaided', 0],
  ['tool:during', 1, 'unaided', 0],
  ['tool:after', 1, 'unaided', 0],
  ['operation:started', 1, 'unknown_operation', 1],
  ['operation:done', 1, 'unknown_operation', 1],
  ['operation:started', 2, 'unknown_operation', 3],
  ['operation:done', 2, 'unknown_operation', 0],
  ['outcome:before', 1, 'unaided', 0],
  ['outcome:after', 1, 'unaided', 0],
];

describe('after kill -9', () => {
  it.concurrent.each(table)('at %s (passing %i) the right end is %s', async (point, occurrence, end, more) => {
    await using bench = await openBench();
    const itemId = await bench.item();
    await serveUntilKilled(bench, point, occurrence);
    let records = await serveOn(bench, itemId);
    if (end !== 'unaided') {
      expect(records.item, JSON.stringify(summary(records))).toMatchObject({
        status: 'needs_attention',
        attention: { code: end },
      });
      await resolveAsked(bench, records);
      records = await serveOn(bench, itemId);
    }
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
    await expectHonestBooks(bench, itemId);
    expect(bench.simulator.requests().length - undisturbed).toBe(more);
  });

  it.concurrent.each([
    ['turn:answered', 1],
    ['turn:streaming', 3],
  ] as const)(
    'at %s (passing %i) an answer that its provider kept is used unaided, and not paid again',
    async (point, occurrence) => {
      await using bench = await openBench({ keepsAnswers: true });
      const itemId = await bench.item();
      await serveUntilKilled(bench, point, occurrence, true);
      const records = await serveOn(bench, itemId);
      expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
      expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
      await expectHonestBooks(bench, itemId);
      expect(bench.simulator.requests()).toHaveLength(undisturbed);
      const turns = await bench.turns(itemId);
      expect(turns.map((turn) => turn.resolution?.by).filter((by) => by !== undefined)).toEqual(['provider']);
    },
  );

  it('in a deliver Action whose only effects are journaled goes on unaided, without paying again', async () => {
    await using bench = await openBench();
    const itemId = await bench.item({ withoutWorkDir: true });
    await serveUntilKilled(bench, 'turn:finished', 2);
    const records = await serveOn(bench, itemId);
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    expect(records.runs.map((run) => run.status)).toEqual(['interrupted', 'completed']);
    expect(bench.simulator.requests()).toHaveLength(2);
    await expectHonestBooks(bench, itemId);
  });
});
