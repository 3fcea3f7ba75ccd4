import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServedRequest } from './request-log.js';
import type { Scenario } from './scenario.js';
import { startSimulator } from './server.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stint-simulator-'));
});
afterAll(() => rm(directory, { recursive: true }));

function ask(
  url: string,
  turnId: string,
  more: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...more });
  const headers = { 'x-client-request-id': turnId };
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    body,
    headers,
    ...(signal === undefined ? {} : { signal }),
  });
}

async function logged(path: string): Promise<readonly ServedRequest[]> {
  return (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ServedRequest);
}

describe('the log', () => {
  test('has one line for each request that ended, and goes on in the same file after a restart', async () => {
    const log = join(directory, 'restarted.jsonl');
    for (const turnId of ['first', 'second']) {
      await using simulator = await startSimulator({ scenario: () => ({ text: 'hi' }), log });
      await (await ask(simulator.url, turnId)).text();
      expect(simulator.log).toBe(log);
    }
    expect((await logged(log)).map(({ turnId, ordinal, complete }) => [turnId, ordinal, complete])).toEqual([
      ['first', 1, true],
      ['second', 1, true],
    ]);
  });

  test('says that an answer was not complete when the client left in the middle', async () => {
    const scenario: Scenario = () => ({
      text: 'one two three four',
      pieceCharacters: 4,
      pauseUntil: [{ afterPieces: 3, gate: 'middle' }],
    });
    await using simulator = await startSimulator({ scenario });
    const leaving = new AbortController();
    const response = await ask(simulator.url, 'left', { stream: true }, leaving.signal);
    await simulator.gateReached('middle');
    expect(simulator.requests()).toMatchObject([{ turnId: 'left', endedAt: null, status: 200 }]);
    leaving.abort();
    await expect(response.text()).rejects.toThrow();
    await expect.poll(() => simulator.requests()[0]).toMatchObject({ complete: false, endedAt: expect.any(Number) });
  });
});

describe('timing', () => {
  test('a stream waits at a gate until it is opened, and then goes on to its end', async () => {
    const scenario: Scenario = () => ({
      text: 'one two three',
      pieceCharacters: 4,
      pauseUntil: [{ afterPieces: 2, gate: 'held' }],
    });
    await using simulator = await startSimulator({ scenario });
    const response = await ask(simulator.url, 'gated', { stream: true });
    const reader = response.body?.getReader();
    await simulator.gateReached('held');
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).not.toContain('[DONE]');
    simulator.openGate('held');
    let rest = first;
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      rest += new TextDecoder().decode(part.value);
    expect(rest).toContain('[DONE]');
  });

  test('closing ends a stream that is held at a gate', async () => {
    const simulator = await startSimulator({ scenario: () => ({ pauseUntil: [{ afterPieces: 0, gate: 'never' }] }) });
    const body = ask(simulator.url, 'closed', { stream: true }).then((response) => response.text());
    const ended = expect(body).rejects.toThrow();
    await simulator.gateReached('never');
    await simulator.close();
    await ended;
  });

  test('closing ends although a piece was written just when its connection went', async () => {
    const scenario: Scenario = () => ({ text: 'one two three', pauseUntil: [{ afterPieces: 1, gate: 'held' }] });
    const simulator = await startSimulator({ scenario });
    const body = ask(simulator.url, 'gone', { stream: true }).then((response) => response.text());
    const ended = expect(body).rejects.toThrow();
    await simulator.gateReached('held');
    simulator.openGate('held');
    await simulator.close();
    await ended;
    expect(simulator.requests()).toMatchObject([{ endedAt: expect.any(Number) }]);
  });

  test('closing ends although clients left, or stopped reading, while a piece was being written', async () => {
    const scenario: Scenario = () => ({ text: 'x'.repeat(2_000_000), pieceCharacters: 500_000 });
    const simulator = await startSimulator({ scenario });
    const { hostname, port } = new URL(simulator.url);
    const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
    const leaving = Array.from({ length: 6 }, async (_, index) => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write(head + body);
      await once(socket, 'data');
      if (index % 3 === 0) socket.resetAndDestroy();
      else if (index % 3 === 1) socket.end();
      socket.pause(); // the others stay, and read no more
    });
    await Promise.all(leaving);
    await simulator.close();
    expect(simulator.requests().map(({ endedAt }) => endedAt)).not.toContain(null);
  });

  test('usage is left out of a chat stream that did not ask for it, and the log says so', async () => {
    await using simulator = await startSimulator({ scenario: () => ({ text: 'hi' }) });
    expect(await (await ask(simulator.url, 'none', { stream: true })).text()).not.toContain('usage');
    expect(
      await (await ask(simulator.url, 'asked', { stream: true, stream_options: { include_usage: true } })).text(),
    ).toContain('usage');
    expect(simulator.requests().map(({ reportedUsage }) => reportedUsage === null)).toEqual([true, false]);
  });
});

describe('the same request gets the same answer', () => {
  test('from two servers, to the ids of its tool calls', async () => {
    const answers = [];
    for (const _ of [1, 2]) {
      await using simulator = await startSimulator({ scenario: () => ({ toolCalls: [{ name: 'look', input: {} }] }) });
      const { created: __, ...answer } = (await (await ask(simulator.url, 'same')).json()) as Record<string, unknown>;
      answers.push(answer);
    }
    expect(answers[0]).toEqual(answers[1]);
  });
});

describe('as a process of its own', () => {
  async function serve(...args: readonly string[]) {
    const path = fileURLToPath(new URL('../dist/serve.js', import.meta.url));
    const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { child, ...(JSON.parse(line) as { url: string }) };
  }

  test('it plays a module of ours, writes its log, shows requests and gates over HTTP, and ends with its input', async () => {
    const scenario = join(directory, 'greet.mjs');
    const log = join(directory, 'process.jsonl');
    await writeFile(
      scenario,
      `export default ({ messages }) => ({ text: messages.at(-1).text.toUpperCase(), pauseUntil: [{ afterPieces: 0, gate: 'door' }] });`,
    );
    const { child, url } = await serve('--scenario', scenario, '--log', log, '--fault', 'overloaded@1', '--parent');
    expect((await ask(url, 'refused')).status).toBe(529);
    const answer = ask(url, 'answered').then((response) => response.text());
    const control = (path: string) => fetch(url.replace(/v1$/, `simulator/${path}`));
    await control('gates/door/reached');
    expect(await (await control('requests')).json()).toMatchObject([
      { turnId: 'refused' },
      { turnId: 'answered', endedAt: null },
    ]);
    await control('gates/door/open');
    expect(await answer).toContain('HELLO');
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect((await logged(log)).map(({ turnId, fault, complete }) => [turnId, fault, complete])).toEqual([
      ['refused', 'overloaded', false],
      ['answered', null, true],
    ]);
  });
});

describe('an answer that is asked for again', () => {
  const respond = (url: string, more: object = {}, signal?: AbortSignal) =>
    fetch(`${url}/responses`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', input: 'hello', ...more }),
      ...(signal ? { signal } : {}),
    });
  const again = async (url: string, id: string) => {
    const response = await fetch(`${url}/responses/${id}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test('is the same, and asking is no request', async () => {
    await using simulator = await startSimulator({ scenario: () => ({ text: 'hi' }) });
    const answer = (await (await respond(simulator.url)).json()) as { id: string };
    expect(await again(simulator.url, answer.id)).toEqual({ status: 200, body: answer });
    expect(simulator.requests()).toHaveLength(1);
  });

  test('is in progress while it is written, and completed though its client left', async () => {
    const scenario: Scenario = () => ({ text: 'one two', pauseUntil: [{ afterPieces: 1, gate: 'middle' }] });
    await using simulator = await startSimulator({ scenario });
    const leaving = new AbortController();
    const response = await respond(simulator.url, { stream: true }, leaving.signal);
    const first = new TextDecoder().decode((await response.body?.getReader().read())?.value);
    const { id } = (JSON.parse(/data: (.*)/.exec(first)?.[1] ?? '{}') as { response: { id: string } }).response;
    await simulator.gateReached('middle');
    expect(await again(simulator.url, id)).toMatchObject({ body: { status: 'in_progress', output: [] } });
    leaving.abort();
    await expect.poll(async () => (await again(simulator.url, id)).body['status']).toBe('completed');
  });

  test('is failed if the model failed, and not kept if nobody wanted that', async () => {
    const ids: string[] = [];
    await using simulator = await startSimulator({ scenario: () => ({ text: 'hi' }) });
    for (const more of [{ stream: true }, { store: false }]) {
      const headers = { 'x-simulator-fault': 'stream' in more ? 'server_error_after_bytes' : 'slow_drip' };
      const body = JSON.stringify({ model: 'm', input: Object.keys(more).join(), ...more });
      const text = await (await fetch(`${simulator.url}/responses`, { method: 'POST', headers, body })).text();
      ids.push(/"id":"(sim_[^"]+)"/.exec(text)?.[1] ?? '');
    }
    expect(await again(simulator.url, ids[0] ?? '')).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect((await again(simulator.url, ids[1] ?? '')).status).toBe(404);
  });
});

test('an unknown scenario is refused by its name', async () => {
  await expect(startSimulator({ scenario: 'no-such' })).rejects.toThrow(
    "Unknown scenario 'no-such'. Built in: default, fix-the-failing-test.",
  );
});
