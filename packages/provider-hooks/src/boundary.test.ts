import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAI } from '@ai-sdk/openai';
import { type ArrivedRequest, type FaultName, type Simulator, startSimulator } from '@stint/simulator';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { google } from './google.js';
import { hookModel } from './hook-model.js';
import { hookProvider } from './hook-provider.js';
import { createHookedFetch } from './hooked-fetch.js';
import type { HookedModel, LanguageModelLike, ModelCall } from './model.js';
import { openaiCompatible } from './openai-compatible.js';
import { collect, fakeModel, partsOf, promptOf, Recorder, rejection } from './recorder.test.helper.js';

const apiKey = 'made-up-key';
let faults: (request: ArrivedRequest) => FaultName | null = () => null;
let simulator: Simulator;
let recorder: Recorder;
const servers: Server[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ scenario: () => ({ text: 'hello' }), faults: (request) => faults(request) });
});
afterAll(() => simulator.close());
beforeEach(() => {
  recorder = new Recorder();
  faults = () => null;
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function hooked(): HookedModel {
  return hookModel(openaiCompatible({ name: 'sim', baseURL: simulator.url, apiKey }).chatModel('m'), recorder);
}

function ask(model: HookedModel, call: Partial<ModelCall> = {}): ReturnType<typeof collect> {
  return collect(model.stream({ prompt: promptOf('hi'), ...call }));
}

describe('a provider that fetches twice in one call', () => {
  test('case L19: ends the first request by its status and makes the second one its own, as a retry', async () => {
    const ids: unknown[] = [];
    const url = await serve((request, response) => {
      ids.push(request.headers['x-client-request-id']);
      response.writeHead(ids.length === 1 ? 401 : 200, { 'content-type': 'application/json' });
      response.end(
        ids.length === 1
          ? '{}'
          : JSON.stringify({
              choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }],
              usage: { prompt_tokens: 3, completion_tokens: 2 },
            }),
      );
    });
    const twice = hookProvider((fetch) => createTwice(fetch, url));
    await ask(hookModel(twice.model(), recorder), { stream: false });
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 unauthorized', 'prepare', 'start 2', 'finish 2']);
    expect(recorder.failures[0]?.facts).toMatchObject({ status: 401, proof: 'refused' });
    expect(recorder.requests[1]?.retryOf).toBe(recorder.id(1));
    expect(ids).toEqual([recorder.id(1), recorder.id(2)]);
  });
});

/** A provider that signs in again on 401. */
function createTwice(fetch: typeof globalThis.fetch, baseURL: string): { model(): LanguageModelLike } {
  const model = fakeModel('v3', () => partsOf([]));
  model.doGenerate = async () => {
    let response = await fetch(baseURL);
    if (response.status === 401) response = await fetch(baseURL);
    return {
      content: [{ type: 'text', text: 'ok' }],
      finishReason: { unified: 'stop' },
      usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
    };
  };
  return { model: () => model };
}

describe('a marked model that does not use the hooked fetch', () => {
  test('boundary_missed: an answer without start is booked as unknown and refused', async () => {
    const provider = hookProvider(() => ({ model: () => fakeModel('v3', () => partsOf(['free'])) }));
    for (const stream of [true, false]) {
      recorder = new Recorder();
      const error = await rejection(ask(hookModel(provider.model(), recorder), { stream }));
      expect(error).toMatchObject({ code: 'boundary_missed', retryable: false, facts: { sent: true, proof: null } });
      expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 boundary_missed']);
    }
  });

  test('boundary_missed: so is an error that carries a status', async () => {
    const bypass = createOpenAI({ baseURL: simulator.url, apiKey });
    faults = () => 'server_error_before_bytes';
    const provider = hookProvider(() => bypass);
    expect(await rejection(ask(hookModel(provider.chat('m'), recorder)))).toMatchObject({ code: 'boundary_missed' });
  });
});

test('a request that cannot even be built was not sent', async () => {
  const model = hookModel(
    fakeModel('v3', () => {
      throw Object.assign(new Error('no key'), { name: 'AI_LoadAPIKeyError' });
    }),
    recorder,
  );
  expect(await rejection(ask(model))).toMatchObject({ code: 'bad_request', retryable: false });
});

test('outside of a hooked call the hooked fetch sends nothing', async () => {
  const before = simulator.requests().length;
  expect(await rejection(createHookedFetch()(`${simulator.url}/chat/completions`))).toMatchObject({
    code: 'unhooked_request',
  });
  expect(simulator.requests().length).toBe(before);
});

test('google: the boundary is its fetch too', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 1 } })}\n\n`,
    );
  });
  await ask(hookModel(google({ baseURL: url, apiKey })('m'), recorder));
  expect(recorder.responses[0]).toMatchObject({
    text: 'hi',
    usage: { inputTokens: 5, outputTokens: 3, reasoningTokens: 1 },
  });
});

test('case E15: what changes settings or prompt after prepare does not reach the request', async () => {
  const settings = { maxOutputTokens: 100 };
  const prompt = promptOf('first');
  recorder.start = async () => {
    settings.maxOutputTokens = 64_000;
    prompt.push(...promptOf('smuggled'));
    expect(() => Object.assign(recorder.requests[0] as object, { modelId: 'dearer' })).toThrow(TypeError);
    expect(() => Object.assign(recorder.requests[0]?.settings as object, { maxOutputTokens: 64_000 })).toThrow(
      TypeError,
    );
  };
  const model = hooked();
  await collect(((await model.doStream({ prompt, ...settings } as never)) as { stream: ReadableStream }).stream);
  const served = simulator.requests().at(-1) as { body?: unknown } | undefined;
  expect(JSON.stringify(served)).not.toContain('smuggled');
  expect(JSON.stringify(served)).not.toContain('64000');
  expect(recorder.requests[0]?.settings.maxOutputTokens).toBe(100);
});

test('the hash tells requests apart by prompt, settings and tools, and is the same for the same request', async () => {
  const model = hooked();
  const ask1 = (call: Partial<ModelCall>): Promise<unknown> => ask(model, call);
  await ask1({});
  await ask1({});
  await ask1({ prompt: promptOf('other') });
  await ask1({ settings: { temperature: 0.5 } });
  await ask1({ tools: [{ type: 'function', name: 't', inputSchema: { type: 'object' } }] });
  const hashes = recorder.requests.map((request) => request.hash);
  expect(hashes[0]).toBe(hashes[1]);
  expect(new Set(hashes).size).toBe(4);
});

describe.each(['v2', 'v3', 'v4'] as const)('a model of specification %s without a fetch of ours', (version) => {
  test('has its boundary at the invocation', async () => {
    const order: string[] = [];
    recorder.start = async () => void order.push('start');
    const model = hookModel(
      fakeModel(version, () => {
        order.push('invoked');
        return partsOf(['a', 'b'], version);
      }),
      recorder,
    );
    const events = await ask(model);
    expect([model.boundary, model.specificationVersion, model.name]).toEqual(['invocation', version, 'fake:model']);
    expect(order).toEqual(['start', 'invoked']);
    expect(events.at(-1)).toMatchObject({
      response: { text: 'ab', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 2 } },
    });
  });
});
