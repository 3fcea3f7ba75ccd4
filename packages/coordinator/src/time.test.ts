import { setTimeout } from 'node:timers/promises';
import { defaultScenario, type Scenario, systemText } from '@stint/simulator';
import { describe, expect, it } from 'vitest';
import { createCoordinator } from './create-coordinator.js';
import { kill, serveElsewhere } from './killing.test.helper.js';
import { coordinatorOptions, openBench, summary } from './work-bench.test.helper.js';

/** The default scenario; every first answer of an Action waits for the gate. */
function pausingActions(gate: string): Scenario {
  return (request) => {
    const answer = defaultScenario(request);
    return systemText(request).startsWith('You are the Coordinator')
      ? answer
      : { ...answer, pauseUntil: [{ afterPieces: 1, gate }] };
  };
}

const days = 24 * 3_600_000;

describe('time', () => {
  it('that jumps ahead, as after a suspend, takes nothing from a process that nobody replaced (case C11)', async () => {
    let ahead = 0;
    await using bench = await openBench({ scenario: pausingActions('go'), clock: () => Date.now() + ahead });
    const itemId = await bench.item({ withoutWorkDir: true });
    bench.coordinator().start();
    await bench.simulator.gateReached('go');
    ahead = 600_000;
    await setTimeout(500); // at least two sweeps look at the expired heartbeat
    bench.simulator.openGate('go');
    const records = await bench.until(itemId, ({ item }) => item.status === 'done');
    expect(
      records.runs.map((run) => run.status),
      JSON.stringify(summary(records)),
    ).toEqual(['completed']);
  });

  it('of several leases in one answer does not end a Run that lives (case C13)', async () => {
    const leaseMs = 2_500; // a busy machine misses no renewal of it
    await using bench = await openBench({ scenario: pausingActions('go'), leaseMs });
    const itemId = await bench.item({ withoutWorkDir: true });
    const other = await serveElsewhere(bench, { leaseMs });
    try {
      bench.coordinator().start();
      await bench.simulator.gateReached('go');
      await setTimeout(2 * leaseMs);
      bench.simulator.openGate('go');
      const records = await bench.until(itemId, ({ item }) => item.status === 'done');
      expect(records.runs.map((run) => run.status)).toEqual(['completed']);
      expect(bench.simulator.requests()).toHaveLength(2);
    } finally {
      await kill(other);
    }
  });

  it('without notifications is bridged by polling (case C15)', async () => {
    await using bench = await openBench();
    const deaf = new Proxy(bench.db, {
      get: (target, name) => {
        if (name === 'listen') return () => () => undefined;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const coordinator = createCoordinator(coordinatorOptions(deaf, bench.simulator.url));
    coordinator.start();
    await coordinator.idle();
    const itemId = await bench.item({ withoutWorkDir: true });
    await bench.until(itemId, ({ item }) => item.status === 'done');
    await coordinator.stop();
  });

  it('of a month that a provider asks for is waited out, over a restart too (case C27)', async () => {
    let ahead = 0;
    const month = { name: 'rate_limit_retry_after', retryAfter: String((30 * days) / 1_000) } as const;
    const faults = ({ ordinal }: { readonly ordinal: number }) => (ordinal === 2 ? month : null);
    await using bench = await openBench({ faults, clock: () => Date.now() + ahead });
    const itemId = await bench.item({ withoutWorkDir: true });
    const first = bench.coordinator();
    first.start();
    const put = await bench.until(itemId, ({ runs }) => runs.some((run) => run.status === 'deferred'));
    await first.idle();
    await first.stop();
    expect((put.actions[0]?.notBefore ?? 0) - bench.db.clock()).toBeGreaterThan(29 * days);
    const second = bench.coordinator();
    second.start();
    await second.idle();
    expect(bench.simulator.requests()).toHaveLength(2);
    ahead = 31 * days;
    const records = await bench.until(itemId, ({ item }) => item.status === 'done');
    expect(
      records.runs.map((run) => run.status),
      JSON.stringify(summary(records)),
    ).toEqual(['deferred', 'completed']);
  });
});
