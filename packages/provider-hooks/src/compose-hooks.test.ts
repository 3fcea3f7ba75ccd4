import { expect, test } from 'vitest';
import { composeHooks } from './compose-hooks.js';
import { hookModel } from './hook-model.js';
import type { LanguageModelLike } from './model.js';
import { collect, fakeModel, partsOf, promptOf, Recorder, rejection } from './recorder.test.helper.js';
import { recheckCall } from './recheck-call.js';
import type { ProviderHooks } from './types.js';

function ask(hooks: ProviderHooks): Promise<unknown[]> {
  const model = fakeModel('v3', () => partsOf(['hi']));
  return collect(hookModel(model, hooks).stream({ prompt: promptOf('hi') }));
}

test('an observer sees what the guard sees, after it, with a handle of its own', async () => {
  const [guard, observer] = [new Recorder(), new Recorder()];
  await ask(composeHooks(guard, [observer]));
  expect(observer.steps).toEqual(['prepare', 'start 1', 'finish 1']);
  expect(guard.steps).toEqual(observer.steps);
  expect(observer.responses).toEqual(guard.responses);
});

test('a request that the guard denies is denied, and the observer learns how it ended', async () => {
  const [guard, observer] = [new Recorder(), new Recorder()];
  guard.start = () => Promise.reject(new Error('no'));
  expect(await rejection(ask(composeHooks(guard, [observer])))).toMatchObject({ code: 'denied' });
  expect(observer.steps).toEqual(['prepare', 'fail 1 denied']);
});

test('case E05: an observer that throws or hangs in any hook stops nothing, and the others are told', async () => {
  for (const hook of ['prepare', 'start', 'finish'] as const) {
    for (const bad of [() => Promise.reject(new Error('x')), () => new Promise<never>(() => undefined)]) {
      const [guard, broken, observer] = [new Recorder(), new Recorder(), new Recorder()];
      broken[hook] = bad;
      const told: string[] = [];
      const onObserverError = (_error: unknown, name: string): void => void told.push(name);
      await ask(composeHooks(guard, [broken, observer], { hookTimeoutMs: 20, onObserverError }));
      expect(guard.steps.at(-1)).toBe('finish 1');
      expect(observer.steps.at(-1)).toBe('finish 1');
      expect(told).toEqual([hook]);
    }
  }
});

test('case E05: a guard that returns its refusal is still refused behind observers', async () => {
  const guard = new Recorder();
  guard.start = (async () => ({ allowed: false })) as never;
  expect(await rejection(ask(composeHooks(guard, [new Recorder()])))).toMatchObject({
    code: 'hook_failed',
    hook: 'start',
  });
});

test('the rechecks are asked of the guard alone, and the id of an answer is told to all that want it', async () => {
  const steps: string[] = [];
  const guard: ProviderHooks = Object.assign(new Recorder(), {
    recheck: async () => void steps.push('guard rechecked'),
    identified: async (_handle: unknown, id: string) => void steps.push(`guard ${id}`),
  });
  const observer: ProviderHooks = Object.assign(new Recorder(), {
    recheck: async () => void steps.push('observer rechecked'),
    identified: async (_handle: unknown, id: string) => void steps.push(`observer ${id}`),
  });
  const model = fakeModel('v3', () => [{ type: 'response-metadata', id: 'resp_1' }, ...partsOf(['hi'])]);
  const asking: LanguageModelLike = {
    ...model,
    doStream: async (options) => {
      await recheckCall();
      return await model.doStream(options);
    },
  };
  for (const hooks of [composeHooks(guard, [observer, new Recorder()]), composeHooks(new Recorder(), [observer])]) {
    steps.push('-');
    await collect(hookModel(asking, hooks).stream({ prompt: promptOf('hi') }));
  }
  expect(steps).toEqual(['-', 'guard rechecked', 'guard resp_1', 'observer resp_1', '-', 'observer resp_1']);
});
