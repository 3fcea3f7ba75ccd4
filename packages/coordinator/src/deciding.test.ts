import { defaultScenario, type Fault, type FaultName, type Scenario, systemText, turnsTaken } from '@stint/simulator';
import { assertNothingStuck, updateContract } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import type { LogLine } from './options.js';
import { type Bench, type BenchOptions, openBench, summary } from './work-bench.test.helper.js';

const isCoordinator = (request: Parameters<Scenario>[0]): boolean =>
  systemText(request).startsWith('You are the Coordinator');

/** The default scenario, whose Coordinator says something else where `say` answers a text. */
function coordinatorSays(say: (request: Parameters<Scenario>[0]) => string | null): Scenario {
  return (request) => {
    const text = isCoordinator(request) ? say(request) : null;
    return text === null ? defaultScenario(request) : { text };
  };
}

/** Serves an item on a bench until nothing more happens by itself. */
async function served(bench: Bench, itemId: string, lines: LogLine[] = []) {
  const coordinator = bench.coordinator({ log: (line) => lines.push(line) });
  coordinator.start();
  await bench.until(
    itemId,
    ({ item, openMailbox }) => !['running', 'ready'].includes(item.status) && openMailbox.length === 0,
  );
  await coordinator.stop();
  const records = await bench.records(itemId);
  assertNothingStuck(records);
  return records;
}

async function withItem(options: BenchOptions, use: (bench: Bench, itemId: string) => Promise<void>): Promise<void> {
  await using bench = await openBench(options);
  await use(bench, await bench.item({ withoutWorkDir: true }));
}

describe('a decision of the Coordinator', () => {
  it('that is refused goes back once with the reason, and the corrected one counts', async () => {
    const heard: string[] = [];
    const scenario = coordinatorSays((request) => {
      heard.push(request.messages.at(-1)?.text ?? '');
      return turnsTaken(request) === 0 ? '{"decision":"plan","mutations":[]}' : null;
    });
    await withItem({ scenario }, async (bench, itemId) => {
      const records = await served(bench, itemId);
      expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
      expect(heard).toHaveLength(2);
      expect(heard[1]).toMatch(/^The decision was refused: mutations: /);
      const decisions = (await bench.turns(itemId)).filter((turn) => turn.owner.kind === 'coordinator');
      expect(decisions.map((turn) => turn.status)).toEqual(['rejected', 'applied']);
    });
  });

  it('that is refused twice is not asked for a third time: a person is', async () => {
    await withItem({ scenario: coordinatorSays(() => 'I would rather think aloud.') }, async (bench, itemId) => {
      const { item } = await served(bench, itemId);
      expect(item).toMatchObject({ status: 'needs_attention', attention: { code: 'refused_decision' } });
      expect(bench.simulator.requests()).toHaveLength(2);
      await served(bench, itemId);
      expect(bench.simulator.requests()).toHaveLength(2);
    });
  });

  it('to ask a person waits for the answer, which is shown to the Coordinator', async () => {
    const scenario = coordinatorSays((request) => {
      const shown = JSON.parse(request.messages[1]?.text ?? '{}') as { trigger?: { kind: string; text?: string } };
      return shown.trigger?.kind === 'message' && shown.trigger.text === 'The blue one'
        ? null
        : '{"decision":"ask_human","question":"Which one?"}';
    });
    await withItem({ scenario }, async (bench, itemId) => {
      const waiting = await served(bench, itemId);
      expect(waiting.item).toMatchObject({ status: 'waiting', attention: { code: 'question', message: 'Which one?' } });
      const questionId = waiting.openQuestions[0]?.id ?? '';
      await bench.commands.answer({ itemId, questionId, text: 'The blue one', clientMessageId: 'm1' });
      expect((await served(bench, itemId)).item.status).toBe('done');
    });
  });

  it('explains to a person while work goes on, and changes nothing', async () => {
    const open = { gate: 'go' };
    const scenario: Scenario = (request) => {
      const answer = defaultScenario(request);
      return isCoordinator(request) ? answer : { ...answer, pauseUntil: [{ afterPieces: 1, gate: open.gate }] };
    };
    await withItem({ scenario }, async (bench, itemId) => {
      bench.coordinator().start();
      await bench.simulator.gateReached('go');
      await bench.commands.postMessage({ itemId, text: 'How is it going?', clientMessageId: 'm1' });
      const explained = await bench.until(
        itemId,
        ({ openMailbox, messages }) => openMailbox.length === 0 && messages.length >= 3,
      );
      expect(explained.messages.at(-1)).toMatchObject({
        role: 'coordinator',
        text: expect.stringContaining('The plan stands') as string,
      });
      bench.simulator.openGate('go');
      const done = await bench.until(itemId, ({ item }) => item.status === 'done');
      expect(done.item.planRevision).toBe(explained.item.planRevision);
    });
  });

  it('made on older results is not applied: it is made again on the new ones', async () => {
    let asked = 0;
    const scenario: Scenario = (request) => {
      const answer = defaultScenario(request);
      if (!isCoordinator(request)) return { ...answer, pauseUntil: [{ afterPieces: 1, gate: 'run' }] };
      asked += 1;
      return asked === 2 ? { ...answer, pauseUntil: [{ afterPieces: 1, gate: 'decision' }] } : answer;
    };
    await using bench = await openBench({ scenario });
    const itemId = await bench.item();
    bench.coordinator().start();
    await bench.simulator.gateReached('run');
    await bench.commands.postMessage({ itemId, text: 'How is it going?', clientMessageId: 'm1' });
    await bench.simulator.gateReached('decision');
    bench.simulator.openGate('run');
    await bench.until(itemId, ({ runs }) => runs.some((run) => run.status === 'completed'));
    bench.simulator.openGate('decision');
    await bench.until(itemId, ({ item }) => item.status === 'done');
    const decisions = (await bench.turns(itemId)).filter((turn) => turn.owner.kind === 'coordinator');
    expect(decisions.map((turn) => turn.status).slice(0, 3)).toEqual(['applied', 'rejected', 'applied']);
  });

  it('that the item outran is made again at once, and then only after a wait that grows', async () => {
    let asked = 0;
    const scenario: Scenario = (request) => {
      asked += 1;
      return { ...defaultScenario(request), pauseUntil: [{ afterPieces: 1, gate: `decision-${asked}` }] };
    };
    await withItem({ scenario }, async (bench, itemId) => {
      bench.coordinator().start();
      for (const failures of [1, 2]) {
        await bench.simulator.gateReached(`decision-${failures}`);
        const change = { goal: `Say it in ${failures} words` };
        await bench.db.write((ctx) => updateContract(ctx, { itemId, change }));
        const before = Date.now();
        bench.simulator.openGate(`decision-${failures}`);
        const { openMailbox } = await bench.until(itemId, (records) => records.openMailbox[0]?.failures === failures);
        const waitMs = (openMailbox[0]?.notBefore ?? 0) - before;
        if (failures === 2) expect(waitMs).toBeGreaterThanOrEqual(1_000);
      }
    });
  });

  it('that breaks a rule of the plan is refused by the rule', async () => {
    const action = { id: 'look', objective: 'Look at it', approach: 'Read files', expectedResult: 'A list of files' };
    const plan = JSON.stringify({ decision: 'plan', mutations: [{ op: 'add', action }] });
    await withItem({ scenario: coordinatorSays(() => plan) }, async (bench, itemId) => {
      const { item, actions } = await served(bench, itemId);
      expect(item.attention).toMatchObject({
        code: 'refused_decision',
        message: expect.stringContaining('final_gate') as string,
      });
      expect(actions).toEqual([]);
    });
  });
});

describe('a Coordinator that cannot be run', () => {
  it('asks the person at once when no model is configured, and spends nothing', async () => {
    await using bench = await openBench();
    const itemId = await bench.item({ withoutWorkDir: true });
    const missing = Object.assign(new Error('no key'), { code: 'provider_not_configured' });
    const coordinator = bench.coordinator({ resolveModel: () => Promise.reject(missing) });
    coordinator.start();
    const { item } = await bench.until(itemId, (records) => records.item.status === 'needs_attention');
    expect(item.attention?.code).toBe('provider');
    expect(await bench.snapshot(itemId)).toMatchObject({ usage: { requests: 0 } });
  });

  it('asks the person when something unforeseen breaks, without blaming the provider', async () => {
    await using bench = await openBench();
    const itemId = await bench.item({ withoutWorkDir: true });
    const coordinator = bench.coordinator({
      resolveModel: () => {
        throw new TypeError('a defect');
      },
    });
    coordinator.start();
    const { item } = await bench.until(itemId, (records) => records.item.status === 'needs_attention');
    expect(item.attention?.code).toBe('coordinator_failed');
    expect(await bench.snapshot(itemId)).toMatchObject({ failures: {} });
  });
});

describe('a provider that fails the Coordinator', () => {
  const once = (name: FaultName): BenchOptions => ({ faults: ({ ordinal }) => (ordinal === 1 ? name : null) });

  it('for a moment is asked again after the backoff, and the failures are forgotten', async () => {
    await withItem(once('server_error_before_bytes'), async (bench, itemId) => {
      const records = await served(bench, itemId);
      expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
      const { failures, usage } = await bench.snapshot(itemId);
      expect({ failures, unknown: usage.unknown }).toEqual({ failures: {}, unknown: 1 });
    });
  });

  it('case E13: that asks to wait for an hour is not asked before, and none of it counts as a failure', async () => {
    const wait: Fault = { name: 'rate_limit_retry_after', retryAfter: '3600' };
    await withItem({ faults: ({ ordinal }) => (ordinal === 1 ? wait : null) }, async (bench, itemId) => {
      bench.coordinator().start();
      const anHour = Date.now() + 3_500_000;
      await bench.until(itemId, ({ openMailbox }) => (openMailbox[0]?.notBefore ?? 0) > anHour);
      expect(bench.simulator.requests()).toHaveLength(1);
      const { failures, usage } = await bench.snapshot(itemId);
      expect({ failures, tokens: usage.tokens }).toEqual({ failures: {}, tokens: 0 });
    });
  });

  it('for good is not asked again: the person is told, nothing is charged, and resume goes on', async () => {
    await withItem(once('unauthorized'), async (bench, itemId) => {
      const lines: LogLine[] = [];
      const { item } = await served(bench, itemId, lines);
      expect(item).toMatchObject({ status: 'needs_attention', attention: { code: 'provider' } });
      expect(lines).toContainEqual(expect.objectContaining({ errorCode: 'unauthorized' }));
      expect(JSON.stringify(lines)).not.toMatch(/made-up-key|failing test|refused/u);
      expect(await bench.snapshot(itemId)).toMatchObject({ usage: { requests: 1, tokens: 0 } });
      expect(item.attention?.message).not.toContain('made-up-key');
      await bench.commands.resume({ itemId });
      expect((await served(bench, itemId)).item.status).toBe('done');
    });
  });

  it('again and again stops at the maximum of failures in a row (case C03)', async () => {
    await using bench = await openBench({ faults: () => 'server_error_before_bytes' });
    const itemId = await bench.item({ withoutWorkDir: true, limits: { maxConsecutiveFailures: 2 } });
    const coordinator = bench.coordinator();
    coordinator.start();
    await bench.until(itemId, ({ item }) => item.status === 'ready' && bench.simulator.requests().length === 2);
    await coordinator.idle();
    expect(await bench.snapshot(itemId)).toMatchObject({
      status: 'stopped',
      stopReason: { code: 'failures_exhausted' },
    });
    expect(bench.simulator.requests()).toHaveLength(2);
  });
});
