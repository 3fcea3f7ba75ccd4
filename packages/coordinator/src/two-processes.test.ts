import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { readRequest } from '@stint/ledger';
import { defaultScenario, type Scenario } from '@stint/simulator';
import { describe, expect, it } from 'vitest';
import { kill, putToSleep, serveElsewhere, serveUntilKilled } from './killing.test.helper.js';
import { type Bench, openBench, summary } from './work-bench.test.helper.js';

/** Long enough that a busy machine misses no renewal of it. */
const leaseMs = 3_000;

/** The default scenario, whose answer to the n-th request waits for a gate before its last part. */
function pausing(ordinal: number, gate: string): Scenario {
  let seen = 0;
  return (request) => {
    seen += 1;
    const answer = defaultScenario(request);
    return seen === ordinal ? { ...answer, pauseUntil: [{ afterPieces: 1, gate }] } : answer;
  };
}

describe('two processes on one store', () => {
  it('let a sleeper that wakes after its lease change nothing, and still book what it spent (case C01)', async () => {
    await using bench = await openBench({ scenario: pausing(2, 'late'), leaseMs });
    const itemId = await bench.item({ onUnknownRequest: 'retry' });
    const sleeper = await serveElsewhere(bench, { leaseMs });
    try {
      await bench.simulator.gateReached('late');
      await putToSleep(sleeper);
      bench.coordinator().start();
      const done = await bench.until(itemId, ({ item }) => item.status === 'done');
      const runsBefore = done.runs;
      const interrupted = done.runs.find((run) => run.status === 'interrupted');
      expect(interrupted, JSON.stringify(summary(done))).toBeDefined();
      const served = bench.simulator.requests();
      const late = served[1]?.turnId ?? '';
      expect((await bench.turns(itemId)).find((turn) => turn.id === late)?.status).toBe('written_off');

      sleeper.kill('SIGCONT');
      bench.simulator.openGate('late');
      await awake(bench, late);
      expect(bench.simulator.requests()).toHaveLength(served.length);
      const after = await bench.records(itemId);
      expect(after.runs).toEqual(runsBefore);
      expect(after.item.finalResult).toEqual(done.item.finalResult);
      expect(readFileSync(bench.bug.file, 'utf8')).toContain(bench.bug.right);
      const { usage } = await bench.snapshot(itemId);
      expect({ requests: usage.requests, open: usage.open }).toEqual({ requests: served.length, open: 0 });
      const spent = await bench.db.read(() => readRequest(late));
      expect(['unknown', 'reported']).toContain(spent?.status);
      expect(spent?.chargedTokens).toBeGreaterThan(0);
    } finally {
      await kill(sleeper);
    }
  });

  it('share the work of several items without doing anything twice (cases C05, C19)', async () => {
    await using bench = await openBench({ leaseMs });
    const server = await serveElsewhere(bench, { leaseMs });
    try {
      bench.coordinator().start();
      const items = await Promise.all([1, 2, 3].map(() => bench.item({ withoutWorkDir: true })));
      for (const itemId of items) {
        const { item, runs } = await bench.until(itemId, (records) => records.item.status === 'done');
        expect(item.status).toBe('done');
        expect(runs.filter((run) => run.status === 'completed')).toHaveLength(runs.length);
      }
      const served = bench.simulator.requests().map((request) => request.turnId);
      expect(new Set(served).size).toBe(served.length);
    } finally {
      await kill(server);
    }
  });

  it('recover together what a third one left, once (case Y41)', async () => {
    await using bench = await openBench({ leaseMs });
    const itemId = await bench.item({ withoutWorkDir: true });
    await serveUntilKilled(bench, 'turn:finished', 1);
    const other = await serveElsewhere(bench, { leaseMs });
    try {
      bench.coordinator().start();
      const { item } = await bench.until(itemId, (records) => records.item.status === 'done');
      expect(item.status).toBe('done');
      const decisions = (await bench.turns(itemId)).filter((turn) => turn.owner.kind === 'coordinator');
      expect(decisions.map((turn) => turn.status)).toEqual(['applied']);
      expect(bench.simulator.requests()).toHaveLength(2);
    } finally {
      await kill(other);
    }
  });

  it('take over the work of one that was killed, within lease and sweep (case C17)', async () => {
    await using bench = await openBench({ scenario: pausing(1, 'never'), leaseMs });
    const itemId = await bench.item({ onUnknownRequest: 'retry' });
    const server = await serveElsewhere(bench, { leaseMs });
    await bench.simulator.gateReached('never');
    bench.coordinator().start();
    await kill(server);
    const { item } = await bench.until(itemId, (records) => records.item.status === 'done');
    expect(item.status).toBe('done');
    const { usage, held } = await bench.snapshot(itemId);
    expect({ unknown: usage.unknown, held: held.tokens }).toEqual({ unknown: 1, held: 0 });
  });
});

/** Resolves once the sleeper has its heartbeat again and its late request has ended: it had its chance to write. */
async function awake(bench: Bench, lateTurnId: string): Promise<void> {
  const deadline = AbortSignal.timeout(20_000);
  const isAwake = async (): Promise<boolean> => {
    const late = bench.simulator.requests().find((request) => request.turnId === lateTurnId);
    return late?.endedAt !== null && (await bench.db.processes()).length === 2;
  };
  while (!(await isAwake())) {
    deadline.throwIfAborted();
    await setTimeout(50);
  }
}
