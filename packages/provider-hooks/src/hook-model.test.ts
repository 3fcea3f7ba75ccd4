import { getEventListeners, once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ArrivedRequest, type Fault, type FaultName, type Simulator, startSimulator } from '@stint/simulator';
import { generateText, streamText } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { anthropic } from './anthropic.js';
import { withCallFacts } from './call-facts.js';
import { hookModel } from './hook-model.js';
import type { HookedModel, LanguageModelLike, ModelCall } from './model.js';
import { openai } from './openai.js';
import { openaiCompatible } from './openai-compatible.js';
import { collect, fakeModel, partsOf, promptOf, Recorder, rejection } from './recorder.test.helper.js';

const apiKey = 'made-up-key';
const text = `words ${Math.random()} `.repeat(24);
let faults: (request: ArrivedRequest) => FaultName | Fault | null = () => null;
let simulator: Simulator;
let recorder: Recorder;
const servers: Server[] = [];

beforeAll(async () => {
  simulator = await startSimulator({
    scenario: ({ messages }) => ({
      text,
      toolCalls: messages.some((message) => message.role !== 'system' && message.text === 'call')
        ? [{ name: 't', input: {} }]
        : [],
      ...(messages.some((message) => message.role === 'user' && message.text === 'pause')
        ? { pauseUntil: [{ afterPieces: 6, gate: 'middle' }] }
        : {}),
    }),
    faults: (request) => faults(request),
  });
});
afterAll(async () => {
  await simulator.close();
});
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

const models: Readonly<Record<string, (baseURL: string) => LanguageModelLike>> = {
  'openai-compatible': (baseURL) => openaiCompatible({ name: 'sim', baseURL, apiKey }).chatModel('m'),
  'openai chat': (baseURL) => openai({ baseURL, apiKey }).chat('m'),
  'openai responses': (baseURL) => openai({ baseURL, apiKey })('m'),
  anthropic: (baseURL) => anthropic({ baseURL, apiKey })('m'),
};

function hooked(name = 'openai-compatible', baseURL = simulator.url, idleLimitMs = 20_000): HookedModel {
  return hookModel((models[name] as (url: string) => LanguageModelLike)(baseURL), recorder, { idleLimitMs });
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function ask(model: HookedModel, call: Partial<ModelCall> = {}): ReturnType<typeof collect> {
  return collect(model.stream({ prompt: promptOf('hi'), ...call }));
}

describe.each(Object.keys(models))('%s', (name) => {
  test.each([true, false])('runs prepare, start and finish around an answer (stream: %s)', async (stream) => {
    const events = await ask(hooked(name), { stream });
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'finish 1']);
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      turnId: recorder.id(1),
      response: { text, finishReason: 'stop' },
    });
    expect(recorder.responses[0]?.usage?.outputTokens).toBeGreaterThan(0);
    expect(recorder.requests[0]).toMatchObject({ stream, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('sends the id of the handle as x-client-request-id', async () => {
    await ask(hooked(name));
    expect(simulator.requests().at(-1)?.turnId).toBe(recorder.id(1));
  });

  test('case E11: a cut stream is an error with what came, and no answer', async () => {
    faults = () => 'stream_cut';
    expect(await rejection(ask(hooked(name)))).toMatchObject({
      code: 'incomplete',
      retryable: true,
      facts: { sent: true, proof: null },
    });
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 incomplete']);
    expect(recorder.failures[0]?.facts.partialText.length).toBeGreaterThan(0);
  });

  test('case E11, case Y05: a stream that ends before its closing event is no answer', async () => {
    faults = () => 'stream_end_without_stop';
    expect(await rejection(ask(hooked(name)))).toMatchObject({ retryable: true, facts: { proof: null } });
    expect(recorder.steps).toHaveLength(3);
    expect(recorder.responses).toEqual([]);
  });

  test('case E17: keep-alives do not count as sound', async () => {
    faults = () => 'keep_alives_only';
    expect(await rejection(ask(hooked(name, simulator.url, 300)))).toMatchObject({
      code: 'idle_timeout',
      retryable: true,
      facts: { sent: true, proof: null },
    });
  });

  test('refuses a redirect, behind which nobody reserved anything', async () => {
    faults = () => 'redirect';
    const before = simulator.requests().length;
    expect(await rejection(ask(hooked(name)))).toMatchObject({ facts: { sent: true, proof: null } });
    expect(
      simulator
        .requests()
        .slice(before)
        .map((request) => request.turnId),
    ).toEqual([recorder.id(1)]);
  });

  test('tells a refusal from a failure nobody knows about', async () => {
    const proofs: unknown[] = [];
    for (const fault of [
      'rate_limit',
      'unauthorized',
      'overloaded',
      'bad_request',
      'server_error_before_bytes',
      'reset_after_read',
    ] as const) {
      faults = () => fault;
      await rejection(ask(hooked(name)));
      proofs.push(recorder.failures.at(-1)?.facts.proof);
    }
    expect(proofs).toEqual(['refused', 'refused', 'refused', 'refused', null, null]);
  });

  test('a refused connection proves that nothing was sent', async () => {
    const url = await serve(() => undefined);
    const closed = servers.pop() as Server;
    closed.close();
    await once(closed, 'close');
    const error = await rejection(ask(hooked(name, url)));
    expect(error).toMatchObject({
      code: 'not_sent',
      retryable: true,
      facts: { sent: false, status: null, proof: 'not_sent' },
    });
  });

  test('case Y07, case Y08: after an abort nothing is handed on, and the clean end of the provider is no answer', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const seen: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const event of hooked(name).stream({ prompt: promptOf('pause'), signal: controller.signal })) {
          seen.push(event.type);
          controller.abort(reason);
        }
      })(),
    );
    expect(error).toMatchObject({ code: 'aborted', cause: reason, facts: { sent: true, proof: null } });
    expect(seen).toEqual(['text-delta']);
    expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 aborted']);
  });
});

test('case E11: the done marker after a full answer is accepted without a reason, as text and as tool calls', async () => {
  faults = () => 'done_without_reason';
  const answered = await ask(hooked());
  expect(answered.at(-1)).toMatchObject({ response: { text, finishReason: 'stop' } });
  await ask(hooked(), { prompt: promptOf('call') });
  expect(recorder.responses[1]).toMatchObject({ finishReason: 'tool-calls' });
});

test('usage that was on the wire before a stream broke is kept', async () => {
  faults = () => 'stream_cut';
  await rejection(ask(hooked('anthropic')));
  expect(recorder.failures[0]?.facts.usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: 1 });
});

test('an abort before start leaves the request unsent', async () => {
  const controller = new AbortController();
  const before = simulator.requests().length;
  recorder.prepare = async () => {
    controller.abort(new Error('stop'));
    return { id: recorder.id(1) };
  };
  expect(await rejection(ask(hooked(), { signal: controller.signal }))).toMatchObject({
    code: 'aborted',
    facts: { sent: false, proof: 'not_sent' },
  });
  expect(recorder.steps).toEqual(['fail 1 aborted']);
  expect(simulator.requests().length).toBe(before);
});

test('an abort while start runs keeps the request from leaving', async () => {
  const controller = new AbortController();
  const before = simulator.requests().length;
  recorder.start = async () => controller.abort();
  expect(await rejection(ask(hooked(), { signal: controller.signal }))).toMatchObject({
    code: 'aborted',
    facts: { sent: false },
  });
  expect(simulator.requests().length).toBe(before);
});

test('case Y05: an abort that is not ours is a broken transport', async () => {
  const model = fakeModel('v3', () => {
    throw new DOMException('This operation was aborted', 'AbortError');
  });
  expect(await rejection(ask(hookModel(model, recorder)))).toMatchObject({ code: 'connection', retryable: true });
});

test('case E29: a call leaves no listener on its signal', async () => {
  const controller = new AbortController();
  for (let turn = 0; turn < 3; turn += 1) {
    await ask(hooked(), { signal: controller.signal });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  }
});

test('case Y07, case Y08: a provider that ignores the abort and ends well is not heard any more', async () => {
  const controller = new AbortController();
  const model = hookModel(
    fakeModel('v3', () => partsOf(['one', 'two', 'three'])),
    recorder,
  );
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const event of model.stream({ prompt: promptOf('hi'), signal: controller.signal })) {
      seen.push(event);
      controller.abort(new Error('enough'));
    }
  })();
  expect(await rejection(reading)).toMatchObject({ code: 'aborted', facts: { partialText: 'one' } });
  expect(seen).toEqual([{ type: 'text-delta', delta: 'one' }]);
  expect(recorder.steps).toEqual(['prepare', 'start 1', 'fail 1 aborted']);
});

test('ending the iteration early aborts the request and fails it once', async () => {
  for await (const event of hooked().stream({ prompt: promptOf('pause') })) {
    expect(event.type).toBe('text-delta');
    break;
  }
  expect(recorder.steps.slice(0, 2)).toEqual(['prepare', 'start 1']);
  expect(recorder.steps).toHaveLength(3);
  expect(recorder.failures).toHaveLength(1);
});

test('leaving the iteration returns once the fail hook has, whoever failed the request first', async () => {
  const controller = new AbortController();
  let told = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    told = resolve;
  });
  recorder.fail = async () => {
    await slow;
    recorder.steps.push('told');
  };
  const call = hooked().stream({ prompt: promptOf('pause'), signal: controller.signal });
  await call.next();
  const pending = rejection(call.next());
  controller.abort(new Error('enough'));
  const left = call.return?.().then(() => recorder.steps.push('left'));
  setImmediate(told);
  await Promise.all([pending, left]);
  expect(recorder.steps).toEqual(['prepare', 'start 1', 'told', 'left']);
});

test('case E17: an answer asked for as a whole has a limit of its own, since it is silent until it is done', async () => {
  faults = () => 'keep_alives_only';
  const bare = openaiCompatible({ name: 'sim', baseURL: simulator.url, apiKey }).chatModel('m');
  const model = hookModel(bare, recorder, { idleLimitMs: 20, wholeLimitMs: 150 });
  const started = performance.now();
  const error = await rejection(ask(model, { stream: false }));
  expect(error).toMatchObject({ code: 'idle_timeout' });
  expect((error as Error).message).toContain('wholeLimitMs');
  expect(performance.now() - started).toBeGreaterThan(140);
});

test('case E17: the total limit ends a call that never stops talking', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(
      () => response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'x' } }] })}\n\n`),
      20,
    );
    response.on('close', () => clearInterval(timer));
  });
  const model = hookModel(openaiCompatible({ name: 'sim', baseURL: url, apiKey }).chatModel('m'), recorder, {
    totalLimitMs: 800,
  });
  expect(await rejection(ask(model))).toMatchObject({ code: 'total_timeout' });
  expect(recorder.failures[0]?.facts.partialText).toMatch(/^x+$/);
});

test('case Y08: a consumer that takes its time does not make the provider late', async () => {
  const model = hookModel(
    fakeModel('v3', () => partsOf(['a', 'b'])),
    recorder,
    { idleLimitMs: 40 },
  );
  for await (const event of model.stream({ prompt: promptOf('hi') })) {
    if (event.type === 'text-delta') await new Promise((resolve) => setTimeout(resolve, 90));
  }
  expect(recorder.steps.at(-1)).toBe('finish 1');
});

test('facts of the call reach prepare, given with the call or around it', async () => {
  const facts = { turnNumber: 7, inputIds: ['i'], retryOf: 'r', purpose: 'title' };
  await ask(hooked(), { facts });
  await withCallFacts(facts, () => generateText({ model: hooked() as never, prompt: 'hi', maxRetries: 0 }));
  for (const request of recorder.requests) expect(request).toMatchObject(facts);
});

test("the AI SDK's own functions take a hooked model", async () => {
  const model = hooked('anthropic') as never;
  expect((await generateText({ model, prompt: 'hi', maxRetries: 0 })).text.trimEnd()).toBe(text.trimEnd());
  const streamed = streamText({ model, prompt: 'hi', maxRetries: 0 });
  expect((await streamed.text).trimEnd()).toBe(text.trimEnd());
  expect(recorder.steps).toEqual(['prepare', 'start 1', 'finish 1', 'prepare', 'start 2', 'finish 2']);
});

test("case L19: each retry of the AI SDK's own is a request of its own", async () => {
  let count = 0;
  faults = () => ((count += 1) < 3 ? { name: 'rate_limit_retry_after', retryAfter: '0' } : null);
  await generateText({ model: hooked() as never, prompt: 'hi', maxRetries: 2 });
  expect(recorder.steps.filter((step) => step.startsWith('start'))).toEqual(['start 1', 'start 2', 'start 3']);
});
