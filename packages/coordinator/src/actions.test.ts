import { once } from 'node:events';
import { renameSync, symlinkSync } from 'node:fs';
import { defaultScenario, type Scenario, systemText } from '@stint/simulator';
import { defineTool } from '@stint/tools';
import { addInput } from '@stint/work-items';
import { describe, expect, it } from 'vitest';
import { openBench, summary } from './work-bench.test.helper.js';

describe('an Action', () => {
  it('in read mode has no tool that writes and no shell', async () => {
    const offered = new Map<string, readonly string[]>();
    const scenario: Scenario = (request) => {
      const mode = /^Workspace: (\w+)$/mu.exec(request.messages[1]?.text ?? '')?.[1];
      if (mode !== undefined)
        offered.set(
          mode,
          request.tools.map((tool) => tool.name),
        );
      return defaultScenario(request);
    };
    await using bench = await openBench({ scenario });
    const itemId = await bench.item();
    bench.coordinator().start();
    await bench.until(itemId, ({ item }) => item.status === 'done');
    const writing = ['write_file', 'edit_file', 'apply_patch', 'shell'];
    expect(offered.get('read')).toContain('read_file');
    expect(writing.filter((name) => offered.get('read')?.includes(name))).toEqual([]);
    expect(offered.get('shared')).toEqual(expect.arrayContaining(['edit_file', 'shell']));
  });

  it('whose model never submits an outcome is reminded, tried anew, and given up in the end (case C03)', async () => {
    const scenario: Scenario = (request) =>
      systemText(request).startsWith('You are the Coordinator')
        ? defaultScenario(request)
        : { text: 'All done, I think.' };
    await using bench = await openBench({ scenario });
    const itemId = await bench.item({ withoutWorkDir: true, maxAttempts: 1 });
    const coordinator = bench.coordinator();
    coordinator.start();
    const records = await bench.until(
      itemId,
      ({ item }) => item.status === 'waiting' || item.status === 'needs_attention',
    );
    expect(records.actions[0]).toMatchObject({ status: 'failed', attention: { code: 'exhausted' } });
    expect(records.runs).toHaveLength(1);
    const runTurns = (await bench.turns(itemId)).filter((turn) => turn.owner.kind === 'run');
    expect(runTurns).toHaveLength(3);
  });

  it('is told a person’s words once, even when they come while it submits its outcome (case Y34)', async () => {
    const text = `Mind the ${Math.random()}`;
    const heard: number[] = [];
    const scenario: Scenario = (request) => {
      const answer = defaultScenario(request);
      if (systemText(request).startsWith('You are the Coordinator')) return answer;
      heard.push(request.messages.filter((message) => message.text.includes(text)).length);
      return { ...answer, pauseUntil: [{ afterPieces: 1, gate: 'go' }] };
    };
    await using bench = await openBench({ scenario });
    const itemId = await bench.item({ withoutWorkDir: true });
    bench.coordinator().start();
    await bench.simulator.gateReached('go');
    const [action] = (await bench.records(itemId)).actions;
    const input = { itemId, actionId: action?.id ?? '', text, clientMessageId: 'i1' };
    await bench.db.write((ctx) => addInput(ctx, input));
    await bench.db.write((ctx) => addInput(ctx, input));
    bench.simulator.openGate('go');
    const records = await bench.until(itemId, ({ item }) => item.status !== 'running' && item.status !== 'ready');
    expect(records.item.status, JSON.stringify(summary(records))).toBe('done');
    expect(records.openInputs).toEqual([]);
    expect(heard).toEqual([0, 1]);
    expect(records.runs).toHaveLength(1);
  });

  it('whose tool ran out of time waits for a person to find out what it did, and goes on', async () => {
    const calls: string[] = [];
    const deploy = defineTool({
      name: 'deploy',
      description: 'Never ends by itself.',
      inputSchema: { type: 'object', properties: {} },
      timeoutMs: 30,
      execute: (_input, { signal, callId }) => {
        calls.push(callId);
        return once(signal, 'abort');
      },
    });
    const scenario: Scenario = (request) => {
      const results = request.messages.filter((message) => message.role === 'tool' && message.toolName === 'deploy');
      const isEditing = request.messages[1]?.text.includes('Workspace: shared') === true;
      return isEditing && results.length === 0
        ? { toolCalls: [{ name: 'deploy', input: {} }] }
        : defaultScenario(request);
    };
    await using bench = await openBench({ scenario });
    const itemId = await bench.item();
    bench.coordinator({ tools: () => [deploy] }).start();
    const stopped = await bench.until(itemId, ({ item }) => item.status === 'needs_attention');
    expect(stopped.item.attention?.code, JSON.stringify(summary(stopped))).toBe('unknown_operation');
    expect(stopped.runs.at(-1)?.status).toBe('outcome_unknown');
    await bench.commands.resolveOperation({ operationId: stopped.item.attention?.ref ?? '', effect: 'no_effect' });
    await bench.until(itemId, ({ item }) => item.status === 'done');
    expect(calls).toHaveLength(1);
  });

  it('whose answer could not be stored is charged at its hold, and nothing stays held', async () => {
    let left = 2;
    const gate = (point: string): void => {
      if (point === 'turn:answered' && --left === 0) throw new Error('the disk is full');
    };
    await using bench = await openBench({ gate });
    const itemId = await bench.item();
    bench.coordinator().start();
    const records = await bench.until(itemId, ({ item }) => item.status === 'done');
    expect(records.runs[0]).toMatchObject({ status: 'retryable', reason: { code: 'hook_failed' } });
    const { inFlight, held, usage } = await bench.snapshot(itemId);
    expect({ inFlight, held: held.tokens, unknown: usage.unknown }).toEqual({ inFlight: 0, held: 0, unknown: 1 });
    const lost = (await bench.turns(itemId)).find((turn) => turn.status === 'unknown');
    expect(lost).toMatchObject({ asksPerson: false, error: { code: 'not_settled' } });
  });

  it('whose work directory was exchanged for a link does not run in it (case Y40)', async () => {
    await using bench = await openBench();
    const itemId = await bench.item();
    renameSync(bench.workDir, `${bench.workDir}-moved`);
    symlinkSync(bench.folder, bench.workDir);
    const coordinator = bench.coordinator();
    coordinator.start();
    const records = await bench.until(itemId, ({ actions }) => actions.some((action) => action.status === 'failed'));
    expect(records.runs[0]?.reason?.code).toBe('workspace_moved');
    expect(bench.simulator.requests().every((request) => request.toolCalls.length === 0)).toBe(true);
  });
});
