import { readFileSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  ToolError,
  createOutputStore,
  createRegistry,
  defineTool,
  reply,
  type ToolContext,
  type ToolDefinition,
} from './index.js';
import { callContext, randomWord, temporaryFolder } from './workspace.test.helper.js';

const anyInput = { type: 'object' } as const;

function toolOf(definition: Partial<ToolDefinition>) {
  return defineTool({
    name: 'probe',
    description: 'd',
    inputSchema: anyInput,
    execute: () => 'done',
    ...definition,
  } as ToolDefinition);
}

async function run(definition: Partial<ToolDefinition>, input: unknown = {}, context = callContext()) {
  return createRegistry([toolOf(definition)]).call('probe', input, context);
}

describe('looking up', () => {
  test('an alias resolves, is hidden from the model and leaves with its tool', async () => {
    const registry = createRegistry([toolOf({ name: 'new_name', aliases: ['old_name'] })]);
    expect((await registry.call('old_name', {}, callContext())).output).toBe('done');
    expect(registry.definitions().map(({ name }) => name)).toEqual(['new_name']);
    expect(registry.unregister('old_name')).toBe(false);
    expect(registry.unregister('new_name')).toBe(true);
    expect(registry.get('old_name')).toBeUndefined();
    registry.register(toolOf({ name: 'old_name' }));
  });

  test('a name that is taken, also as an alias, is refused', () => {
    const registry = createRegistry([toolOf({ name: 'one', aliases: ['two'] })]);
    expect(() => registry.register(toolOf({ name: 'two' }))).toThrow(/"two" is taken/);
    expect(() => registry.register(toolOf({ name: 'three', aliases: ['one'] }))).toThrow(/"one" is taken/);
    expect(() => toolOf({ name: 'no spaces please' })).toThrow(/letters, digits/);
  });

  test('case Y23: names that every object has are unknown tools, and can be tools', async () => {
    const registry = createRegistry([toolOf({ name: 'constructor' })]);
    expect((await registry.call('constructor', {}, callContext())).output).toBe('done');
    for (const name of ['__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
      expect(await registry.call(name, {}, callContext())).toMatchObject({
        ok: false,
        code: 'unknown_tool',
        errorEffect: 'none',
      });
    }
  });
});

describe('a call never rejects', () => {
  test('without a context, or with one that is nonsense', async () => {
    const registry = createRegistry([toolOf({ execute: (_input, { signal }) => String(signal.aborted) })]);
    expect(await registry.call('probe', {})).toMatchObject({ ok: true, output: 'false' });
    expect(await registry.call('probe', {}, {})).toMatchObject({ ok: true, output: 'false' });
    for (const context of [null, 7, { signal: 7 }, { signal: null }, { signal: {} }]) {
      const result = await registry.call('probe', {}, context as never);
      expect(result).toMatchObject({ ok: false, code: 'invalid_context', errorEffect: 'none' });
    }
    for (const name of [undefined, null, 7, Symbol('x'), {}]) {
      expect(await registry.call(name as never, {})).toMatchObject({ code: 'unknown_tool', errorEffect: 'none' });
    }
  });

  test('whatever the tool throws or returns, and whatever a listener does', async () => {
    const thrown = [undefined, null, 7, Symbol('x'), Object.create(null), { message: 7 }, new Error('x', { cause: 1 })];
    const unreadable = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no');
      },
    });
    for (const error of [...thrown, unreadable, Object.assign(new Error('x'), { message: {} })]) {
      const result = await run({
        execute: () => {
          throw error;
        },
      });
      expect(result).toMatchObject({ ok: false, code: 'tool_failed', errorEffect: 'unknown' });
      expect(typeof result.output).toBe('string');
    }
    expect(await run({ execute: () => reply({ text: 7 as never }) })).toMatchObject({ ok: false });
    const onProgress = () => {
      throw new Error('listener');
    };
    const reporting = { execute: (_input: unknown, { reportProgress }: ToolContext) => (reportProgress(), 'done') };
    expect(await run(reporting, {}, callContext({ onProgress }))).toMatchObject({ ok: true, output: 'done' });
  });
});

describe('validating', () => {
  test('a JSON Schema failure names the field, has effect none and never reaches the tool', async () => {
    let ran = false;
    const inputSchema = {
      type: 'object',
      properties: { path: { type: 'string' }, deep: { type: 'object', properties: { n: { type: 'integer' } } } },
      required: ['path'],
      additionalProperties: false,
    };
    const execute = () => {
      ran = true;
    };
    expect((await run({ inputSchema, execute }, {})).output).toContain('path: is missing');
    expect((await run({ inputSchema, execute }, { path: 'a', deep: { n: 1.5 } })).output).toContain(
      'deep.n: must be integer',
    );
    const unknown = await run({ inputSchema, execute }, { path: 'a', extra: 1 });
    expect(unknown).toMatchObject({ ok: false, code: 'invalid_input', errorEffect: 'none' });
    expect(unknown.output).toContain('extra: is not a known field');
    expect(ran).toBe(false);
  });

  test('a Standard Schema is parsed: the tool gets defaults and transforms, and its JSON Schema is shown', async () => {
    const inputSchema = z.object({ count: z.coerce.number().int(), word: z.string().default('x') });
    const tool = defineTool({
      name: 'probe',
      description: 'd',
      inputSchema,
      execute: ({ count, word }) => word.repeat(count),
    });
    const registry = createRegistry([tool]);
    expect((await registry.call('probe', { count: '3' }, callContext())).output).toBe('xxx');
    expect((await registry.call('probe', { count: 'three' }, callContext())).output).toMatch(/count: /);
    expect(registry.definitions()[0]?.inputSchema).toMatchObject({
      type: 'object',
      properties: { word: { type: 'string' } },
    });
  });

  test('prepare validates without running and tells what the engine needs to know', async () => {
    const registry = createRegistry([toolOf({ readOnly: (input) => (input as { dry?: boolean }).dry === true })]);
    const dry = await registry.prepare('probe', { dry: true });
    const wet = await registry.prepare('probe', {});
    expect('call' in dry && dry.call).toMatchObject({ readOnly: true, hasExternalEffect: false });
    expect('call' in wet && wet.call).toMatchObject({ readOnly: false, hasExternalEffect: true });
  });

  test('a fact that throws counts as the dangerous answer', async () => {
    const crash = () => {
      throw new Error('no idea');
    };
    const prepared = await createRegistry([
      toolOf({ readOnly: crash, destructive: crash, concurrencySafe: crash }),
    ]).prepare('probe', {});
    expect('call' in prepared && prepared.call).toMatchObject({
      readOnly: false,
      destructive: true,
      concurrencySafe: false,
    });
  });
});

describe('results', () => {
  test('an object, or its JSON text, with a non-empty error is a failure unless the tool says that only a throw is', async () => {
    const error = randomWord();
    expect(await run({ execute: () => ({ error, code: 'mine' }) })).toMatchObject({
      ok: false,
      code: 'mine',
      errorEffect: 'unknown',
    });
    expect(await run({ execute: () => JSON.stringify({ error, errorEffect: 'none' }) })).toMatchObject({
      ok: false,
      errorEffect: 'none',
    });
    expect(await run({ execute: () => ({ error: '' }) })).toMatchObject({ ok: true });
    expect(await run({ execute: () => ({ error }), errorOutput: null })).toMatchObject({
      ok: true,
      output: JSON.stringify({ error }),
    });
  });

  test('a throw has an unknown effect, a ToolError says otherwise, and a read-only call changed nothing', async () => {
    const plain = () => {
      throw new Error('boom');
    };
    const proven = () => {
      throw new ToolError('not_found', 'no such thing', { errorEffect: 'none', retryable: true });
    };
    expect(await run({ execute: plain })).toMatchObject({
      ok: false,
      code: 'tool_failed',
      output: 'boom',
      errorEffect: 'unknown',
    });
    expect(await run({ execute: proven })).toMatchObject({ code: 'not_found', errorEffect: 'none', retryable: true });
    expect(await run({ execute: plain, readOnly: true })).toMatchObject({ errorEffect: 'none' });
  });

  test('a value that cannot be shown is a failure of the call, not of the caller', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(await run({ execute: () => circle })).toMatchObject({ ok: false, errorEffect: 'unknown' });
    expect((await run({ execute: () => undefined })).output).toBe('');
    expect((await run({ execute: () => ({ n: 10n }) })).output).toBe('{"n":"10"}');
  });

  test('case T35: a result of 5 MB is cut to bounded text with sizes and a handle that holds all of it', async () => {
    const outputs = createOutputStore({ directory: temporaryFolder() });
    const value = {
      items: Array.from({ length: 60_000 }, (_, id) => ({ id, text: 'x'.repeat(60), word: randomWord() })),
    };
    const whole = JSON.stringify(value);
    const registry = createRegistry([toolOf({ execute: () => value })], { outputs });
    const result = await registry.call('probe', {}, callContext());
    expect(whole.length).toBeGreaterThan(5_000_000);
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(32_768);
    expect(result.output).toContain(`of ${whole.length} bytes left out`);
    expect(result.output.startsWith(whole.slice(0, 1000))).toBe(true);
    expect(result.output.endsWith(whole.slice(-1000))).toBe(true);
    const file = await outputs.locate(result.outputHandle ?? '');
    expect(readFileSync(file, 'utf8')).toBe(whole);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(result.structured).toBeUndefined();
  });

  test('case Y22: a cut never falls inside a character', async () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const { output } = await run({ execute: () => 'a'.repeat(shift) + '𝄞—é'.repeat(20_000), outputLimitBytes: 1024 });
      expect(output).not.toContain('\ufffd');
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1024);
    }
  });
});

describe('time', () => {
  test('case Y19: a time-out of a call with an external effect is fatal; of a read-only or run-scoped one it is not', async () => {
    const execute = (_input: unknown, { signal }: { signal: AbortSignal }) => wait(60_000, undefined, { signal });
    const fatal = await run({ execute, timeoutMs: 20 });
    expect(fatal).toMatchObject({ ok: false, code: 'timeout', errorEffect: 'unknown', fatal: true });
    expect(fatal.output).toContain('20 ms');
    expect(await run({ execute, timeoutMs: 20, readOnly: true })).toMatchObject({
      code: 'timeout',
      errorEffect: 'none',
    });
    expect((await run({ execute, timeoutMs: 20, readOnly: true })).fatal).toBeUndefined();
    expect((await run({ execute, timeoutMs: 20, sideEffectScope: 'run' })).fatal).toBeUndefined();
  });

  test('a tool that proves after the abort that nothing happened is not fatal', async () => {
    const execute = async (_input: unknown, { signal }: { signal: AbortSignal }) => {
      await wait(60_000, undefined, { signal }).catch(() => undefined);
      throw new ToolError('rolled_back', 'undone', { errorEffect: 'none' });
    };
    const result = await run({ execute, timeoutMs: 20 });
    expect(result).toMatchObject({ code: 'timeout', errorEffect: 'none' });
    expect(result.fatal).toBeUndefined();
  });

  test('case T33: progress extends the limit of a call, but not past the absolute limit', async () => {
    const steady = async (_input: unknown, context: { signal: AbortSignal; reportProgress(): void }) => {
      for (let step = 0; step < 9; step += 1) {
        await wait(25, undefined, { signal: context.signal });
        context.reportProgress();
      }
      return 'finished';
    };
    const forever = async (_input: unknown, context: { signal: AbortSignal; reportProgress(): void }) => {
      for (;;) {
        await wait(10, undefined, { signal: context.signal });
        context.reportProgress();
      }
    };
    const limits = { timeoutMs: 150, absoluteTimeoutMs: 800 };
    expect(await run({ execute: steady, ...limits })).toMatchObject({ ok: true, output: 'finished' });
    const began = performance.now();
    expect(await run({ execute: forever, ...limits })).toMatchObject({ ok: false, code: 'timeout', fatal: true });
    expect(performance.now() - began).toBeGreaterThanOrEqual(780);
  });

  test('an abort before the call means not run; during the call the effect is unknown and nothing is fatal', async () => {
    let ran = false;
    const execute = () => {
      ran = true;
    };
    expect(await run({ execute }, {}, callContext({ signal: AbortSignal.abort(new Error('stop')) }))).toMatchObject({
      code: 'aborted',
      errorEffect: 'none',
    });
    expect(ran).toBe(false);
    const controller = new AbortController();
    const slow = (_input: unknown, { signal }: { signal: AbortSignal }) => {
      setImmediate(() => controller.abort(new Error('stop')));
      return wait(60_000, undefined, { signal });
    };
    const result = await run({ execute: slow }, {}, callContext({ signal: controller.signal }));
    expect(result).toMatchObject({ ok: false, code: 'aborted', errorEffect: 'unknown' });
    expect(result.fatal).toBeUndefined();
  });

  test('a tool that does not react to its signal is left behind after the grace, and the result says so', async () => {
    const stubborn = toolOf({ execute: () => wait(2_000, 'too late'), timeoutMs: 20 });
    const began = performance.now();
    const result = await createRegistry([stubborn], { settleGraceMs: 50 }).call('probe', {}, callContext());
    expect(performance.now() - began).toBeLessThan(1_900);
    expect(result).toMatchObject({ ok: false, code: 'timeout', errorEffect: 'unknown', fatal: true });
    expect(result.output).toContain('may still be at work');
  });

  test('a limit of 0 is no limit', async () => {
    expect(await run({ execute: () => wait(30, 'late'), timeoutMs: 0 })).toMatchObject({ ok: true, output: 'late' });
  });
});
