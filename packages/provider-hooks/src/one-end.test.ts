import { AsyncResource } from 'node:async_hooks';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { startSimulator } from '@stint/simulator';
import { beforeEach, expect, test } from 'vitest';
import { hookModel } from './hook-model.js';
import { hookProvider } from './hook-provider.js';
import { collect, fakeModel, partsOf, promptOf, Recorder, rejection } from './recorder.test.helper.js';
import type { ProviderHooks } from './types.js';

let recorder: Recorder;
beforeEach(() => {
  recorder = new Recorder();
});

/** The recorder's hooks, with a `finish` that waits until it may go on. */
function slowFinish(): { hooks: ProviderHooks; begun: Promise<void>; goOn: () => void } {
  let goOn = (): void => undefined;
  let tell = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const begun = new Promise<void>((resolve) => (tell = resolve));
  const hooks: ProviderHooks = {
    prepare: (request) => recorder.prepare(request),
    start: (handle) => recorder.start(handle),
    fail: (handle, error, facts) => recorder.fail(handle, error, facts),
    async finish(handle, response) {
      tell();
      await gate;
      await recorder.finish(handle, response);
    },
  };
  return { hooks, begun, goOn };
}

const ways: Readonly<Record<string, (model: ReturnType<typeof hookModel>) => Promise<() => Promise<unknown>>>> = {
  'the native stream is cancelled': async (model) => {
    const { stream } = (await model.doStream({ prompt: promptOf('x') } as never)) as { stream: ReadableStream };
    const reader = stream.getReader();
    for (let part = 0; part < 3; part += 1) await reader.read();
    const last = reader.read();
    return async () => {
      await reader.cancel();
      await last;
    };
  },
  'the iteration is left': async (model) => {
    const events = model.stream({ prompt: promptOf('x') });
    await events.next();
    const last = events.next();
    return async () => {
      await events.return?.();
      await last;
    };
  },
};

test.each(Object.entries(ways))('a request has one end when %s while `finish` is at work', async (_way, begin) => {
  const { hooks, begun, goOn } = slowFinish();
  const model = hookModel(fakeModel('v3', () => partsOf(['hi'])) as never, hooks) as ReturnType<typeof hookModel>;
  const leave = await begin(model);
  await begun;
  const left = leave();
  setImmediate(goOn);
  await left;
  expect(recorder.steps).toEqual(['prepare', 'start 1', 'finish 1']);
});

test('what leaves a complete answer is told when its `finish` fails', async () => {
  const { hooks, begun, goOn } = slowFinish();
  recorder.finish = () => Promise.reject(new Error('disk full'));
  const model = hookModel(fakeModel('v3', () => partsOf(['hi'])) as never, hooks) as ReturnType<typeof hookModel>;
  const { stream } = (await model.doStream({ prompt: promptOf('x') } as never)) as { stream: ReadableStream };
  const reader = stream.getReader();
  for (let part = 0; part < 3; part += 1) await reader.read();
  void reader.read();
  await begun;
  const left = rejection(reader.cancel());
  goOn();
  expect(await left).toMatchObject({ code: 'hook_failed', hook: 'finish' });
  expect(recorder.failures).toEqual([]);
});

test('an end that could not be stored says what was sent, what it cost and what was shown', async () => {
  recorder.finish = () => Promise.reject(new Error('disk full'));
  const model = hookModel(
    fakeModel('v3', () => partsOf(['hi ', 'you'])),
    recorder,
  );
  expect(await rejection(collect(model.stream({ prompt: promptOf('x') })))).toMatchObject({
    code: 'hook_failed',
    turnId: recorder.id(1),
    facts: { sent: true, refusedByProvider: false, proof: null, usage: { totalTokens: 5 }, partialText: 'hi you' },
  });
  recorder.fail = () => Promise.reject(new Error('disk full'));
  const cut = hookModel(
    fakeModel('v3', () => partsOf(['hi']).slice(0, 2)),
    recorder,
  );
  expect(await rejection(collect(cut.stream({ prompt: promptOf('x') })))).toMatchObject({
    code: 'hook_failed',
    hook: 'fail',
    turnId: recorder.id(2),
    facts: { sent: true, proof: null, usage: null, partialText: 'hi' },
  });
});

test('the limit of a hook is told in whole milliseconds', async () => {
  recorder.finish = () => new Promise(() => undefined);
  const model = hookModel(
    fakeModel('v3', () => partsOf(['hi'])),
    recorder,
    { hookTimeoutMs: 20 },
  );
  const error = (await rejection(collect(model.stream({ prompt: promptOf('x') })))) as Error;
  expect(error.message).toMatch(/did not answer within \d+ ms/);
});

test('a fetch after the end of its call is refused, and reserves nothing', async () => {
  const simulator = await startSimulator({ scenario: () => ({ text: 'hi' }) });
  try {
    let fetchAgain = (): Promise<unknown> => Promise.resolve();
    const provider = hookProvider((hooked) => {
      const keeping: typeof fetch = async (input, init) => {
        const bound = AsyncResource.bind(() => hooked(input, init));
        fetchAgain = () => bound();
        return await hooked(input, init);
      };
      return createOpenAICompatible({ name: 'sim', baseURL: simulator.url, apiKey: 'made-up', fetch: keeping });
    });
    await hookModel(provider.chatModel('m'), recorder).doGenerate({ prompt: promptOf('x') });
    const ended = ['prepare', 'start 1', 'finish 1'];
    expect(recorder.steps).toEqual(ended);
    expect(await rejection(fetchAgain())).toMatchObject({ code: 'unhooked_request' });
    expect(recorder.steps).toEqual(ended);
    expect(simulator.requests()).toHaveLength(1);
  } finally {
    await simulator.close();
  }
});

test('a fetch after a denial is refused for the reason of the denial', async () => {
  recorder.start = () => Promise.reject(new Error('over budget'));
  const errors: unknown[] = [];
  const provider = hookProvider((hooked) => {
    const insisting: typeof fetch = async (input, init) => {
      errors.push(await rejection(hooked(input, init)));
      return await hooked(input, init);
    };
    return createOpenAICompatible({ name: 'sim', baseURL: 'http://127.0.0.1:9', apiKey: 'made-up', fetch: insisting });
  });
  const model = hookModel(provider.chatModel('m'), recorder);
  errors.push(await rejection(collect(model.stream({ prompt: promptOf('x') }))));
  for (const error of errors) expect(error).toMatchObject({ code: 'denied' });
  expect(recorder.steps).toEqual(['prepare', 'fail 1 denied']);
});
