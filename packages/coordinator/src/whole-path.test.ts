import { readFileSync } from 'node:fs';
import { assertNothingStuck } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { openBench, summary } from './work-bench.test.helper.js';

describe('a work item', () => {
  it('is planned, looked into, repaired, checked and done, and the books agree with what was served', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    bench.coordinator().start();
    const records = await bench.until(itemId, ({ item }) => item.status !== 'running' && item.status !== 'ready');
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
    expect(records.actions.map((action) => action.status)).toEqual(['completed', 'completed', 'completed']);
    expect(records.item.finalResult?.criteria[0]?.evidenceRunIds.length).toBeGreaterThan(0);
    assertNothingStuck(records);

    const served = bench.simulator.requests();
    const { usage, status, inFlight } = await bench.snapshot(itemId);
    expect(served.length).toBeGreaterThanOrEqual(5);
    expect(new Set(served.map((request) => request.turnId)).size).toBe(served.length);
    expect({ requests: usage.requests, inFlight, status }).toEqual({
      requests: served.length,
      inFlight: 0,
      status: 'closed',
    });
    expect(usage.tokens).toBe(served.reduce((sum, request) => sum + request.inputTokens + request.outputTokens, 0));
    const turns = await bench.turns(itemId);
    expect(new Set(turns.map((turn) => turn.id))).toEqual(new Set(served.map((request) => request.turnId)));
  });
});
