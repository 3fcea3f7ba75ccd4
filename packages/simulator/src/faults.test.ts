import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientModel, clientNames, type Heard, hear } from './clients.test.support.js';
import { describeFault, type Fault, type FaultName, faultNames } from './faults.js';
import { type Simulator, startSimulator } from './server.js';

let simulator: Simulator;
const text = 'A sentence that is long enough to be cut in the middle of it, or so one hopes.';
beforeAll(async () => {
  simulator = await startSimulator({
    scenario: () => ({ text, pieceCharacters: 8, toolCalls: [{ name: 'weather', input: { city: 'Oslo' } }] }),
  });
});
afterAll(() => simulator.close());

const whole: Partial<Heard> = { text, finishReason: 'tool-calls', errors: 0 };
const wholeAnswer = faultNames.filter(
  (name) => describeFault(name).reach === 'whole' && name !== 'done_without_reason',
);
const refusals = faultNames.filter((name) => (describeFault(name).status ?? 0) >= 400);

describe.each(clientNames)('the client %s', (client) => {
  describe.each([true, false])('with streaming %s', (stream) => {
    const call = (fault: FaultName, signal?: AbortSignal) =>
      hear(clientModel(client, simulator.url), stream, {
        headers: { 'x-client-request-id': `turn-${fault}`, 'x-simulator-fault': fault },
        ...(signal === undefined ? {} : { abortSignal: signal }),
      });
    const served = () => simulator.requests().at(-1);

    test.each(refusals)('is refused by %s with its status, and nothing is charged', async (fault) => {
      await expect(call(fault)).rejects.toMatchObject({ statusCode: describeFault(fault).status });
      expect(served()).toMatchObject({
        fault,
        status: describeFault(fault).status,
        complete: false,
        outputTokens: 0,
        reportedUsage: null,
      });
    });

    test.each(['reset_before_read', 'reset_after_read'] as const)('cannot connect under %s', async (fault) => {
      await expect(call(fault)).rejects.toThrow(/Cannot connect|terminated|reset|hang up/i);
      expect(served()).toMatchObject({
        fault,
        status: null,
        complete: false,
        model: fault === 'reset_after_read' ? 'any' : null,
      });
    });

    test.each(['stream_cut', 'stream_end_without_stop', 'server_error_after_bytes', 'empty_body'] as const)(
      'never takes %s for an answer',
      async (fault) => {
        const heard = await call(fault).catch((error: unknown) => error);
        if (!(heard instanceof Error)) expect(String((heard as Heard).finishReason)).not.toMatch(/^(stop|tool-calls)$/);
        expect(served()).toMatchObject({ fault, status: 200, complete: false });
      },
    );

    test.each(wholeAnswer)('hears the whole answer under %s', async (fault) => {
      const missingUsage = fault === 'no_usage' && client === 'anthropic';
      if (missingUsage) return expect(call(fault)).rejects.toThrow();
      const heard = await call(fault);
      expect(heard).toMatchObject(whole);
      const { inputTokens, outputTokens } = served() ?? {};
      const told: Partial<Record<FaultName, readonly unknown[]>> = {
        no_usage: [undefined, undefined],
        zero_usage: [0, 0],
      };
      expect([heard.input, heard.output]).toEqual(told[fault] ?? [inputTokens, outputTokens]);
      return expect(served()).toMatchObject({ fault, complete: true });
    });

    test('hears everything but a reason under done_without_reason', async () => {
      expect((await call('done_without_reason')).text).toBe(text);
      expect(served()).toMatchObject({ complete: true, finishReason: null });
    });

    test('meets something that is not JSON under malformed_json', async () => {
      const heard = await call('malformed_json').catch((error: unknown) => error);
      if (!(heard instanceof Error)) expect((heard as Heard).errors).toBeGreaterThan(0);
    });

    test('gets cut arguments and the reason length under tool_arguments_cut', async () => {
      const heard = await call('tool_arguments_cut');
      expect(heard.finishReason).toBe('length');
      for (const { input } of heard.calls) expect(input).not.toBe('{"city":"Oslo"}');
    });

    test('hears nothing but keep-alives until it leaves, and the log says so', async () => {
      const leaving = AbortSignal.timeout(150);
      await expect(call('keep_alives_only', leaving)).rejects.toThrow();
      await expect
        .poll(() => served())
        .toMatchObject({ fault: 'keep_alives_only', complete: false, endedAt: expect.any(Number) });
    });

    test('is found in the log twice when it follows a redirect', async () => {
      const before = simulator.requests().length;
      expect(await call('redirect')).toMatchObject(whole);
      const [first, second] = simulator.requests().slice(before);
      expect(first).toMatchObject({ status: 307, complete: false });
      expect(second).toMatchObject({ status: 200, complete: true, path: `/redirected${first?.path}` });
    });
  });
});

test('Retry-After carries what the fault says, and is absent from a plain 429 (case E13)', async () => {
  const values = ['5', '3600', 'Wed, 21 Oct 2026 07:28:00 GMT', 'soon'];
  const faults: readonly (Fault | FaultName)[] = [
    ...values.map((retryAfter) => ({ name: 'rate_limit_retry_after' as const, retryAfter })),
    'rate_limit',
  ];
  await using own = await startSimulator({ scenario: () => ({}), faults: ({ ordinal }) => faults[ordinal - 1] });
  const heard = [];
  for (const _ of faults) {
    const response = await fetch(`${own.url}/messages`, { method: 'POST', body: '{"messages":[]}' });
    heard.push([response.status, response.headers.get('retry-after')]);
  }
  expect(heard).toEqual([...values.map((value) => [429, value]), [429, null]]);
});

test('a scenario chooses a fault from the messages, and an unknown name is an error of the scenario', async () => {
  await using own = await startSimulator({
    scenario: ({ messages }) => ({ fault: (messages[0]?.text ?? '') as FaultName }),
  });
  const ask = (content: string) =>
    fetch(`${own.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages: [{ role: 'user', content }] }),
    });
  expect((await ask('overloaded')).status).toBe(529);
  expect((await ask('no such fault')).status).toBe(500);
  expect(own.requests().at(-1)?.error).toContain("Unknown fault 'no such fault'");
});

test('every fault is described and none is left out of this file', () => {
  const special: readonly FaultName[] = [
    'done_without_reason',
    'malformed_json',
    'tool_arguments_cut',
    'keep_alives_only',
    'redirect',
  ];
  const cut: readonly FaultName[] = [
    'reset_before_read',
    'reset_after_read',
    'stream_cut',
    'stream_end_without_stop',
    'server_error_after_bytes',
    'empty_body',
  ];
  expect([...refusals, ...wholeAnswer, ...special, ...cut].sort()).toEqual([...faultNames].sort());
});

test('the README says of each fault what it does', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^\| `(\w+)` +\| (\d+|none) +\| (\w+) +\| (.*?) +\|$/gm)].map(
    ([, ...cells]) => cells,
  );
  expect(rows).toEqual(
    faultNames.map((name) => {
      const { status, reach, summary } = describeFault(name);
      return [name, String(status ?? 'none'), reach, summary];
    }),
  );
});
