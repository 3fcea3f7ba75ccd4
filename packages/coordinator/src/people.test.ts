import { readFileSync } from 'node:fs';
import { defaultScenario, type Scenario, systemText } from '@stint/simulator';
import { assertNothingStuck } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { openBench, summary } from './work-bench.test.helper.js';

/** The default scenario; the first answer of an Action waits for the gate, in the middle of its stream. */
function pausingAction(gate: string): Scenario {
  let seen = 0;
  return (request) => {
    const answer = defaultScenario(request);
    if (systemText(request).startsWith('You are the Coordinator')) return answer;
    seen += 1;
    return seen === 1 ? { ...answer, pauseUntil: [{ afterPieces: 1, gate }] } : answer;
  };
}

describe('a person', () => {
  it('cancels: the stream is cut, what it may have cost is booked, and nothing is asked afterwards', async () => {
    await using bench = await openBench({ scenario: pausingAction('never') });
    const itemId = await bench.item();
    const coordinator = bench.coordinator();
    coordinator.start();
    await bench.simulator.gateReached('never');
    await bench.commands.cancel({ itemId });
    await coordinator.idle();
    const records = await bench.records(itemId);
    expect(records.item).toMatchObject({ status: 'cancelled', attention: null });
    expect(records.holds).toEqual([]);
    assertNothingStuck(records);
    expect(bench.simulator.requests()).toHaveLength(2);
    expect(await bench.snapshot(itemId)).toMatchObject({ status: 'stopped', inFlight: 0, usage: { unknown: 1 } });
  });

  it('pauses and resumes: the Run goes on from its journal, within the same attempt', async () => {
    await using bench = await openBench({ scenario: pausingAction('never') });
    const itemId = await bench.item();
    const coordinator = bench.coordinator();
    coordinator.start();
    await bench.simulator.gateReached('never');
    await bench.commands.pause({ itemId });
    await bench.until(itemId, ({ item }) => item.status === 'needs_attention' && item.attention?.code === 'paused');
    await coordinator.idle();
    expect(bench.simulator.requests()).toHaveLength(2);
    await bench.commands.resume({ itemId });
    const records = await bench.until(itemId, ({ item }) => item.status === 'done');
    const [first, second] = records.runs;
    expect(first?.status, JSON.stringify(summary(records))).toBe('deferred');
    expect(second).toMatchObject({ resumesRunId: first?.id, attemptId: first?.attemptId, attempt: 1 });
    expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
  });

  it('stops the process: everything is settled, and the next one goes on where it was', async () => {
    await using bench = await openBench({ scenario: pausingAction('never') });
    const itemId = await bench.item();
    const first = bench.coordinator();
    first.start();
    await bench.simulator.gateReached('never');
    await first.stop();
    const stopped = await bench.records(itemId);
    expect(stopped.runs.map((run) => run.status)).toEqual(['deferred']);
    expect(await bench.snapshot(itemId)).toMatchObject({ inFlight: 0 });
    expect(first.status()).toEqual({ running: false, activeRuns: 0, activeTurns: 0 });
    bench.coordinator().start();
    expect((await bench.until(itemId, ({ item }) => item.status === 'done')).item.status).toBe('done');
  });

  it('answers an Action: the same attempt goes on with the answer, once', async () => {
    await using bench = await openBench({ model: 'simulated:asks' });
    const itemId = await bench.item();
    bench.coordinator().start();
    const waiting = await bench.until(itemId, ({ item }) => item.status === 'waiting');
    const [question] = waiting.openQuestions;
    const text = `Yes, go on ${Math.random()}`;
    await bench.commands.answer({ itemId, questionId: question?.id ?? '', text, clientMessageId: 'a1' });
    const records = await bench.until(itemId, ({ item }) => item.status !== 'running' && item.status !== 'ready');
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    const asked = records.runs.find((run) => run.status === 'waiting');
    const next = records.runs.find((run) => run.resumesRunId === asked?.id);
    expect(next?.attemptId).toBe(asked?.attemptId);
    expect(records.openInputs).toEqual([]);
  });
});
